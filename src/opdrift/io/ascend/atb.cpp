#include "opdrift/io/ascend/atb.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/nano.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

constexpr std::string_view kEndKey = "$End";
constexpr std::size_t kMaxHeadBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxDims = 64;

Error unreadable(std::string message, std::uint64_t offset) {
  return Error{ErrorCode::unsupported, std::move(message), {}, offset};
}

struct AtbHead {
  std::optional<tensor::DType> dtype;
  std::optional<tensor::Shape> shape;
  std::size_t data_offset = 0;
};

std::optional<tensor::DType> parse_dtype(std::string_view text) {
  const std::optional<std::uint64_t> number = parse_u64(trim(text));
  if (!number || *number > 27 || *number == 4 || (*number > 3 && *number < 9) ||
      (*number > 9 && *number != 12 && *number != 27)) {
    return std::nullopt;
  }
  return dtype_by_nano_number(static_cast<int>(*number));
}

std::optional<tensor::Shape> parse_dims(std::string_view text) {
  tensor::Shape shape;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<std::uint64_t> dim = parse_u64(trim(part));
    if (!dim || shape.size() >= kMaxDims) {
      return std::nullopt;
    }
    shape.push_back(*dim);
  }
  return shape;
}

Status take_line(std::string_view key, std::string_view value, std::size_t offset, AtbHead& head) {
  if (key == "dtype") {
    head.dtype = parse_dtype(value);
    if (!head.dtype) {
      return unreadable("dtype: expected 0, 1, 2, 3, 9, 12 or 27, found " + std::string(value),
                        offset);
    }
  } else if (key == "dims") {
    head.shape = parse_dims(value);
    if (!head.shape) {
      return unreadable("dims: expected whole numbers, found " + std::string(value), offset);
    }
  } else if (key == "data") {
    return unreadable("data: expected the bytes in this file, found a reference", offset);
  }
  return Unit{};
}

Result<AtbHead> parse_head(std::string_view text) {
  AtbHead head;
  std::size_t begin = 0;
  while (begin < text.size() && begin < kMaxHeadBytes) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline;
    const std::string_view line = text.substr(begin, end - begin);
    if (!is_utf8(line)) {
      return Error{ErrorCode::malformed, "head line: expected UTF-8", {}, begin};
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || line.find('=', equals + 1) != std::string_view::npos) {
      return unreadable("head line: expected key=value", begin);
    }
    const std::string_view key = line.substr(0, equals);
    if (key == kEndKey) {
      head.data_offset = std::min(text.size(), end + 1);
      return head;
    }
    if (!key.starts_with('$')) {
      OPDRIFT_CHECK_OK(take_line(key, line.substr(equals + 1), begin, head));
    }
    begin = end + 1;
  }
  return unreadable("head: expected a line $End=", std::min(begin, text.size()));
}

Result<FileTensor> parse_tensor(const Bytes& file) {
  OPDRIFT_TRY(const AtbHead head, parse_head(as_text(file.span)));
  if (!head.dtype || !head.shape) {
    return unreadable("head: expected the keys dtype and dims", 0);
  }
  FileTensor out;
  out.desc.dtype = *head.dtype;
  out.desc.ascend_dtype = tensor::info(*head.dtype).ascend_number;
  out.desc.shape = *head.shape;
  out.size_bytes = file.size() - head.data_offset;
  const Result<std::uint64_t> count = tensor::element_count(out.desc.shape);
  const std::optional<std::uint64_t> needed =
      count ? tensor::storage_bytes(out.desc.dtype, *count) : std::nullopt;
  if (needed != out.size_bytes) {
    return unreadable("data: expected the elements of [" + tensor::to_string(out.desc.shape) +
                          "], found " + std::to_string(out.size_bytes) + " bytes",
                      head.data_offset);
  }
  out.bytes = file.part(head.data_offset, out.size_bytes);
  return out;
}

}  // namespace

bool probe_ascend_atb(ByteSpan head, std::uint64_t /*file_size*/, std::string_view file_name) {
  if (!to_lower(file_name).ends_with(".bin")) {
    return false;
  }
  const std::string_view text = as_text(head);
  const std::string_view line = text.substr(0, text.find('\n'));
  return is_utf8(line) &&
         (line.starts_with('$') || line.starts_with("dtype=") || line.starts_with("dims=") ||
          line.starts_with("format=")) &&
         std::count(line.begin(), line.end(), '=') == 1;
}

Result<FileDump> parse_ascend_atb(const Bytes& file, const std::string& path) {
  Result<FileTensor> file_tensor = parse_tensor(file);
  if (!file_tensor) {
    return in_file(file_tensor.error(), path);
  }
  FileDump dump;
  dump.path = path;
  dump.format = "atb";
  dump.tensors.push_back(*std::move(file_tensor));
  return dump;
}

Result<FileDump> open_ascend_atb(const std::string& path) {
  OPDRIFT_TRY(const Bytes file, map_file(path));
  return parse_ascend_atb(file, path);
}

}  // namespace opdrift::io
