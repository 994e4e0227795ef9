#include "opdrift/shell/workspace/arrays.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/pipeline/stats/array_summary.hpp"
#include "opdrift/tensor/decode.hpp"

namespace opdrift::shell {

namespace {

using tensor::DType;

constexpr std::uint64_t kBlock = 16384;

std::string number_text(DType dtype, const std::byte* data) {
  switch (dtype) {
    case DType::boolean: return tensor::decode_one(dtype, data, 0) != 0.0 ? "True" : "False";
    case DType::i64: {
      std::int64_t value = 0;
      std::memcpy(&value, data, sizeof value);
      return std::to_string(value);
    }
    case DType::u64: {
      std::uint64_t value = 0;
      std::memcpy(&value, data, sizeof value);
      return std::to_string(value);
    }
    case DType::f64: return pipeline::numpy_text(tensor::decode_one(dtype, data, 0));
    case DType::f16:
      return pipeline::numpy_text_f16(static_cast<float>(tensor::decode_one(dtype, data, 0)));
    default: break;
  }
  const double value = tensor::decode_one(dtype, data, 0);
  return tensor::is_floating(dtype) || tensor::info(dtype).kind == tensor::DTypeKind::complex
             ? pipeline::numpy_text(static_cast<float>(value))
             : std::to_string(static_cast<std::int64_t>(value));
}

bool lies_in(const std::string& path, const std::string& folder) {
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(path, error).string();
  const std::string real_folder = std::filesystem::weakly_canonical(folder, error).string();
  return real.starts_with(real_folder + "/");
}

}  // namespace

Result<ArrayFile> ArrayFile::open(const std::string& path) {
  OPDRIFT_TRY(const io::FileDump dump, io::open_npy(path));
  const io::FileTensor& source = dump.tensors.front();
  if (source.problem) {
    return io::in_file(*source.problem, path);
  }
  OPDRIFT_TRY(const tensor::Tensor stored, io::in_file(io::load_tensor(source), path));
  if (!tensor::info(stored.desc.dtype).decodable) {
    return Error{ErrorCode::unsupported_dtype,
                 "expected numbers, found " + std::string(tensor::name_of(stored.desc.dtype)),
                 path};
  }
  ArrayFile array;
  array.path_ = path;
  OPDRIFT_TRY(array.view_, io::in_file(tensor::stored_view(stored), path));
  array.count_ = array.view_.count();
  return array;
}

std::vector<std::byte> ArrayFile::gathered(std::uint64_t first, std::uint64_t count) const {
  const std::uint64_t bytes = tensor::storage_bytes(view_.tensor.desc.dtype, count).value_or(0);
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  tensor::gather(view_, first, count, data.data());
  return data;
}

void ArrayFile::read(std::uint64_t first, std::vector<float>& out) const {
  const std::vector<std::byte> data = gathered(first, out.size());
  tensor::decode_to_float(view_.tensor.desc.dtype, data.data(), 0, out.size(), out.data());
}

void ArrayFile::read(std::uint64_t first, std::vector<double>& out) const {
  const std::vector<std::byte> data = gathered(first, out.size());
  tensor::decode_to_double(view_.tensor.desc.dtype, data.data(), 0, out.size(), out.data());
}

std::string ArrayFile::text(std::uint64_t index) const {
  const std::vector<std::byte> data = gathered(index, 1);
  return number_text(view_.tensor.desc.dtype, data.data());
}

std::string text_file_of(const std::string& npy_path, const std::string& temp) {
  if (lies_in(npy_path, temp)) {
    return npy_path + ".txt";
  }
  return temp + "/decode/dump_convert/" + std::string(io::base_name(npy_path)) + ".txt";
}

Status write_values(const ArrayFile& array, const std::string& path, const CancelFlag* cancel) {
  OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(path));
  const tensor::Shape shape = array.shape();
  const std::uint64_t row = shape.empty() ? 1 : std::max<std::uint64_t>(1, shape.back());
  for (std::uint64_t first = 0; first < array.count(); first += kBlock) {
    if (cancel != nullptr && cancel->cancelled()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    std::vector<double> values(static_cast<std::size_t>(std::min(kBlock, array.count() - first)));
    array.read(first, values);
    std::string text;
    for (std::size_t k = 0; k < values.size(); ++k) {
      std::array<char, 32> number{};
      std::snprintf(number.data(), number.size(), "%g", values[k]);
      text += number.data();
      text += (first + k + 1) % row == 0 ? '\n' : ' ';
    }
    OPDRIFT_CHECK_OK(file.write(text));
  }
  return file.commit();
}

}  // namespace opdrift::shell
