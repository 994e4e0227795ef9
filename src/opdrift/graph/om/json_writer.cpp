#include "opdrift/graph/om/json_writer.hpp"

#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"

namespace opdrift::graph {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} * 1024;
constexpr std::size_t kIndent = 2;

}  // namespace

void JsonWriter::new_line() {
  buffer_ += '\n';
  buffer_.append(kIndent * levels_.size(), ' ');
}

/// Puts the bracket of the enclosing array and a comma in place. Brackets wait for their content.
void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) {
    return;
  }
  Level& level = levels_.back();
  buffer_ += level.opened ? ',' : level.bracket;
  level.opened = true;
  new_line();
}

void JsonWriter::key(std::string_view name) {
  before_value();
  append_json_text(name, buffer_);
  buffer_ += ": ";
  after_key_ = true;
}

void JsonWriter::begin(char bracket) {
  before_value();
  levels_.push_back({bracket, false});
}

void JsonWriter::end(char bracket) {
  const bool opened = levels_.back().opened;
  levels_.pop_back();
  if (opened) {
    new_line();
    buffer_ += bracket;
  } else {
    buffer_ += bracket == '}' ? "null" : "[]";
  }
  flush_long();
}

void JsonWriter::text(std::string_view value) {
  before_value();
  if (is_utf8(value)) {
    append_json_text(value, buffer_);
  } else {
    append_json_text(without_bad_utf8(value), buffer_);
  }
  flush_long();
}

void JsonWriter::integer(std::int64_t value) {
  before_value();
  buffer_ += std::to_string(value);
  flush_long();
}

void JsonWriter::boolean(bool value) {
  before_value();
  buffer_ += value ? "true" : "false";
}

void JsonWriter::real(double value) {
  before_value();
  if (std::isfinite(value)) {
    append_python_float(value, buffer_);
  } else {
    buffer_ += "null";
  }
  flush_long();
}

void JsonWriter::null() {
  before_value();
  buffer_ += "null";
}

void JsonWriter::flush_long() {
  if (buffer_.size() < kPieceBytes) {
    return;
  }
  if (status_) {
    status_ = sink_(buffer_);
  }
  buffer_.clear();
}

Status JsonWriter::finish() {
  if (status_ && !buffer_.empty()) {
    status_ = sink_(buffer_);
  }
  buffer_.clear();
  return status_;
}

}  // namespace opdrift::graph
