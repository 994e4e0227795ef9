#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Command lines as Python's argparse reads them, as far as the reference's commands use it:
///
///   arguments = (option | value)*
///   option    = flag | flag value | flag "=" value | "-x" value-without-space
///
/// Long single-dash flags ("-out") exist beside double-dash ones. A unique prefix of a flag stands
/// for it. A value may not look like an option, except for negative numbers. What matches no option
/// is an unrecognised argument.
namespace opdrift::compat {

/// What an option's value must be.
enum class ValueRule : unsigned char {
  text,
  integer,    ///< optional sign and digits
  safe_path,  ///< letters, digits and _ / . , - only (checked before anything touches the path)
};

/// One option of a command.
struct OptionSpec {
  std::string_view key;                 ///< how the program asks for it
  std::vector<std::string_view> flags;  ///< "-d", "--dump_file"
  std::string_view help;
  bool takes_value = true;
  bool value_optional = false;  ///< the flag alone gives `value_if_bare`
  std::string_view value_if_bare = {};
  bool required = false;
  ValueRule rule = ValueRule::text;
  std::vector<std::string_view> choices = {};
  int exclusive_group = 0;  ///< options of one non-zero group exclude each other
};

/// One command with its options.
struct CommandSpec {
  std::string_view program;  ///< "msaccucmp convert"
  std::string_view summary;
  std::vector<OptionSpec> options;
};

/// What a command line said.
class Arguments {
 public:
  bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  /// The value given, or `fallback`. An option given twice keeps the last value.
  std::string text(std::string_view key, std::string_view fallback = {}) const;
  std::optional<std::string> optional_text(std::string_view key) const;
  /// For options with the rule `integer`.
  long long integer(std::string_view key, long long fallback) const;

 private:
  friend class ArgumentParser;
  std::map<std::string, std::string, std::less<>> values_;
};

/// Either the arguments, or how the process has to end (help: 0, usage: 2). The text was printed.
struct ParsedArguments {
  Arguments arguments;
  std::optional<int> exit_status;
};

/// Reads `args` (without program and command name). Errors print usage and the reason on standard
/// error; -h and --help print the help text on standard output.
ParsedArguments parse_arguments(const CommandSpec& command, std::span<const std::string> args);

/// The text `-h` prints.
std::string help_text(const CommandSpec& command);

/// True when every character may stand in a path option of the reference.
bool is_safe_path_argument(std::string_view text);

}  // namespace opdrift::compat
