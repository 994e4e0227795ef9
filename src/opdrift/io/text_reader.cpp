#include "opdrift/io/text_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

constexpr std::uint64_t kMaxTextBytes = 1ULL << 30;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/// A number beyond the range of double is infinite, one below its smallest is zero.
double out_of_range(std::string_view token) {
  const bool negative = token.front() == '-';
  const std::size_t exponent = token.find_first_of("eE");
  const bool tiny = exponent != std::string_view::npos ? token.substr(exponent + 1).starts_with('-')
                                                       : token.find('.') < 3;
  const double size = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  return negative ? -size : size;
}

std::optional<double> parse_number(std::string_view token) {
  if (token.size() > 1 && token.front() == '+' && token[1] != '-') {
    token.remove_prefix(1);
  }
  double value = 0.0;
  const char* end = token.data() + token.size();
  const auto result = std::from_chars(token.data(), end, value);
  if (result.ptr != end) {
    return std::nullopt;
  }
  if (result.ec == std::errc::result_out_of_range) {
    return out_of_range(token);
  }
  return result.ec == std::errc{} ? std::optional(value) : std::nullopt;
}

Error no_number(std::string_view text, std::size_t at, std::string_view token) {
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return Error{ErrorCode::malformed,
               "line " + std::to_string(line) + ": expected a number, found '" +
                   printable(token.substr(0, 40)) + "'",
               {},
               at};
}

Result<std::vector<std::byte>> parse_numbers(std::string_view text) {
  std::vector<std::byte> numbers;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_blank(text[end]) && text[end] != '#') {
      ++end;
    }
    const std::string_view token = text.substr(at, end - at);
    const std::optional<double> value = parse_number(token);
    if (!value) {
      return no_number(text, at, token);
    }
    numbers.resize(numbers.size() + sizeof(double));
    std::memcpy(numbers.data() + numbers.size() - sizeof(double), &*value, sizeof(double));
    at = end;
  }
  return numbers;
}

}  // namespace

bool probe_text(ByteSpan /*head*/, std::uint64_t /*file_size*/, std::string_view file_name) {
  return file_name.ends_with(".txt");
}

Result<FileDump> open_text(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  if (bytes.size() > kMaxTextBytes) {
    return Error{ErrorCode::limit, "expected a text file of at most 1 GiB", path};
  }
  OPDRIFT_TRY(std::vector<std::byte> numbers, in_file(parse_numbers(as_text(bytes.span)), path));
  FileTensor data;
  data.desc.dtype = tensor::DType::f64;
  data.desc.shape = {numbers.size() / sizeof(double)};
  data.desc.has_shape = false;
  data.size_bytes = numbers.size();
  data.bytes = own_bytes(std::move(numbers));
  FileDump dump;
  dump.path = path;
  dump.format = "text";
  dump.tensors.push_back(std::move(data));
  return dump;
}

}  // namespace opdrift::io
