#include "opdrift/compat/msaccucmp.hpp"

#include <array>
#include <iostream>

#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/msaccucmp_compare.hpp"
#include "opdrift/compat/msaccucmp_convert.hpp"
#include "opdrift/compat/msaccucmp_overflow.hpp"

namespace opdrift::compat {

namespace {

constexpr std::array kCommands = {
    CompatCommand{"compare", "compare two networks, one operator, or two files", &run_compare},
    CompatCommand{"file_compare", "compare two .npy files", &run_file_compare},
    CompatCommand{"advisor", "judge a finished result table", &run_advisor},
    CompatCommand{"convert", "convert dump files to arrays", &run_convert},
    CompatCommand{"overflow", "tell which operators overflowed", &run_overflow},
};

std::string usage() {
  std::string names;
  for (const CompatCommand& command : kCommands) {
    names += (names.empty() ? "" : ",") + std::string(command.name);
  }
  return "usage: msaccucmp [-h] {" + names + "} ...\n";
}

std::string help() {
  std::string text = usage() + "\ncommands:\n";
  for (const CompatCommand& command : kCommands) {
    text += "  " + std::string(command.name) + "\n        " + std::string(command.summary) + "\n";
  }
  return text;
}

}  // namespace

std::span<const CompatCommand> msaccucmp_commands() {
  return kCommands;
}

int run_msaccucmp(std::span<const std::string> args) {
  if (args.empty()) {
    std::cout << help() << std::flush;
    return kExitInvalidParameter;
  }
  if (args.front() == "-h" || args.front() == "--help") {
    std::cout << help() << std::flush;
    return kExitSuccess;
  }
  for (const CompatCommand& command : kCommands) {
    if (command.name == args.front()) {
      return command.run(args.subspan(1));
    }
  }
  std::cerr << usage() << "msaccucmp: error: invalid choice: '" << args.front() << "'\n"
            << std::flush;
  return kExitUsage;
}

}  // namespace opdrift::compat
