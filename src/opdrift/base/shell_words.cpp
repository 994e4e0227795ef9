#include "opdrift/base/shell_words.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift {

namespace {

bool is_blank(char character) {
  return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

bool is_plain(char character) {
  constexpr std::string_view kPlain = "_-./:=,+@%^~";
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || kPlain.find(character) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;  // an empty pair of quotes is a word too
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    if (character == '\\' && quote != '\'' && at + 1 < text.size()) {
      word += text[++at];
      open = true;
    } else if (quote != 0) {
      quote = character == quote ? '\0' : quote;
      if (quote != 0) {
        word += character;
      }
    } else if (character == '\'' || character == '"') {
      quote = character;
      open = true;
    } else if (!is_blank(character)) {
      word += character;
      open = true;
    } else if (open) {
      words.push_back(std::exchange(word, {}));
      open = false;
    }
  }
  if (open) {
    words.push_back(std::move(word));
  }
  return words;
}

std::string shell_quoted(std::string_view word) {
  // a tilde in front would be expanded
  if (!word.empty() && word.front() != '~' && std::all_of(word.begin(), word.end(), is_plain)) {
    return std::string(word);
  }
  return "'" + replace_all(word, "'", "'\\''") + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words) {
    quoted.push_back(shell_quoted(word));
  }
  return join(quoted, " ");
}

}  // namespace opdrift
