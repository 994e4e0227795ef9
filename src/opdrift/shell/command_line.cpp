#include "opdrift/shell/command_line.hpp"

#include <algorithm>
#include <optional>

#include "opdrift/base/text.hpp"
#include "opdrift/base/wrap.hpp"

namespace opdrift::shell {

namespace {

constexpr std::string_view kNameFlag = "-n";
constexpr std::size_t kHelpMargin = 18;

Error usage_error(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && !parse_double(word).has_value();
}

/// An option met in the words, with the value attached to it by "=".
struct Met {
  const OptionSpec* option = nullptr;
  std::optional<std::string> attached;
};

Result<Met> find_option(const CommandSyntax& syntax, const std::string& word) {
  const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const std::string flag = word.substr(0, equals);
  for (const OptionSpec& option : syntax.options) {
    if (flag == option.flag || flag == option.long_flag) {
      Met met{&option, std::nullopt};
      if (equals != std::string::npos) {
        met.attached = word.substr(equals + 1);
      }
      return met;
    }
  }
  std::vector<std::string_view> known;
  for (const OptionSpec& option : syntax.options) {
    known.push_back(option.long_flag);
    known.push_back(option.flag);
  }
  return usage_error("unknown option '" + printable(word) + "'" + did_you_mean(word, known));
}

/// The value of an option; moves on when it is the next word.
Result<std::string> value_of(const Met& met, std::span<const std::string> words,
                             std::size_t& next) {
  const std::string flag(met.option->flag);
  if (met.option->value.empty()) {
    return met.attached ? Result<std::string>(usage_error("option " + flag + " takes no value"))
                        : Result<std::string>(std::string());
  }
  if (met.attached) {
    return *met.attached;
  }
  if (next >= words.size() || is_option(words[next])) {
    return usage_error("option " + flag + ": expected " + std::string(met.option->value) +
                       " behind it");
  }
  return words[next++];
}

Status check_names(const CommandSyntax& syntax, const std::vector<std::string>& names) {
  if (names.size() > syntax.most_names) {
    return usage_error("unexpected word '" + printable(names[syntax.most_names]) + "'");
  }
  if (names.size() < syntax.least_names) {
    return usage_error("expected " + std::string(syntax.names));
  }
  return Unit{};
}

std::string padded(std::string text) {
  if (text.size() + 2 > kHelpMargin) {
    return text + "\n" + std::string(kHelpMargin, ' ');
  }
  text.resize(kHelpMargin, ' ');
  return text;
}

}  // namespace

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (!word.empty()) {
        words.push_back(std::move(word));
        word.clear();
      }
    } else {
      word += c;
    }
  }
  if (!word.empty()) {
    words.push_back(std::move(word));
  }
  return words;
}

std::string CommandLine::text(std::string_view flag, std::string_view fallback) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::string(fallback) : found->second;
}

Result<std::size_t> CommandLine::count(std::string_view flag, std::size_t fallback) const {
  if (!has(flag)) {
    return fallback;
  }
  const std::optional<std::uint64_t> value = parse_u64(text(flag));
  if (!value) {
    return usage_error("option " + std::string(flag) + ": expected a whole number, found '" +
                       printable(text(flag)) + "'");
  }
  return static_cast<std::size_t>(*value);
}

Result<double> CommandLine::number(std::string_view flag, double fallback) const {
  if (!has(flag)) {
    return fallback;
  }
  const std::optional<double> value = parse_double(text(flag));
  if (!value || *value != *value) {
    return usage_error("option " + std::string(flag) + ": expected a number, found '" +
                       printable(text(flag)) + "'");
  }
  return *value;
}

Result<CommandLine> parse_words(const CommandSyntax& syntax, std::span<const std::string> words) {
  CommandLine line;
  for (std::size_t next = 0; next < words.size();) {
    const std::string& word = words[next++];
    if (!is_option(word)) {
      line.names_.push_back(word);
      continue;
    }
    if (word == kNameFlag && syntax.most_names > 0 && syntax.name_kind != NameKind::words) {
      if (next >= words.size() || is_option(words[next])) {
        return usage_error("option -n: expected " + std::string(syntax.names) + " behind it");
      }
      continue;
    }
    OPDRIFT_TRY(const Met met, find_option(syntax, word));
    OPDRIFT_TRY(std::string value, value_of(met, words, next));
    line.values_.insert_or_assign(std::string(met.option->flag), std::move(value));
  }
  OPDRIFT_CHECK_OK(check_names(syntax, line.names_));
  return line;
}

bool wants_help(std::span<const std::string> words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word == "-h" || word == "--help"; });
}

std::string usage_of(std::string_view command, const CommandSyntax& syntax) {
  std::string text(command);
  if (syntax.most_names > 0) {
    const bool flagged = syntax.name_kind != NameKind::words;
    const std::string names = (flagged ? "[-n] " : "") + std::string(syntax.names);
    text += syntax.least_names > 0 ? " " + names : " [" + names + "]";
  }
  for (const OptionSpec& option : syntax.options) {
    text += " [" + std::string(option.flag) +
            (option.value.empty() ? "" : " " + std::string(option.value)) + "]";
  }
  return text;
}

std::string options_help(const CommandSyntax& syntax, std::size_t columns) {
  std::string text;
  for (const OptionSpec& option : syntax.options) {
    const std::string value = option.value.empty() ? "" : " " + std::string(option.value);
    text += padded("  " + std::string(option.flag) + value);
    std::string help(option.help);
    if (!option.long_flag.empty()) {
      help += " (" + std::string(option.long_flag) + ")";
    }
    text += opdrift::wrapped(help, std::max(columns, kHelpMargin + 20), kHelpMargin) + "\n";
  }
  return text;
}

}  // namespace opdrift::shell
