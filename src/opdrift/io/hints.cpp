#include "opdrift/io/hints.hpp"

#include <array>
#include <vector>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

using nlohmann::json;
using tensor::DType;

constexpr std::uint64_t kMaxSidecarBytes = 1 << 16;
constexpr std::size_t kMaxRank = 64;

struct NameWord {
  std::string_view word;
  DType dtype;
};

constexpr std::array<NameWord, 14> kNameWords = {{
    {"bfloat16", DType::bf16},
    {"bf16", DType::bf16},
    {"float8_e4m3fn", DType::e4m3fn},
    {"fp8_e4m3fn", DType::e4m3fn},
    {"e4m3fn", DType::e4m3fn},
    {"e4m3", DType::e4m3fn},
    {"float8_e5m2", DType::e5m2},
    {"fp8_e5m2", DType::e5m2},
    {"e5m2", DType::e5m2},
    {"float8_e8m0", DType::e8m0},
    {"e8m0", DType::e8m0},
    {"e8m0fnu", DType::e8m0},
    {"hifloat8", DType::hif8},
    {"hif8", DType::hif8},
}};

Error bad(const std::string& what) {
  return Error{ErrorCode::bad_json, "sidecar: " + what};
}

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// True when `word` occurs in lower-case `text` with no letter or digit on either side.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_char(text[at - 1])) &&
        (end == text.size() || !is_word_char(text[end]))) {
      return true;
    }
  }
  return false;
}

Result<tensor::Shape> shape_of(const json& value) {
  if (!value.is_array() || value.size() > kMaxRank) {
    return bad("expected \"shape\" to be a list of at most 64 numbers");
  }
  tensor::Shape shape;
  for (const json& extent : value) {
    if (!extent.is_number_unsigned()) {
      return bad("expected \"shape\" to hold integers of 0 or more");
    }
    shape.push_back(extent.get<std::uint64_t>());
  }
  OPDRIFT_CHECK_OK(tensor::element_count(shape));
  return shape;
}

Result<TensorHints> hints_of(const json& document) {
  TensorHints hints;
  if (!document.is_object()) {
    return bad("expected a JSON object");
  }
  if (const auto dtype = document.find("dtype"); dtype != document.end()) {
    hints.dtype = dtype->is_string() ? tensor::dtype_by_name(dtype->get_ref<const std::string&>())
                                     : std::nullopt;
    if (!hints.dtype) {
      return bad("expected \"dtype\" to name an element type");
    }
  }
  if (const auto shape = document.find("shape"); shape != document.end()) {
    OPDRIFT_TRY(hints.shape, shape_of(*shape));
  }
  if (const auto format = document.find("format"); format != document.end()) {
    hints.format = format->is_string()
                       ? tensor::format_by_name(format->get_ref<const std::string&>())
                       : std::nullopt;
    if (!hints.format) {
      return bad("expected \"format\" to name a memory format");
    }
  }
  return hints;
}

std::optional<tensor::Shape> dims_of(std::string_view text) {
  tensor::Shape shape;
  if (text.empty()) {
    return shape;
  }
  for (const std::string_view part : split(text, '_')) {
    const std::optional<std::uint64_t> extent = parse_u64(part);
    if (!extent || shape.size() == kMaxRank) {
      return std::nullopt;
    }
    shape.push_back(*extent);
  }
  return tensor::element_count(shape) ? std::optional(shape) : std::nullopt;
}

std::optional<std::uint32_t> index_of(std::string_view text) {
  const std::optional<std::uint64_t> value = parse_u64(text);
  return value && *value <= 0xFFFFFFFF ? std::optional(static_cast<std::uint32_t>(*value))
                                       : std::nullopt;
}

/// The name without its last `parts` dot-parts.
std::string without_last(const std::vector<std::string_view>& parts, std::size_t count) {
  std::vector<std::string> kept(parts.begin(), parts.end() - static_cast<std::ptrdiff_t>(count));
  return join(kept, ".");
}

std::optional<BinName> parse_tensor_name(const std::vector<std::string_view>& parts) {
  const std::size_t n = parts.size();
  if (n < 7 || (parts[n - 6] != "input" && parts[n - 6] != "output")) {
    return std::nullopt;
  }
  BinName name;
  name.base = without_last(parts, 6);
  name.role = parts[n - 6] == "input" ? TensorRole::input : TensorRole::output;
  const std::optional<std::uint32_t> index = index_of(parts[n - 5]);
  name.hints.shape = dims_of(parts[n - 4]);
  name.hints.dtype = tensor::dtype_by_name(parts[n - 3]);
  name.hints.format = tensor::format_by_name(parts[n - 2]);
  if (!index || !name.hints.shape || !name.hints.dtype) {
    return std::nullopt;
  }
  name.index = *index;
  return name;
}

}  // namespace

Result<std::optional<TensorHints>> read_sidecar(const std::string& path) {
  const std::string sidecar = path + ".json";
  Result<Bytes> bytes = map_file(sidecar);
  if (!bytes) {
    if (bytes.error().code == ErrorCode::not_found) {
      return std::optional<TensorHints>{};
    }
    return bytes.error();
  }
  if (bytes->size() > kMaxSidecarBytes) {
    return in_file(bad("expected at most 64 KiB"), sidecar);
  }
  const std::string_view text = as_text(bytes->span);
  OPDRIFT_TRY(const json document, parse_json<json>(text, sidecar));
  OPDRIFT_TRY(TensorHints hints, in_file(hints_of(document), sidecar));
  return std::optional(std::move(hints));
}

std::optional<DType> extension_dtype_in_name(std::string_view file_name, unsigned bits) {
  const std::string lower = to_lower(file_name);
  std::optional<DType> found;
  for (const NameWord& row : kNameWords) {
    if (tensor::info(row.dtype).bits != bits || !has_word(lower, row.word)) {
      continue;
    }
    if (found && *found != row.dtype) {
      return std::nullopt;
    }
    found = row.dtype;
  }
  return found;
}

std::optional<BinName> parse_bin_name(std::string_view file_name) {
  const std::vector<std::string_view> parts = split(file_name, '.');
  const std::size_t n = parts.size();
  if (n < 4 || parts[n - 1] != "bin") {
    return std::nullopt;
  }
  if (parts[n - 3] == "l1buffer" || parts[n - 3] == "space") {
    const std::optional<std::uint32_t> index = index_of(parts[n - 2]);
    if (!index) {
      return std::nullopt;
    }
    const TensorRole role = parts[n - 3] == "space" ? TensorRole::space : TensorRole::buffer;
    return BinName{without_last(parts, 3), role, *index, {}};
  }
  return parse_tensor_name(parts);
}

}  // namespace opdrift::io
