#include "opdrift/diagnose/next_command.hpp"

#include <algorithm>

#include "opdrift/base/shell_words.hpp"

namespace opdrift::diagnose {

namespace {

/// `--output` may name a file; the new model gets its stem.
std::string stem_of(const std::string& output) {
  constexpr std::string_view kEnding = ".om";
  const bool named = output.size() > kEnding.size() &&
                     output.compare(output.size() - kEnding.size(), kEnding.size(), kEnding) == 0;
  return output.empty() ? "model" : output.substr(0, output.size() - (named ? kEnding.size() : 0));
}

bool replaced(const std::string& name, const std::vector<AtcSetting>& settings,
              const std::vector<std::string>& remove) {
  return name == "output" || std::find(remove.begin(), remove.end(), name) != remove.end() ||
         std::any_of(settings.begin(), settings.end(),
                     [&](const AtcSetting& setting) { return setting.first == name; });
}

std::string option_word(const std::string& name, const std::string& value) {
  std::string word = "--" + name;
  word += "=" + value;
  return word;
}

}  // namespace

std::string next_atc_command(const graph::AtcOptions& present, std::string_view role,
                             const std::vector<AtcSetting>& settings,
                             const std::vector<std::string>& remove) {
  std::vector<std::string> words = {"atc"};
  for (const auto& [name, value] : present.values) {
    if (!replaced(name, settings, remove)) {
      words.push_back(option_word(name, value));
    }
  }
  for (const auto& [name, value] : settings) {
    words.push_back(option_word(name, value));
  }
  words.push_back("--output=" + stem_of(present.get("output").value_or("")) + "_" +
                  std::string(role));
  return shell_command(words);
}

}  // namespace opdrift::diagnose
