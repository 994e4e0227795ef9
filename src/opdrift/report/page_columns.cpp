#include "opdrift/report/page_columns.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

namespace opdrift::report {

namespace {

constexpr int kDigits = 5;
constexpr double kLargestExact = 0x1p53;

template <typename... Arguments>
void append_chars(std::string& out, Arguments... arguments) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), arguments...);
  out.append(text.data(), result.ptr);
}

}  // namespace

std::string json_text(std::string_view text) {
  using Json = nlohmann::json;
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::size_t PageTexts::number_of(std::string_view text) {
  const auto [found, added] = numbers_.try_emplace(std::string(text), texts_.size());
  if (added) {
    texts_.push_back(&found->first);
  }
  return found->second;
}

std::string PageTexts::take_json() {
  std::string json = "[";
  for (; taken_ < texts_.size(); ++taken_) {
    json += json.size() == 1 ? "" : ",";
    json += json_text(*texts_[taken_]);
  }
  return json + "]";
}

void append_cell(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "null";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"inf\"" : "\"-inf\"";
  } else if (value == std::trunc(value) && std::fabs(value) < kLargestExact) {
    append_chars(out, static_cast<std::int64_t>(value));
  } else {
    append_chars(out, value, std::chars_format::general, kDigits);
  }
}

void append_cell(std::uint64_t value, std::string& out) {
  append_chars(out, value);
}

void PageColumns::begin(std::string_view name) {
  text_ += text_.empty() ? "\"" : ",\"";
  text_ += name;
  text_ += "\":";
  cells_.clear();
  cell_begin_ = 0;
  same_ = true;
}

void PageColumns::end_cell() {
  const std::string_view cell = std::string_view(cells_).substr(cell_begin_);
  if (cell_begin_ == 0) {
    first_ = cell;
  } else {
    same_ = same_ && cell == first_;
  }
  cells_ += ',';
  cell_begin_ = cells_.size();
}

void PageColumns::end() {
  if (rows_ == 0) {
    text_ += "[]";
  } else if (same_) {
    text_ += "{\"all\":" + first_ + "}";
  } else {
    cells_.pop_back();
    text_ += "[" + cells_ + "]";
  }
}

}  // namespace opdrift::report
