#pragma once

#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"

/// Protobuf's text format, without schemas:
///
///   message = field*
///   field   = name (":" value | [":"] "{" message "}" | [":"] "<" message ">") [","|";"]
///   value   = text+ | number | word | "[" [value ("," value)*] "]"      also lists of messages
///   text    = "'" ... "'" | '"' ... '"', with the escapes of C; neighbours are joined
///   comment = "#" up to the end of the line
namespace opdrift::graph {

/// What a text is made of, in the order of the text. A failure ends the scan.
class TextFormatHandler {
 public:
  virtual ~TextFormatHandler() = default;
  /// A message begins as a field of the current one.
  virtual Status begin_message(std::string_view field) = 0;
  virtual Status end_message() = 0;
  /// True when the value of such a field of the current message is to be handed over.
  virtual bool wants(std::string_view field) const = 0;
  /// A value, for every element of a list; texts without quotes and escapes.
  virtual Status value(std::string_view field, std::string value, bool quoted) = 0;
};

/// Walks over a text once. Fails with `malformed` or `truncated` and the offset, with `limit`
/// beyond 128 levels, or with what the handler fails with, to which the offset is added.
Status scan_text_format(std::string_view text, TextFormatHandler& handler);

}  // namespace opdrift::graph
