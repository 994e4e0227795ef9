#include "opdrift/compat/msit.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/msit_compare.hpp"
#include "opdrift/compat/msit_surgeon.hpp"

namespace opdrift::compat {

namespace {

constexpr std::array kCommands = {
    MsitCommand{"debug compare", "compare an offline model with the model it was built from",
                &run_msit_compare},
    MsitCommand{"debug dump", "dump every tensor of one model", &run_msit_dump},
    MsitCommand{"debug surgeon extract", "cut a sub-graph out of an ONNX model",
                &run_surgeon_extract},
    MsitCommand{"debug surgeon ext", "the same", &run_surgeon_extract, false},
};

std::string help() {
  std::string text = "usage: msit debug COMMAND ...\n\ncommands:\n";
  for (const MsitCommand& command : kCommands) {
    if (command.listed) {
      text +=
          "  " + std::string(command.words) + "\n        " + std::string(command.summary) + "\n";
    }
  }
  return text + "\n'msit debug COMMAND -h' lists the options of one command.\n";
}

/// How many of the words of `command` begin `args`.
std::size_t common_words(const std::vector<std::string_view>& command,
                         std::span<const std::string> args) {
  std::size_t count = 0;
  while (count < command.size() && count < args.size() && command[count] == args[count]) {
    ++count;
  }
  return count;
}

int refuse(std::span<const std::string> args, std::size_t known) {
  if (known == args.size()) {
    std::cout << help() << std::flush;
    return kExitUsage;
  }
  if (args[known] == "-h" || args[known] == "--help") {
    std::cout << help() << std::flush;
    return kExitSuccess;
  }
  std::cerr << "msit: error: invalid choice: '" << printable(args[known])
            << "'; 'msit -h' lists the commands\n"
            << std::flush;
  return kExitUsage;
}

}  // namespace

std::span<const MsitCommand> msit_commands() {
  return kCommands;
}

int run_msit(std::span<const std::string> args) {
  std::size_t known = 0;
  for (const MsitCommand& command : kCommands) {
    const std::vector<std::string_view> words = split(command.words, ' ');
    const std::size_t common = common_words(words, args);
    if (common == words.size()) {
      return command.run(args.subspan(common));
    }
    known = std::max(known, common);
  }
  return refuse(args, known);
}

}  // namespace opdrift::compat
