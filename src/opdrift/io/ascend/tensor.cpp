#include "opdrift/io/ascend/tensor.hpp"

#include <algorithm>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::io {

namespace {

constexpr std::size_t kNanoNameParts = 5;

bool has_zero_extent(const tensor::Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

/// Bytes of one element; 0 for types that share bytes.
std::uint64_t element_bytes(tensor::DType dtype) {
  const unsigned bits = tensor::info(dtype).bits;
  return bits % 8 == 0 ? bits / 8 : 0;
}

bool covers(const FileTensor& file_tensor) {
  const Result<std::uint64_t> count = tensor::element_count(file_tensor.desc.shape);
  if (!count) {
    return false;
  }
  const std::optional<std::uint64_t> needed = tensor::storage_bytes(file_tensor.desc.dtype, *count);
  return needed && *needed <= file_tensor.size_bytes;
}

Error undecodable(int number) {
  return Error{
      ErrorCode::unsupported_dtype,
      "data type: expected one that can be decoded, found number " + std::to_string(number)};
}

std::optional<Error> nano_problem(const FileDump& dump) {
  if (split(base_name(dump.path), '.').size() < kNanoNameParts) {
    return Error{ErrorCode::malformed, "file name: expected at least five parts", dump.path};
  }
  for (const FileTensor& file_tensor : dump.tensors) {
    if (std::any_of(file_tensor.name.begin(), file_tensor.name.end(),
                    [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
      return Error{ErrorCode::unsupported, "tensor name: expected ASCII", dump.path};
    }
  }
  return std::nullopt;
}

std::optional<Error> tensor_problem(const FileTensor& file_tensor) {
  if (file_tensor.problem) {
    return file_tensor.problem;
  }
  const int number = file_tensor.desc.ascend_dtype;
  if (number >= 0 && !has_zero_extent(file_tensor.desc.shape) && !reference_decodes(number)) {
    return undecodable(number);
  }
  return std::nullopt;
}

}  // namespace

void set_ascend_dtype(tensor::TensorDesc& desc, int number) {
  desc.ascend_dtype = number;
  desc.dtype = tensor::dtype_by_ascend_number(number).value_or(tensor::DType::raw);
}

void settle_ascend_tensor(FileTensor& file_tensor) {
  tensor::TensorDesc& desc = file_tensor.desc;
  if (desc.dtype == tensor::DType::undefined) {
    desc.shape = {file_tensor.size_bytes};
    desc.has_shape = true;
  }
  if (has_zero_extent(desc.shape)) {
    return;
  }
  if (!tensor::info(desc.dtype).decodable) {
    file_tensor.problem = undecodable(desc.ascend_dtype);
    return;
  }
  if (!desc.has_shape && file_tensor.size_bytes == 0) {
    desc.shape = {0};
    return;
  }
  const std::uint64_t unit = element_bytes(desc.dtype);
  if (!covers(file_tensor) && unit > 0 && file_tensor.size_bytes % unit != 0) {
    file_tensor.problem =
        Error{ErrorCode::malformed, "data: expected a multiple of " + std::to_string(unit) +
                                        " bytes, found " + std::to_string(file_tensor.size_bytes)};
  }
}

bool reference_decodes(int ascend_number) {
  return (ascend_number >= 0 && ascend_number <= 12) || ascend_number == 16 ||
         ascend_number == 17 || ascend_number == 23 || ascend_number == 27 || ascend_number == 29 ||
         (ascend_number >= 33 && ascend_number <= 35);
}

std::optional<Error> first_problem(const FileDump& dump) {
  if (dump.format == "nano") {
    if (std::optional<Error> problem = nano_problem(dump)) {
      return problem;
    }
  }
  for (const FileTensor& file_tensor : dump.tensors) {
    if (file_tensor.problem && file_tensor.problem->code == ErrorCode::truncated) {
      return in_file(*file_tensor.problem, dump.path);
    }
  }
  for (const TensorRole role : {TensorRole::output, TensorRole::input}) {
    for (const FileTensor* file_tensor : dump.of(role)) {
      if (const std::optional<Error> problem = tensor_problem(*file_tensor)) {
        return in_file(*problem, dump.path);
      }
    }
  }
  return std::nullopt;
}

}  // namespace opdrift::io
