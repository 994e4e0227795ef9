#include "opdrift/io/plain_writers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "opdrift/io/in_file.hpp"
#include "opdrift/io/view_stream.hpp"
#include "opdrift/tensor/decode.hpp"

namespace opdrift::io {

namespace {

using tensor::DType;
using tensor::DTypeKind;

template <typename T>
void append_number(std::string& text, T value) {
  std::array<char, 64> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), result.ptr);
}

template <typename T>
T load(const std::byte* data, std::uint64_t index) {
  T value{};
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

/// 64-bit integers do not fit a double; floats of 32 bits and less need fewer digits than one.
void append_element(std::string& text, const tensor::DTypeInfo& row, const std::byte* data,
                    std::uint64_t index) {
  if (row.bits == 64 && row.kind == DTypeKind::signed_int) {
    append_number(text, load<std::int64_t>(data, index));
    return;
  }
  if (row.bits == 64 && row.kind == DTypeKind::unsigned_int) {
    append_number(text, load<std::uint64_t>(data, index));
    return;
  }
  const double value = tensor::decode_one(row.dtype, data, index);
  if (std::isnan(value)) {
    text += "nan";
  } else if (row.kind != DTypeKind::floating) {
    append_number(text, static_cast<std::int64_t>(value));
  } else if (row.bits <= 32) {
    append_number(text, static_cast<float>(value));
  } else {
    append_number(text, value);
  }
}

}  // namespace

Status write_bin(const std::string& path, const tensor::View& view,
                 const FileWriterOptions& options) {
  OPDRIFT_TRY(FileWriter file, FileWriter::create(path, options));
  OPDRIFT_CHECK_OK(
      in_file(stream_view(view, [&file](ByteSpan block) { return file.write(block); }), path));
  return file.commit();
}

Status write_text(const std::string& path, const tensor::View& view,
                  const FileWriterOptions& options) {
  const tensor::DTypeInfo& row = tensor::info(view.tensor.desc.dtype);
  if (!row.decodable || row.kind == DTypeKind::complex) {
    return Error{ErrorCode::unsupported_dtype,
                 "elements of type " + std::string(row.name) + " cannot be written as text", path};
  }
  OPDRIFT_TRY(FileWriter file, FileWriter::create(path, options));
  const std::uint64_t total = view.count();
  const std::uint64_t columns = view.axes.size() > 1 ? view.axes.back().extent : 1;
  std::uint64_t done = 0;
  const auto sink = [&](ByteSpan block) -> Status {
    const std::uint64_t count = std::min(total - done, block.size() * 8 / row.bits);
    std::string text;
    for (std::uint64_t i = 0; i < count; ++i) {
      append_element(text, row, block.data(), i);
      text += ++done % columns == 0 ? '\n' : ' ';
    }
    return file.write(text);
  };
  OPDRIFT_CHECK_OK(in_file(stream_view(view, sink), path));
  return file.commit();
}

}  // namespace opdrift::io
