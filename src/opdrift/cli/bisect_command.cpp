#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/bisect_verbs.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"

namespace opdrift::cli {

namespace {

constexpr std::array kVerbs = {
    Command{"run", "run every probe here and name the operator", &run_bisect_run},
    Command{"keep", "smallest set of operators to keep in high precision", &run_bisect_keep},
    Command{"start", "begin a search whose probes run on a device", &run_bisect_start},
    Command{"next", "write the files and commands of the next probe", &run_bisect_next},
    Command{"judge", "judge the results of the probe and go on", &run_bisect_judge},
    Command{"good", "say that the probe was good", &run_bisect_good},
    Command{"bad", "say that the probe was bad", &run_bisect_bad},
    Command{"skip", "say that the probe cannot be made", &run_bisect_skip},
    Command{"log", "the probes so far", &run_bisect_log},
    Command{"reset", "forget the search", &run_bisect_reset},
};

constexpr std::string_view kExamples =
    "\nExamples:\n"
    "  opdrift bisect run model.onnx --target-options precision=fp16,optimize=all\n"
    "  opdrift bisect run model.onnx --target damaged.onnx --direction prefix\n"
    "  opdrift bisect keep model.onnx --target-options precision=fp16 -o config/\n"
    "  opdrift bisect start model.onnx --golden golden/\n"
    "  opdrift bisect next\n"
    "  opdrift bisect judge --from opdrift-bisect/probe_1/result/probe\n"
    "\n'opdrift bisect VERB --help' explains one verb.\n";

std::string help_text() {
  std::string text =
      "Searches the operator to blame by running parts of a model.\n"
      "Usage: opdrift bisect VERB [OPTION]...\n\nVerbs:\n";
  for (const Command& verb : kVerbs) {
    std::string line = "  " + std::string(verb.name);
    line.resize(std::max<std::size_t>(line.size() + 2, 10), ' ');
    text += line + std::string(verb.summary) + "\n";
  }
  return text + std::string(kExamples);
}

}  // namespace

int run_bisect(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    write_output(help_text());
    return kExitTrouble;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h") {
    return write_output(help_text()) ? kExitSame : kExitTrouble;
  }
  std::vector<std::string_view> names;
  for (const Command& verb : kVerbs) {
    if (verb.name == name) {
      return verb.run(arguments.subspan(1));
    }
    names.push_back(verb.name);
  }
  const std::string hint = did_you_mean(name, names);
  return report_error("bisect: unknown verb '" + printable(name) + "'" +
                      (hint.empty() ? "; " : hint + " ") + "'opdrift bisect --help' lists them");
}

}  // namespace opdrift::cli
