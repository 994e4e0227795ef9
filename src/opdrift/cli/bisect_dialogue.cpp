#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/bisect_verbs.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/diagnose/bisect/session.hpp"

namespace opdrift::cli {

namespace {

using diagnose::Outcome;
using diagnose::SessionProbe;
using diagnose::SessionState;
using diagnose::SessionStep;

constexpr const char* kDefaultFolder = "opdrift-bisect";

constexpr const char* kStartFooter =
    "Examples:\n"
    "  opdrift dump m.onnx --input x=image.npy -o golden/\n"
    "  opdrift bisect start m.onnx --golden golden/ --atc='--soc_version=Ascend310P3'\n"
    "  opdrift bisect next\n"
    "  sh opdrift-bisect/probe_1/commands.sh\n"
    "  opdrift bisect judge --from opdrift-bisect/probe_1/result/probe\n"
    "\nThe search needs the tensors of all operators of a golden run.\n";

constexpr const char* kFromFooter =
    "Examples:\n"
    "  opdrift bisect judge --from opdrift-bisect/probe_1/result/probe\n"
    "  opdrift bisect judge --from target.npy golden.npy\n"
    "  opdrift bisect bad --cut conv3\n";

void add_folder(CLI::App& app, std::string& folder) {
  folder = kDefaultFolder;
  app.add_option("--state", folder, "folder of the search")->capture_default_str();
}

/// How the search stands: the next question, or the answer.
std::string standing(const SessionState& state, const SessionStep& step) {
  const bool suffix = state.options.direction == diagnose::Direction::suffix;
  std::string text;
  for (const auto& [bad, good] : step.answer.contradictions) {
    text += "note    not monotone: bad at '" + printable(state.cuts[bad]) + "' though good at '" +
            printable(state.cuts[good]) + "'; there may be two places, or errors that cancel\n";
  }
  if (!step.cut.empty()) {
    return text + "next    the part " + (suffix ? "from '" : "up to '") + printable(step.cut) +
           "'\n";
  }
  const std::size_t first = step.answer.first;
  const std::size_t last = step.answer.last;
  text += "answer  '" + printable(state.cuts[first]) + "'";
  if (last > first) {
    text += " to '" + printable(state.cuts[last]) + "': cuts between them were skipped";
  }
  text += suffix ? "\n        the last place from where on the target is bad\n"
                 : "\n        the first place up to where the target is bad\n";
  if (step.answer.assumed) {
    const std::size_t largest = suffix ? first : last;
    text += "note    no probe was bad: the answer rests on the assumption that the part " +
            std::string(suffix ? "from '" : "up to '") + printable(state.cuts[largest]) +
            "' is;\n        'opdrift bisect next --cut " + printable(state.cuts[largest]) +
            "' makes that probe\n";
  }
  return text;
}

int show(const SessionState& state, const std::string& before) {
  const auto step = diagnose::next_step(state, false);
  if (!step) {
    return report_error(step.error());
  }
  return write_output(before + standing(state, *step)) ? kExitSame : kExitTrouble;
}

std::string line_of(const SessionProbe& probe) {
  std::string text = std::string(to_string(probe.outcome)) + "  " + printable(probe.cut);
  text += probe.reason.empty() ? "" : "  " + printable(probe.reason);
  return text + "\n";
}

/// The cut an answer is for: the one named, else the one asked for.
Result<std::string> answered_cut(const SessionState& state, const std::string& named) {
  if (!named.empty()) {
    return named;
  }
  OPDRIFT_TRY(const SessionStep step, diagnose::next_step(state, false));
  if (step.cut.empty()) {
    return Error{ErrorCode::invalid_argument, "the search is over; --cut NAME adds a probe"};
  }
  return step.cut;
}

struct AnswerOptions {
  std::string folder;
  std::string cut;
  std::vector<std::string> from;
};

/// Judges results where there are some; `said` is what the user says of them.
Result<SessionProbe> probe_of(const SessionState& state, const AnswerOptions& options,
                              std::optional<Outcome> said) {
  OPDRIFT_TRY(const std::string cut, answered_cut(state, options.cut));
  if (options.from.empty() && !said) {
    return Error{ErrorCode::invalid_argument, "--from: expected results to judge"};
  }
  if (options.from.empty() || said == Outcome::skip) {
    return SessionProbe{cut, *said, "", ""};
  }
  OPDRIFT_TRY(SessionProbe probe, diagnose::judge_results(state, cut, options.from));
  if (said && probe.outcome != *said) {
    return Error{ErrorCode::mismatch, "the results are " + std::string(to_string(probe.outcome)) +
                                          " (" + printable(probe.reason) +
                                          "); say 'judge', or leave --from out"};
  }
  return probe;
}

int answer(std::span<const std::string> arguments, std::string_view verb,
           std::optional<Outcome> said) {
  CLI::App app("Answers a probe of the search.", "opdrift bisect " + std::string(verb));
  app.footer(kFromFooter);
  AnswerOptions options;
  add_folder(app, options.folder);
  app.add_option("--cut", options.cut, "operator the probe is cut at; without: the one asked for");
  app.add_option("--from", options.from,
                 "results: a folder, or a file of the target and one of the golden")
      ->expected(1, 2);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  Result<SessionState> state = diagnose::open_session(options.folder);
  if (!state) {
    return report_error(state.error());
  }
  const Result<SessionProbe> probe = probe_of(*state, options, said);
  if (!probe) {
    return report_error(probe.error());
  }
  if (const Status recorded = diagnose::record_probe(*state, *probe); !recorded) {
    return report_error(recorded.error());
  }
  return show(*state, line_of(*probe));
}

}  // namespace

int run_bisect_start(std::span<const std::string> arguments) {
  CLI::App app("Begins a search whose parts run on a device.", "opdrift bisect start");
  app.footer(kStartFooter);
  diagnose::SessionOptions options;
  std::string direction = "suffix";
  app.add_option("MODEL", options.model, "ONNX model")->required();
  app.add_option("--golden", options.golden, "folder with the tensors of a golden run")->required();
  app.add_option("--start", options.start, "operator to begin at; without: all that read an input");
  app.add_option("--end", options.end,
                 "operator whose outputs are judged; without: the network's outputs");
  app.add_option("--direction", direction,
                 "suffix: the device runs the end of the network; prefix: its beginning")
      ->capture_default_str();
  app.add_option("--rule", options.rule,
                 "when outputs are good: cosine=0.999,rel_l2=0.01; without: the limits of msit");
  app.add_option("--atc", options.atc, "options that every atc command gets");
  app.add_option("--onnxruntime", options.library, "path of libonnxruntime.so");
  add_folder(app, options.folder);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto wanted = diagnose::direction_by_name(direction);
  if (!wanted) {
    return report_error("--direction '" + printable(direction) + "': expected suffix or prefix");
  }
  options.direction = *wanted;
  const auto state = diagnose::start_session(options);
  if (!state) {
    return report_error(state.error());
  }
  return show(*state, "cuts    " + std::to_string(state->cuts.size()) + ", from '" +
                          printable(state->cuts.front()) + "' to '" +
                          printable(state->cuts.back()) + "'\n");
}

int run_bisect_next(std::span<const std::string> arguments) {
  CLI::App app("Writes the next probe: models, inputs and commands.", "opdrift bisect next");
  std::string folder;
  std::string cut;
  add_folder(app, folder);
  app.add_option("--cut", cut, "operator to cut at instead of the one the search asks for");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto state = diagnose::open_session(folder);
  if (!state) {
    return report_error(state.error());
  }
  const auto step =
      cut.empty() ? diagnose::next_step(*state, true) : diagnose::probe_at(*state, cut);
  if (!step) {
    return report_error(step.error());
  }
  std::string text = standing(*state, *step);
  for (const std::string& file : step->files) {
    text += "wrote   " + printable(file) + "\n";
  }
  return write_output(text) ? kExitSame : kExitTrouble;
}

int run_bisect_good(std::span<const std::string> arguments) {
  return answer(arguments, "good", Outcome::good);
}

int run_bisect_bad(std::span<const std::string> arguments) {
  return answer(arguments, "bad", Outcome::bad);
}

int run_bisect_skip(std::span<const std::string> arguments) {
  return answer(arguments, "skip", Outcome::skip);
}

int run_bisect_judge(std::span<const std::string> arguments) {
  return answer(arguments, "judge", std::nullopt);
}

int run_bisect_log(std::span<const std::string> arguments) {
  CLI::App app("Lists the probes so far, as commands that repeat them.", "opdrift bisect log");
  std::string folder;
  add_folder(app, folder);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto state = diagnose::open_session(folder);
  if (!state) {
    return report_error(state.error());
  }
  return show(*state, diagnose::replay_script(*state));
}

int run_bisect_reset(std::span<const std::string> arguments) {
  CLI::App app("Forgets the search and removes its files.", "opdrift bisect reset");
  std::string folder;
  add_folder(app, folder);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  if (const Status done = diagnose::reset_session(folder); !done) {
    return report_error(done.error());
  }
  return kExitSame;
}

}  // namespace opdrift::cli
