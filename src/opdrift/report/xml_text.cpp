#include "opdrift/report/xml_text.hpp"

#include "opdrift/base/text.hpp"

namespace opdrift::report {

namespace {

void append_line(std::string_view line, std::string& out) {
  for (const char c : printable(line)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  bool first = true;
  for (const std::string_view line : split(text, '\n')) {
    out += first ? "" : "\n";
    append_line(line, out);
    first = false;
  }
  // U+FFFE and U+FFFF are characters of UTF-8 and none of XML.
  return replace_all(replace_all(out, "\xEF\xBF\xBE", "\\xef\\xbf\\xbe"), "\xEF\xBF\xBF",
                     "\\xef\\xbf\\xbf");
}

}  // namespace opdrift::report
