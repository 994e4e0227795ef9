#include "opdrift/cli/commands.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/version.hpp"
#include "opdrift/compat/msaccucmp.hpp"
#include "opdrift/compat/msit.hpp"
#include "opdrift/compat/msprobe.hpp"

namespace opdrift::cli {

namespace {

constexpr Command kCommands[] = {
    {"compare", "compare two dumps operator by operator", &run_compare},
    {"judge", "apply another rule to a result, without the tensors", &run_judge},
    {"report", "a result as a page for a browser, or in other formats", &run_report},
    {"trends", "when operators begin to drift over steps, ranks or runs", &run_trends},
    {"serve", "the results below a folder in a browser", &run_serve},
    {"check-op", "run every operator alone on the target's inputs", &run_check_op},
    {"repro", "pack one operator with its data of both runs", &run_repro},
    {"dump", "run an ONNX model and write every operator's tensors", &run_dump},
    {"bisect", "search the operator to blame by running parts of a model", &run_bisect},
    {"graph", "operators of a model with inputs, outputs and attributes", &run_graph},
    {"extract", "cut a sub-graph out of an ONNX model", &run_extract},
    {"instrument", "make every operator's tensors outputs of an ONNX model", &run_instrument},
    {"info", "what a dump file or folder or a compiled model holds", &run_info},
    {"om2json", "graph JSON of an offline model, as atc --mode=1 makes it", &run_om2json},
    {"stats", "minimum, maximum, mean, NaN and Inf of every tensor", &run_stats},
    {"convert", "turn dumps into npy, npz, bin, txt, pt or statistics", &run_convert},
    {"overflow", "explain the overflow records of a device dump", &run_overflow},
    {"compare-outputs", "which boundary of a network the error comes in at", &run_compare_outputs},
    {"advise", "what a finished msaccucmp result table means", &run_advise},
    {"diagnose", "find the cause, the operators and what repairs it", &run_diagnose},
    {"classify-input", "what was done to a network input", &run_classify_input},
    {"shell", "look at dumps, graphs and results interactively", &run_shell},
    {"list", "formats, metrics and reports this build knows", &run_list},
    {"msaccucmp", "drop-in for msaccucmp.py, same options and files", &compat::run_msaccucmp},
    {"msprobe", "drop-in for msprobe compare and parse", &compat::run_msprobe},
    {"msit", "drop-in for msit debug", &compat::run_msit},
    {"precision_tool", "drop-in for precision_tool: its start words, then the shell",
     &run_precision_tool},
};

constexpr std::string_view kIntroduction =
    "opdrift finds the operator to blame when two runs of a neural network disagree.\n\n"
    "Usage: opdrift COMMAND [OPTION]...\n\n"
    "Commands:\n";

constexpr std::string_view kExamples =
    "\nExamples:\n"
    "  opdrift compare npu_dump/ cpu_dump/ -o result/\n"
    "  opdrift compare npu_dump/ golden_npy/ --graph model.json\n"
    "  opdrift dump model.onnx --input x=input.npy -o golden/\n"
    "  opdrift msaccucmp compare -m npu_dump -g golden -f model.json -out result\n"
    "\nExit codes: 0 the sides agree, 1 they differ, 2 trouble (bad option, unreadable\n"
    "input, nothing compared, interrupted). The front ends of other tools keep those\n"
    "tools' codes.\n"
    "\n'opdrift COMMAND --help' explains one command.\n";

std::string help_text() {
  std::string text(kIntroduction);
  for (const Command& command : kCommands) {
    std::string line = "  " + std::string(command.name);
    line.resize(std::max<std::size_t>(line.size() + 2, 18), ' ');
    text += line + std::string(command.summary) + "\n";
  }
  return text + std::string(kExamples);
}

std::string_view base_name(std::string_view path) {
  const std::size_t cut = path.rfind('/');
  return cut == std::string_view::npos ? path : path.substr(cut + 1);
}

const Command* find_command(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kCommands), std::end(kCommands),
                   [&](const Command& command) { return command.name == name; });
  return found == std::end(kCommands) ? nullptr : found;
}

/// The front end a link to the executable stands for, with .py behind its name or not.
const Command* command_of_link(std::string_view program) {
  std::string_view name = base_name(program);
  if (name.size() > 3 && name.substr(name.size() - 3) == ".py") {
    name.remove_suffix(3);
  }
  constexpr std::string_view kLinks[] = {"msaccucmp", "msprobe", "msit", "precision_tool"};
  const bool known = std::find(std::begin(kLinks), std::end(kLinks), name) != std::end(kLinks);
  return known ? find_command(name) : nullptr;
}

int unknown_command(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
  }
  const std::string hint = did_you_mean(name, names);
  report_error("unknown command '" + printable(name) + "'" + (hint.empty() ? "; " : hint + " ") +
               "'opdrift --help' lists the commands");
  return kExitTrouble;
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

int run_program(std::span<const std::string> arguments) {
  install_interrupt_handler();
  if (!arguments.empty()) {
    if (const Command* command = command_of_link(arguments[0])) {
      return command->run(arguments.subspan(1));
    }
  }
  if (arguments.size() < 2) {
    write_output(help_text());
    return kExitTrouble;
  }
  const std::string& name = arguments[1];
  if (name == "--help" || name == "-h" || name == "help") {
    return write_output(help_text()) ? kExitSame : kExitTrouble;
  }
  if (name == "--version" || name == "-V") {
    return write_output(std::string("opdrift ") + kVersion + "\n") ? kExitSame : kExitTrouble;
  }
  const Command* command = find_command(name);
  return command == nullptr ? unknown_command(name) : command->run(arguments.subspan(2));
}

}  // namespace opdrift::cli
