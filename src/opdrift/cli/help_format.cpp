#include "opdrift/cli/help_format.hpp"

#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/base/wrap.hpp"

namespace opdrift::cli {

namespace {

constexpr std::size_t kHelpColumns = 80;
constexpr std::size_t kNameColumns = 28;  ///< of an option's names and value

std::string without_end(std::string text) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

}  // namespace

HelpFormatter::HelpFormatter() {
  column_width(kNameColumns);
}

/// " UINT=12": the kind of value and the default.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0 || option->get_positional()) {
    return {};
  }
  const std::string type = option->get_type_name();
  const std::string& usual = option->get_default_str();
  return " " + type.substr(0, type.find(':')) + (usual.empty() ? "" : "=" + usual);
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return without_end(reflow(option->get_description(), kHelpColumns - kNameColumns));
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return reflow(app->get_description(), kHelpColumns);
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  const std::string& footer = app->get_footer();
  return footer.empty() ? footer : without_end(reflow(footer, kHelpColumns)) + "\n";
}

std::string reflow(std::string_view text, std::size_t columns) {
  const std::string whole = without_end(std::string(text));
  std::string out;
  std::string paragraph;
  const auto end_paragraph = [&] {
    out += paragraph.empty() ? "" : wrapped(paragraph, columns, 0) + "\n";
    paragraph.clear();
  };
  for (const std::string_view line : split(whole, '\n')) {
    if (line.empty() || line.front() == ' ') {
      end_paragraph();
      out += std::string(line) + "\n";
      continue;
    }
    paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
    if (line.back() == ':') {
      end_paragraph();  // a heading of its own
    }
  }
  end_paragraph();
  return out;
}

}  // namespace opdrift::cli
