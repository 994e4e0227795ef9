#include "opdrift/diagnose/offline/locate.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "opdrift/base/shell_words.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/bisect/session.hpp"
#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/engine/surgery/workpiece.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;
using Answer = diagnose::Outcome;

class Locator {
 public:
  Locator(const LocateJob& job, DeviceSession& device) : job_(job), device_(device) {}

  Outcome<Located> run(const std::vector<Alarm>& alarms) {
    OPDRIFT_TRY(piece_, engine::open_workpiece(job_.model));
    if (!find_end(alarms)) {
      return std::move(found_);
    }
    std::vector<std::size_t> starts;
    const engine::NodeSet leads = upstream(piece_.graph, std::vector<std::size_t>{end_});
    for (std::size_t node = 0; node < piece_.graph.size(); ++node) {
      if (leads[node] && piece_.graph.before(node).empty()) {
        starts.push_back(node);
      }
    }
    for (const std::size_t start : starts) {
      OPDRIFT_CHECK_OK(search(start));
      if (found_.waiting || end_alone_) {
        break;
      }
    }
    if (!found_.waiting) {
      OPDRIFT_CHECK_OK(write());
    }
    return std::move(found_);
  }

 private:
  const std::string& name(std::size_t node) const { return piece_.graph.name(node); }

  /// The first operator that is named by an alarm. Rows of network inputs name none.
  bool find_end(const std::vector<Alarm>& alarms) {
    std::set<std::string> passed;
    for (const Alarm& alarm : alarms) {
      const std::string golden(trim(split(alarm.golden, ',').front()));
      const auto node = engine::find_node(piece_, golden, "to end at");
      if (node) {
        end_ = *node;
        return true;
      }
      if (passed.insert(golden).second) {
        found_.notes.push_back(
            "'" + printable(golden) +
            "' is beyond a limit but no operator of the golden model: the search "
            "begins at the next row");
      }
    }
    return false;
  }

  Outcome<SessionState> session(std::size_t start) const {
    const std::string folder = job_.folder + "/" + std::to_string(start);
    std::error_code problem;
    if (fs::exists(folder + "/state.json", problem)) {
      return Outcome<SessionState>(open_session(folder));
    }
    SessionOptions options;
    options.folder = folder;
    options.model = job_.model;
    options.golden = job_.golden;
    options.start = name(start);
    options.end = name(end_);
    options.library = job_.library;
    return Outcome<SessionState>(start_session(options));
  }

  Done search(std::size_t start) {
    OPDRIFT_TRY(SessionState state, session(start));
    for (const SessionProbe& known : state.probes) {
      note_end(known.cut, known);
    }
    if (!end_alone_ && !answered(state, state.cuts.back())) {
      OPDRIFT_CHECK_OK(probe_end(state));
    }
    while (!found_.waiting && !end_alone_) {
      OPDRIFT_TRY(const SessionStep step, next_step(state, false));
      if (step.cut.empty()) {
        conclude(state, step.answer);
        return Unit{};
      }
      OPDRIFT_CHECK_OK(probe(state, step.cut));
    }
    return Unit{};
  }

  /// E alone, once for all starts.
  Done probe_end(SessionState& state) {
    const std::string& end = state.cuts.back();
    if (end_answer_) {
      SessionProbe same = *end_answer_;
      same.cut = end;
      return Done(record_probe(state, std::move(same)));
    }
    return probe(state, end);
  }

  static bool answered(const SessionState& state, const std::string& cut) {
    return std::any_of(state.probes.begin(), state.probes.end(),
                       [&](const SessionProbe& probe) { return probe.cut == cut; });
  }

  Done probe(SessionState& state, const std::string& cut) {
    Result<SessionStep> step = probe_at(state, cut);
    SessionProbe answer{cut, Answer::skip, "", ""};
    if (step) {
      OPDRIFT_TRY(const Trial trial, try_part(*step, cut));
      if (trial.found.empty() && trial.problem.empty()) {
        found_.waiting = true;
        return Unit{};
      }
      answer.reason = trial.problem;
      if (trial.problem.empty()) {
        const auto judged = judge_results(state, cut, {trial.found});
        answer = judged ? *judged : SessionProbe{cut, Answer::skip, judged.error().message, ""};
      }
    } else {
      answer.reason = step.error().message;
    }
    if (answer.outcome == Answer::skip) {
      found_.notes.push_back("the part from '" + printable(cut) +
                             "' on was passed over: " + answer.reason);
    }
    note_end(cut, answer);
    return Done(record_probe(state, std::move(answer)));
  }

  void note_end(const std::string& cut, const SessionProbe& answer) {
    if (cut != name(end_)) {
      return;
    }
    end_answer_ = answer;
    if (answer.outcome == Answer::bad) {
      end_alone_ = true;
      found_.intervals = {{cut, cut}};
    }
  }

  Outcome<Trial> try_part(const SessionStep& step, const std::string& cut) {
    const std::string title = "part of the golden model from " + cut + " to " + name(end_);
    DeviceStep run;
    run.title = "its outputs";
    run.folder = step.folder + "/result";
    run.device = job_.device;
    run.dump = false;
    std::copy_if(step.files.begin(), step.files.end(), std::back_inserter(run.inputs),
                 [](const std::string& file) { return file.ends_with(".bin"); });
    OPDRIFT_TRY(Trial trial,
                device_.trial(
                    build_step(job_.build, step.folder + "/device.onnx", step.folder, title), run));
    const std::vector<std::string> outputs =
        trial.found.empty() ? std::vector<std::string>{} : find_output_files(trial.found);
    if (!outputs.empty()) {
      trial.found = fs::path(outputs.front()).parent_path().string();
    }
    return trial;
  }

  void conclude(const SessionState& state, const SearchAnswer& answer) {
    const Interval interval{state.cuts[answer.first], name(end_)};
    found_.intervals.push_back(interval);
    if (answer.first != answer.last) {
      found_.notes.push_back("probes that were passed over leave '" +
                             printable(state.cuts[answer.first]) + "' to '" +
                             printable(state.cuts[answer.last]) + "'");
    }
    if (answer.assumed) {
      found_.notes.push_back("no part that was tried is bad: that the one from '" +
                             printable(interval.first) +
                             "' on is rests on the whole network being bad. To try it: " +
                             shell_command({"opdrift", "bisect", "next", "--state",
                                            state.options.folder, "--cut", interval.first}));
    }
    for (const auto& [bad, good] : answer.contradictions) {
      found_.notes.push_back("not monotone: bad from '" + printable(state.cuts[bad]) +
                             "' on though good from '" + printable(state.cuts[good]) + "' on");
    }
  }

  Done write() {
    std::string text;
    std::set<std::string> lines;
    std::erase_if(found_.intervals, [&](const Interval& interval) {
      return !lines.insert(interval.first + ":" + interval.last).second;
    });
    for (const Interval& interval : found_.intervals) {
      text += interval.first + ":" + interval.last + "\n";
    }
    return Done(io::write_file(job_.file, text));
  }

  const LocateJob& job_;
  DeviceSession& device_;
  engine::Workpiece piece_;
  std::size_t end_ = 0;
  std::optional<SessionProbe> end_answer_;
  bool end_alone_ = false;
  Located found_;
};

}  // namespace

Outcome<Located> locate_error(const LocateJob& job, const std::vector<Alarm>& alarms,
                              DeviceSession& device) {
  if (alarms.empty()) {
    return Located{};
  }
  return Locator(job, device).run(alarms);
}

}  // namespace opdrift::diagnose::offline
