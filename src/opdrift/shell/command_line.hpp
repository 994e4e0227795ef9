#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"

/// One line of the shell:
///
///   line   = blank* word (blank+ word)*        no quoting: a name cannot hold a blank
///   words  = command (option | name)*
///   option = flag [value] | "--flag=value"
///
/// Names may follow `-n` or stand anywhere by themselves. A value may begin with "-" only when it
/// is a number.
namespace opdrift::shell {

/// Words of a line, split at blanks and tabs.
std::vector<std::string> words_of(std::string_view line);

struct OptionSpec {
  std::string_view flag;       ///< "-lt"
  std::string_view long_flag;  ///< "--left"
  std::string_view value;      ///< "DIR"; "" for a switch
  std::string_view help;
};

/// What a word of a command may be completed with.
enum class NameKind : std::uint8_t { none, operators, tensors, files, words };

/// The words a command takes.
struct CommandSyntax {
  std::span<const OptionSpec> options;
  std::string_view names;  ///< "NAME", "LEFT RIGHT", "" for none
  std::size_t least_names = 0;
  std::size_t most_names = 0;
  NameKind name_kind = NameKind::none;
};

class CommandLine {
 public:
  bool has(std::string_view flag) const { return values_.find(flag) != values_.end(); }
  std::string text(std::string_view flag, std::string_view fallback = {}) const;
  /// A whole number of at least 0. Fails with invalid_argument.
  Result<std::size_t> count(std::string_view flag, std::size_t fallback) const;
  /// Any number but NaN. Fails with invalid_argument.
  Result<double> number(std::string_view flag, double fallback) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  friend Result<CommandLine> parse_words(const CommandSyntax&, std::span<const std::string>);
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> names_;
};

/// Reads the words behind a command. Fails with invalid_argument.
Result<CommandLine> parse_words(const CommandSyntax& syntax, std::span<const std::string> words);

/// True when help was asked for.
bool wants_help(std::span<const std::string> words);

/// "ni [-n] NAME [-g GRAPH] [-a]"
std::string usage_of(std::string_view command, const CommandSyntax& syntax);

/// Lines on the options, wrapped to `columns`.
std::string options_help(const CommandSyntax& syntax, std::size_t columns);

}  // namespace opdrift::shell
