#include "opdrift/report/html_page.hpp"

#include <cstddef>

#include "opdrift/report/page_data.hpp"
#include "opdrift/report/report.hpp"
#include "opdrift/report/xml_text.hpp"

namespace opdrift::report {

// Made from web/dist/page.html by cmake/embed.cmake.
extern const unsigned char kPageBytes[];
extern const std::size_t kPageSize;

namespace {

/// `<` stands in strings of JSON only, where an escape means the same.
void append_json(std::string_view json, std::string& out) {
  while (!json.empty()) {
    const std::size_t next = json.find('<');
    out += json.substr(0, next);
    if (next == std::string_view::npos) {
      return;
    }
    out += "\\u003c";
    json.remove_prefix(next + 1);
  }
}

/// What stands before `mark`, which is taken from `page` with it.
std::string_view take_until(std::string_view mark, std::string_view& page) {
  const std::size_t end = page.find(mark);
  const std::string_view before = page.substr(0, end);
  page.remove_prefix(end == std::string_view::npos ? page.size() : end + mark.size());
  return before;
}

}  // namespace

std::string html_page(std::string_view json, std::string_view summary) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes of a text file
  std::string_view page(reinterpret_cast<const char*>(kPageBytes), kPageSize);
  std::string html;
  html.reserve(page.size() + summary.size() + json.size() + json.size() / 16);
  html += take_until("@SUMMARY@", page);
  html += xml_text(summary);
  html += take_until("@DATA@", page);
  append_json(json, html);
  html += page;
  return html;
}

std::string render_html(const verdict::RunResult& result) {
  return html_page(page_data(result), result.verdict ? result.verdict->sentence : "");
}

}  // namespace opdrift::report
