#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"

namespace opdrift::graph {

/// Where a long text goes, piece by piece.
using TextSink = std::function<Status(std::string_view piece)>;

/// Writes JSON with two blanks of indent, piece by piece. Objects without content become `null`,
/// arrays `[]`. The caller keeps keys and values in turn; one thread at a time.
class JsonWriter {
 public:
  explicit JsonWriter(TextSink sink) : sink_(std::move(sink)) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  void key(std::string_view name);
  /// A string; bytes that are not UTF-8 are dropped.
  void text(std::string_view value);
  void integer(std::int64_t value);
  void boolean(bool value);
  /// NaN and infinities become `null`, as there are no such numbers.
  void real(double value);
  void null();

  /// Hands over what is buffered. After a failure of the sink all writing is dropped.
  Status finish();

 private:
  struct Level {
    char bracket = '{';
    bool opened = false;
  };

  void begin(char bracket);
  void end(char bracket);
  void before_value();
  void new_line();
  void flush_long();

  TextSink sink_;
  std::string buffer_;
  std::vector<Level> levels_;
  bool after_key_ = false;
  Status status_ = Unit{};
};

}  // namespace opdrift::graph
