#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"

/// The Python literals that array headers are made of:
///
///   value  = string | integer | 'True' | 'False' | 'None' | tuple | list | dict
///   string = ['b' | 'u'] ("'" chars "'" | '"' chars '"'), with \\ \' \" \n \t \xNN escapes
///   tuple  = '(' [value (',' value)* [',']] ')'      list = the same in brackets
///   dict   = '{' [string ':' value (',' string ':' value)* [',']] '}'
///   integer = ['-'] digits ['L']                     (Python 2 wrote the L)
///
/// Nothing is evaluated. Blanks and line ends may stand between tokens.
namespace opdrift::io {

struct PythonLiteral {
  enum class Kind { none, boolean, integer, text, tuple, list, dict };
  Kind kind = Kind::none;
  bool boolean = false;
  std::int64_t integer = 0;
  std::string text;
  std::vector<PythonLiteral> items;  ///< of tuple and list; values of dict
  std::vector<std::string> keys;     ///< of dict, beside items

  /// The value of a key, or nullptr.
  const PythonLiteral* find(std::string_view key) const;
};

/// Parses all of `text`. Fails with `malformed` and the offset, or `limit` for more than 8
/// levels or 10,000 values.
Result<PythonLiteral> parse_python_literal(std::string_view text);

}  // namespace opdrift::io
