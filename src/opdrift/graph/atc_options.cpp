#include "opdrift/graph/atc_options.hpp"

#include "opdrift/base/shell_words.hpp"

namespace opdrift::graph {

namespace {

/// Without its dashes; "" for a word that is no option. "-1" is a value.
std::string option_name(const std::string& word) {
  const std::size_t start = word.find_first_not_of('-');
  if (start == 0 || start > 2 || start == std::string::npos) {
    return "";
  }
  const bool number = start == 1 && word[1] >= '0' && word[1] <= '9';
  return number ? "" : word.substr(start);
}

}  // namespace

std::optional<std::string> AtcOptions::get(std::string_view name) const {
  std::optional<std::string> last;
  for (const auto& [own, value] : values) {
    if (own == name) {
      last = value;
    }
  }
  return last;
}

AtcOptions parse_atc_command(std::string_view text) {
  AtcOptions options;
  bool waiting = false;  // the last option has no value yet
  for (const std::string& word : shell_words(text)) {
    const std::string name = option_name(word);
    const std::size_t equals = name.find('=');
    if (!name.empty()) {
      waiting = equals == std::string::npos;
      options.values.emplace_back(name.substr(0, equals), waiting ? "" : name.substr(equals + 1));
    } else if (waiting) {
      options.values.back().second = word;
      waiting = false;
    } else if (options.program.empty() && options.values.empty()) {
      options.program = word;
    }
  }
  return options;
}

}  // namespace opdrift::graph
