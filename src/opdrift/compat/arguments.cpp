#include "opdrift/compat/arguments.hpp"

#include <algorithm>
#include <iostream>

#include "opdrift/base/result.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/base/wrap.hpp"

namespace opdrift::compat {

namespace {

constexpr int kUsageStatus = 2;

std::string flags_of(const OptionSpec& option) {
  std::string text;
  for (const std::string_view flag : option.flags) {
    text += (text.empty() ? "" : "/") + std::string(flag);
  }
  return text;
}

std::string metavar(const OptionSpec& option) {
  if (!option.choices.empty()) {
    std::string text;
    for (const std::string_view choice : option.choices) {
      text += (text.empty() ? "{" : ",") + std::string(choice);
    }
    return text + "}";
  }
  std::string text(option.key);
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

constexpr std::size_t kHelpColumns = 80;
constexpr std::size_t kHelpMargin = 8;

/// Options with their values stay together where the line is broken.
std::string usage_line(const CommandSpec& command) {
  std::string text = "usage: " + std::string(command.program) + " [-h]";
  const std::string margin(std::string("usage: ").size(), ' ');
  std::size_t used = text.size();
  for (const OptionSpec& option : command.options) {
    std::string part(option.flags.front());
    if (option.takes_value) {
      part += option.value_optional ? " [" + metavar(option) + "]" : " " + metavar(option);
    }
    part = option.required ? part : "[" + part + "]";
    const bool fits = used + 1 + part.size() <= kHelpColumns;
    text += (fits ? " " : "\n" + margin) + part;
    used = (fits ? used + 1 : margin.size()) + part.size();
  }
  return text + "\n";
}

bool is_integer(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    text.remove_prefix(1);
  }
  return is_digits(text);
}

/// Negative numbers are values, not options: no command here has a flag that looks like one.
bool looks_negative(std::string_view text) {
  return text.size() > 1 && text.front() == '-' && parse_double(text).has_value() &&
         text.find_first_not_of("-.0123456789") == std::string_view::npos;
}

}  // namespace

std::string Arguments::text(std::string_view key, std::string_view fallback) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string(fallback) : found->second;
}

std::optional<std::string> Arguments::optional_text(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

long long Arguments::integer(std::string_view key, long long fallback) const {
  const std::string value = text(key);
  std::string_view digits = value;
  if (!digits.empty() && digits.front() == '+') {
    digits.remove_prefix(1);
  }
  return parse_i64(digits).value_or(fallback);
}

bool is_safe_path_argument(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("_/.,-").find(c) != std::string_view::npos;
  });
}

std::string help_text(const CommandSpec& command) {
  std::string text =
      usage_line(command) + "\n" + wrapped(command.summary, kHelpColumns, 0) + "\n\noptions:\n";
  text += "  -h, --help\n        show this help message and exit\n";
  for (const OptionSpec& option : command.options) {
    text += "  ";
    for (std::size_t i = 0; i < option.flags.size(); ++i) {
      text += (i > 0 ? ", " : "") + std::string(option.flags[i]);
    }
    text += option.takes_value ? " " + metavar(option) : "";
    text += "\n" + std::string(kHelpMargin, ' ') + wrapped(option.help, kHelpColumns, kHelpMargin) +
            "\n";
  }
  return text;
}

/// Walks over one command line.
class ArgumentParser {
 public:
  ArgumentParser(const CommandSpec& command, std::span<const std::string> args)
      : command_(command), args_(args) {}

  ParsedArguments parse() {
    ParsedArguments parsed;
    const Status status = read_all();
    if (help_wanted_) {
      std::cout << help_text(command_) << std::flush;
      parsed.exit_status = 0;
    } else if (!status) {
      std::cerr << usage_line(command_) << command_.program << ": error: " << status.error().message
                << "\n"
                << std::flush;
      parsed.exit_status = kUsageStatus;
    }
    parsed.arguments = std::move(arguments_);
    return parsed;
  }

 private:
  struct Match {
    const OptionSpec* option = nullptr;
    std::optional<std::string> attached;
    bool help = false;
  };

  static Error usage_error(std::string message) {
    return Error{ErrorCode::invalid_argument, std::move(message)};
  }

  Status read_all() {
    while (position_ < args_.size()) {
      const std::string& arg = args_[position_++];
      if (arg.empty() || arg.front() != '-' || arg == "-" || looks_negative(arg)) {
        unrecognised_ += " " + arg;
        continue;
      }
      OPDRIFT_TRY(const std::optional<Match> match, find(arg));
      if (!match) {
        unrecognised_ += " " + arg;
        continue;
      }
      if (match->help) {
        help_wanted_ = true;
        return Unit{};
      }
      OPDRIFT_CHECK_OK(take(*match));
    }
    return check_complete();
  }

  /// Exact flags first, then `flag=value`, then prefixes and `-xVALUE`, as argparse does.
  Result<std::optional<Match>> find(const std::string& arg) const {
    if (const std::optional<Match> exact = find_exact(arg, std::nullopt)) {
      return exact;
    }
    const std::size_t equals = arg.find('=');
    const std::string name = arg.substr(0, equals);
    const std::optional<std::string> value =
        equals == std::string::npos ? std::nullopt : std::optional(arg.substr(equals + 1));
    if (value) {
      if (const std::optional<Match> exact = find_exact(name, value)) {
        return exact;
      }
    }
    std::vector<Match> candidates;
    std::string names;
    const bool is_long = arg.starts_with("--");
    const auto consider = [&](std::string_view flag, const OptionSpec* option) {
      if (flag.starts_with(name) && (is_long || !value)) {
        candidates.push_back({option, value, option == nullptr});
      } else if (!is_long && flag.size() == 2 && arg.starts_with(flag)) {
        candidates.push_back({option, arg.substr(2), option == nullptr});
      } else {
        return;
      }
      names += (names.empty() ? "" : ", ") + std::string(flag);
    };
    consider("-h", nullptr);
    consider("--help", nullptr);
    for (const OptionSpec& option : command_.options) {
      for (const std::string_view flag : option.flags) {
        consider(flag, &option);
      }
    }
    if (candidates.size() > 1) {
      return usage_error("ambiguous option: " + arg + " could match " + names);
    }
    if (candidates.empty()) {
      return std::optional<Match>();
    }
    return std::optional<Match>(candidates.front());
  }

  std::optional<Match> find_exact(std::string_view name,
                                  const std::optional<std::string>& value) const {
    if (name == "-h" || name == "--help") {
      return Match{nullptr, value, true};
    }
    for (const OptionSpec& option : command_.options) {
      if (std::find(option.flags.begin(), option.flags.end(), name) != option.flags.end()) {
        return Match{&option, value, false};
      }
    }
    return std::nullopt;
  }

  Status take(const Match& match) {
    const OptionSpec& option = *match.option;
    const std::string label = "argument " + flags_of(option) + ": ";
    if (!option.takes_value) {
      if (match.attached) {
        return usage_error(label + "ignored explicit argument '" + *match.attached + "'");
      }
      return store(option, "");
    }
    if (match.attached) {
      return store(option, *match.attached);
    }
    const bool has_next = position_ < args_.size() && is_value(args_[position_]);
    if (has_next) {
      return store(option, args_[position_++]);
    }
    if (option.value_optional) {
      return store(option, std::string(option.value_if_bare));
    }
    return usage_error(label + "expected one argument");
  }

  /// Unknown words beginning with a dash are options too, unless they contain a blank.
  bool is_value(const std::string& arg) const {
    if (arg.empty() || arg.front() != '-' || arg == "-" || looks_negative(arg)) {
      return true;
    }
    const Result<std::optional<Match>> match = find(arg);
    return match.has_value() && !match->has_value() && arg.find(' ') != std::string::npos;
  }

  Status store(const OptionSpec& option, const std::string& value) {
    const std::string label = "argument " + flags_of(option) + ": ";
    if (option.exclusive_group != 0) {
      for (const OptionSpec& other : command_.options) {
        if (&other != &option && other.exclusive_group == option.exclusive_group &&
            arguments_.has(other.key)) {
          return usage_error(label + "not allowed with argument " + flags_of(other));
        }
      }
    }
    if (option.takes_value && option.rule == ValueRule::integer && !is_integer(trim(value))) {
      return usage_error(label + "invalid int value: '" + value + "'");
    }
    if (option.takes_value && option.rule == ValueRule::safe_path &&
        !is_safe_path_argument(value)) {
      return usage_error(label + "expected letters, digits and _ / . , - only, found '" + value +
                         "'");
    }
    const std::string kept = option.rule == ValueRule::integer ? std::string(trim(value)) : value;
    if (!option.choices.empty() &&
        std::find(option.choices.begin(), option.choices.end(), kept) == option.choices.end()) {
      return usage_error(label + "invalid choice: '" + value + "' (choose from " + metavar(option) +
                         ")");
    }
    arguments_.values_.insert_or_assign(std::string(option.key), kept);
    return Unit{};
  }

  Status check_complete() const {
    std::string missing;
    for (const OptionSpec& option : command_.options) {
      if (option.required && !arguments_.has(option.key)) {
        missing += (missing.empty() ? "" : ", ") + flags_of(option);
      }
    }
    if (!missing.empty()) {
      return usage_error("the following arguments are required: " + missing);
    }
    if (!unrecognised_.empty()) {
      return usage_error("unrecognized arguments:" + unrecognised_);
    }
    return Unit{};
  }

  const CommandSpec& command_;
  std::span<const std::string> args_;
  std::size_t position_ = 0;
  Arguments arguments_;
  std::string unrecognised_;
  bool help_wanted_ = false;
};

ParsedArguments parse_arguments(const CommandSpec& command, std::span<const std::string> args) {
  return ArgumentParser(command, args).parse();
}

}  // namespace opdrift::compat
