#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace opdrift::cli {

/// Help of a command in lines of at most 80 columns, whatever the terminal: it goes into pagers,
/// mails and documents.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
};

/// Breaks paragraphs into lines of at most `columns`. Lines that begin with a blank (examples) and
/// empty lines stay as they are; all others of one paragraph are joined first.
std::string reflow(std::string_view text, std::size_t columns);

}  // namespace opdrift::cli
