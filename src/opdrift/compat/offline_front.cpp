#include "opdrift/compat/offline_front.hpp"

#include <algorithm>
#include <array>
#include <iostream>

#include "opdrift/base/text.hpp"
#include "opdrift/compat/exit_codes.hpp"

namespace opdrift::compat {

namespace {

constexpr std::array<std::string_view, 5> kTrue = {"yes", "true", "t", "y", "1"};
constexpr std::array<std::string_view, 5> kFalse = {"no", "false", "f", "n", "0"};

template <typename List>
bool within(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

Result<bool> truth(const Arguments& given, std::string_view key, bool fallback) {
  const auto text = given.optional_text(key);
  if (!text) {
    return fallback;
  }
  const std::string word = to_lower(*text);
  if (!within(kTrue, word) && !within(kFalse, word)) {
    return Error{
        ErrorCode::invalid_argument,
        "option " + std::string(key) + ": expected yes or no, found '" + printable(*text) + "'"};
  }
  return within(kTrue, word);
}

void talk_through(diagnose::offline::CompareOptions& options, ReferenceLog& log) {
  options.log = [&log](pipeline::RunLogLevel level, std::string_view text) {
    switch (level) {
      case pipeline::RunLogLevel::info: log.info(text); break;
      case pipeline::RunLogLevel::warning: log.warning(text); break;
      case pipeline::RunLogLevel::error: log.error(text); break;
    }
  };
  options.print = [](const std::string& text) { std::cout << text << std::flush; };
}

std::vector<std::string> comma_list(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ',')) {
    if (!trim(part).empty()) {
      parts.emplace_back(trim(part));
    }
  }
  return parts;
}

int finish_offline(const diagnose::offline::Outcome<diagnose::offline::CompareEnd>& end,
                   ReferenceLog& log) {
  using diagnose::offline::Number;
  if (!end) {
    log.error(end.error().error.to_string());
    return static_cast<int>(end.error().number);
  }
  if (end->waiting) {
    log.error("device dumps are missing: run " + end->folder +
              "/run_on_device.sh where the device is, then repeat this command; it goes on in that "
              "folder");
    return static_cast<int>(Number::no_dump_file);
  }
  return kExitSuccess;
}

}  // namespace opdrift::compat
