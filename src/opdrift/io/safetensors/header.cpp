#include "opdrift/io/safetensors/header.hpp"

#include <optional>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::io {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxRank = 64;
constexpr std::string_view kMetadata = "__metadata__";

/// Receives the JSON events. The only objects are the file (level 1) and its entries (level 2), the
/// only arrays are shape and data_offsets.
class HeaderHandler : public nlohmann::json_sax<json> {
 public:
  SafetensorsHeader take() { return std::move(header_); }
  Error error() const {
    return Error{ErrorCode::bad_json, message_.empty() ? "no JSON text" : message_, {}, offset_};
  }

  bool start_object(std::size_t /*elements*/) override {
    if (in_array_ || (level_ == 1 && !has_name_) || level_ >= 2) {
      return fail("expected an object of tensors, found objects nested otherwise");
    }
    ++level_;
    if (level_ == 2) {
      has_dtype_ = has_shape_ = false;
      offset_count_ = 0;
      entry_ = SafetensorsEntry{};
    }
    return true;
  }

  bool key(std::string& name) override {
    if (level_ == 1) {
      if (!names_.insert(name).second) {
        return fail("tensor '" + printable(name) + "' occurs twice");
      }
      name_ = name;
      has_name_ = true;
      in_metadata_ = name == kMetadata;
    } else {
      field_ = name;
    }
    return true;
  }

  bool end_object() override {
    --level_;
    if (level_ == 1 && !in_metadata_) {
      if (!has_dtype_ || !has_shape_ || offset_count_ != 2) {
        return fail("tensor '" + printable(name_) +
                    "': expected \"dtype\", \"shape\" and \"data_offsets\"");
      }
      entry_.name = name_;
      header_.entries.push_back(std::move(entry_));
    }
    return true;
  }

  bool start_array(std::size_t /*elements*/) override {
    const bool shape = field_ == "shape" && !has_shape_;
    const bool offsets = field_ == "data_offsets" && offset_count_ == 0;
    if (level_ != 2 || in_metadata_ || in_array_ || !(shape || offsets)) {
      return fail("expected lists only as \"shape\" and \"data_offsets\", once each");
    }
    in_array_ = true;
    has_shape_ = has_shape_ || shape;
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    return true;
  }

  bool string(std::string& text) override {
    if (level_ == 2 && in_metadata_) {
      header_.metadata.emplace_back(field_, text);
      return true;
    }
    if (level_ != 2 || in_array_ || field_ != "dtype") {
      return fail("expected text only as \"dtype\"");
    }
    entry_.dtype = text;
    has_dtype_ = true;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_array_) {
      return fail("expected numbers only in \"shape\" and \"data_offsets\"");
    }
    if (field_ == "shape") {
      entry_.shape.push_back(value);
      return entry_.shape.size() <= kMaxRank || fail("expected at most 64 axes");
    }
    (offset_count_ == 0 ? entry_.begin : entry_.end) = value;
    return ++offset_count_ <= 2 || fail("expected two data offsets");
  }

  bool null() override { return fail("expected no null"); }
  bool boolean(bool /*value*/) override { return fail("expected no true or false"); }
  bool number_integer(number_integer_t /*value*/) override {
    return fail("expected no negative number");
  }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    return fail("expected whole numbers below 2^64");
  }
  bool binary(binary_t& /*value*/) override { return fail("expected no binary value"); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const json::exception& exception) override {
    Error error = json_error(position, exception);
    offset_ = error.offset;
    return fail(std::move(error.message));
  }

 private:
  bool fail(std::string message) {
    message_ = std::move(message);
    return false;
  }

  SafetensorsHeader header_;
  SafetensorsEntry entry_;
  std::unordered_set<std::string> names_;
  std::string name_;
  std::string field_;
  std::string message_;
  std::optional<std::uint64_t> offset_;
  unsigned level_ = 0;
  unsigned offset_count_ = 0;
  bool has_name_ = false;
  bool in_metadata_ = false;
  bool in_array_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
};

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text) {
  HeaderHandler handler;
  if (!json::sax_parse(text.begin(), text.end(), &handler)) {
    return handler.error();
  }
  return handler.take();
}

}  // namespace opdrift::io
