#include "opdrift/io/safetensors/reader.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/safetensors/header.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::io {

namespace {

using tensor::DType;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // as the format's own library

struct TypeRow {
  std::string_view name;
  DType dtype;
};

constexpr TypeRow kTypes[] = {
    {"F64", DType::f64},      {"F32", DType::f32},      {"F16", DType::f16},
    {"BF16", DType::bf16},    {"F8_E5M2", DType::e5m2}, {"F8_E4M3", DType::e4m3fn},
    {"F8_E8M0", DType::e8m0}, {"F6_E2M3", DType::e2m3}, {"F6_E3M2", DType::e3m2},
    {"F4", DType::e2m1},      {"I64", DType::i64},      {"I32", DType::i32},
    {"I16", DType::i16},      {"I8", DType::i8},        {"U64", DType::u64},
    {"U32", DType::u32},      {"U16", DType::u16},      {"U8", DType::u8},
    {"BOOL", DType::boolean}, {"C64", DType::c64},
};

std::optional<DType> dtype_of(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) {
      return row.dtype;
    }
  }
  return std::nullopt;
}

/// Orders by place in the file and refuses ranges that leave it or share bytes.
Status order_and_check(std::vector<SafetensorsEntry>& entries, std::uint64_t data_bytes,
                       std::vector<std::string>& warnings) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const SafetensorsEntry& left, const SafetensorsEntry& right) {
                     return std::pair(left.begin, left.end) < std::pair(right.begin, right.end);
                   });
  std::uint64_t previous_end = 0;
  std::uint64_t unused = 0;
  for (const SafetensorsEntry& entry : entries) {
    const std::string where = "tensor '" + printable(entry.name) + "' at [" +
                              std::to_string(entry.begin) + ", " + std::to_string(entry.end) + ")";
    if (entry.begin > entry.end || entry.end > data_bytes) {
      return Error{ErrorCode::malformed, "expected ranges inside the " +
                                             std::to_string(data_bytes) + " bytes of data, found " +
                                             where};
    }
    if (entry.begin < previous_end && entry.begin < entry.end) {
      return Error{ErrorCode::malformed, "expected tensors that share no bytes, found " + where};
    }
    unused += entry.begin > previous_end ? entry.begin - previous_end : 0;
    previous_end = std::max(previous_end, entry.end);
  }
  unused += data_bytes - previous_end;
  if (unused > 0) {
    warnings.push_back(std::to_string(unused) + " bytes belong to no tensor");
  }
  return Unit{};
}

/// Bytes of a tensor, 2^64 - 1 when they are beyond counting.
std::uint64_t bytes_of(DType dtype, const tensor::Shape& shape) {
  constexpr std::uint64_t kTooMany = ~std::uint64_t{0};
  const Result<std::uint64_t> count = tensor::element_count(shape);
  return count ? tensor::storage_bytes(dtype, *count).value_or(kTooMany) : kTooMany;
}

FileTensor describe(SafetensorsEntry entry, const Bytes& data, const std::string& path) {
  FileTensor result;
  result.name = std::move(entry.name);
  result.size_bytes = entry.end - entry.begin;
  result.bytes = data.part(entry.begin, result.size_bytes);
  result.desc.shape = std::move(entry.shape);
  const std::optional<DType> dtype = dtype_of(entry.dtype);
  if (!dtype) {
    result.problem = Error{ErrorCode::unsupported_dtype,
                           "unknown element type '" + printable(entry.dtype) + "'", path};
    return result;
  }
  result.desc.dtype = *dtype;
  const std::uint64_t needed = bytes_of(*dtype, result.desc.shape);
  if (needed != result.size_bytes) {
    result.problem =
        Error{ErrorCode::data_mismatch,
              "tensor '" + printable(result.name) + "': expected " + std::to_string(needed) +
                  " bytes for " + entry.dtype + " [" + tensor::to_string(result.desc.shape) +
                  "], found " + std::to_string(result.size_bytes),
              path};
  }
  return result;
}

Result<FileDump> parse(const Bytes& file, const std::string& path) {
  ByteCursor cursor(file.span);
  OPDRIFT_TRY(const std::uint64_t length, cursor.u64("safetensors header length"));
  if (length > kMaxHeaderBytes) {
    return Error{ErrorCode::limit,
                 "expected a safetensors header of at most 100 MB, found " +
                     std::to_string(length) + " bytes",
                 {},
                 0};
  }
  OPDRIFT_TRY(const ByteSpan text, cursor.take(length, "safetensors header"));
  Result<SafetensorsHeader> header = parse_safetensors_header(as_text(text));
  if (!header) {
    Error error = std::move(header).error();
    error.message = "safetensors header: " + error.message;
    error.offset = error.offset.value_or(0) + 8;
    return error;
  }
  FileDump dump;
  dump.path = path;
  dump.format = "safetensors";
  dump.attributes = std::move(header->metadata);
  const Bytes data = file.part(cursor.position(), cursor.remaining());
  OPDRIFT_CHECK_OK(order_and_check(header->entries, data.size(), dump.warnings));
  for (SafetensorsEntry& entry : header->entries) {
    FileTensor one = describe(std::move(entry), data, path);
    one.index = static_cast<std::uint32_t>(dump.tensors.size());
    dump.tensors.push_back(std::move(one));
  }
  return dump;
}

}  // namespace

bool probe_safetensors(ByteSpan head, std::uint64_t file_size, std::string_view file_name) {
  if (file_name.ends_with(".safetensors")) {
    return true;
  }
  const std::uint64_t length = ByteCursor(head).u64("length").value_or(0U);
  return length >= 2 && file_size > 8 && length <= file_size - 8 && head.size() >= 10 &&
         as_text(head)[8] == '{' && (as_text(head)[9] == '"' || as_text(head)[9] == '}');
}

Result<FileDump> parse_safetensors(const Bytes& file, const std::string& path) {
  return in_file(parse(file, path), path);
}

Result<FileDump> open_safetensors(const std::string& path) {
  OPDRIFT_TRY(const Bytes file, map_file(path));
  return parse_safetensors(file, path);
}

}  // namespace opdrift::io
