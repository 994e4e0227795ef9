#include "opdrift/report/html_page.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "opdrift/io/archive/deflate_archive.hpp"
#include "opdrift/report/page_data.hpp"
#include "opdrift/report/report.hpp"
#include "opdrift/report/xml_text.hpp"

namespace opdrift::report {

// Made from web/dist/page.html by cmake/embed.cmake.
extern const unsigned char kPageBytes[];
extern const std::size_t kPageSize;

namespace {

constexpr std::size_t kMostPlainBytes = 1'000'000;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= count ? kDigits[group >> (18U - 6U * k) & 63U] : '=';
    }
  }
  return out;
}

/// A raw deflate stream in base64; "" when there is no memory for it.
std::string packed(std::string_view json) {
  constexpr std::string_view kEnd("\x03\x00", 2);
  const auto piece = io::deflate_piece(json);
  return piece ? base64(piece->bytes + std::string(kEnd)) : std::string();
}

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

/// Pieces of data, each in an element of its own.
class DataElements {
 public:
  explicit DataElements(const std::vector<std::string>& pieces) : pieces_(pieces) {
    for (const std::string& piece : pieces) {
      size_ += piece.size();
    }
  }

  std::size_t size() const { return size_; }

  /// Deflated where there is much of it, and memory to deflate it.
  void append(std::size_t number, std::string& html) const {
    const std::string small = size_ > kMostPlainBytes ? packed(pieces_[number]) : std::string();
    html += "<script id=\"data-" + std::to_string(number) + "\" data-pieces=\"" +
            std::to_string(pieces_.size()) + "\" type=\"application/";
    html += small.empty() ? "json\">" : "x-deflate\">";
    if (small.empty()) {
      append_json(pieces_[number], html);
    } else {
      html += small;
    }
    html += "</script>\n";
  }

 private:
  const std::vector<std::string>& pieces_;
  std::size_t size_ = 0;
};

/// What stands before `mark`, which is taken from `page` with it.
std::string_view take_until(std::string_view mark, std::string_view& page) {
  const std::size_t end = page.find(mark);
  const std::string_view before = page.substr(0, end);
  page.remove_prefix(end == std::string_view::npos ? page.size() : end + mark.size());
  return before;
}

}  // namespace

std::string html_page(const std::vector<std::string>& pieces, std::string_view summary) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes of a text file
  std::string_view page(reinterpret_cast<const char*>(kPageBytes), kPageSize);
  const DataElements data(pieces);
  std::string html;
  html.reserve(page.size() + summary.size() + data.size());
  html += take_until("@SUMMARY@", page);
  html += xml_text(summary);
  html += take_until("@DATA@", page);
  data.append(0, html);
  // Behind the script: the page shows the first piece while the others are still being parsed.
  html += take_until("@MORE@", page);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    data.append(i, html);
  }
  html += page;
  return html;
}

std::string render_html(const verdict::RunResult& result) {
  return html_page(page_data(result), result.verdict ? result.verdict->sentence : "");
}

}  // namespace opdrift::report
