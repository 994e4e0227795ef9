#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/base/shell_words.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/bisect/cut_plan.hpp"
#include "opdrift/diagnose/bisect/output_rule.hpp"
#include "opdrift/diagnose/bisect/probe_files.hpp"
#include "opdrift/diagnose/bisect/session.hpp"
#include "opdrift/diagnose/bisect/session_files.hpp"
#include "opdrift/diagnose/bisect/value_folder.hpp"
#include "opdrift/diagnose/next_command.hpp"
#include "opdrift/engine/dump_store.hpp"
#include "opdrift/engine/run_model.hpp"
#include "opdrift/engine/surgery/save_part.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::diagnose {

namespace {

namespace fs = std::filesystem;
using engine::Workpiece;
using Names = std::vector<std::string>;

/// The model of a session and one cut through it.
class SessionProbeFiles {
 public:
  explicit SessionProbeFiles(const SessionState& state) : state_(state) {}

  Status open(const std::string& cut) {
    const SessionOptions& options = state_.options;
    OPDRIFT_TRY(const std::string hash, hash_of_file(options.model));
    if (hash != state_.model_hash) {
      return Error{ErrorCode::mismatch,
                   "the model changed since the search was started; 'opdrift bisect reset' and "
                   "start again",
                   options.model};
    }
    OPDRIFT_TRY(piece_, engine::open_workpiece(options.model));
    OPDRIFT_TRY(plan_, CutPlan::create(piece_, options.start, options.end));
    OPDRIFT_TRY(folder_, ValueFolder::open(options.golden));
    const std::size_t index = static_cast<std::size_t>(
        std::find(state_.cuts.begin(), state_.cuts.end(), cut) - state_.cuts.begin());
    const std::vector<std::size_t> stops = plan_.stops(options.direction);
    if (index >= stops.size()) {
      return Error{ErrorCode::not_found, "the search has no cut at '" + printable(cut) + "'"};
    }
    split_ = split_off(piece_, plan_, plan_.part(options.direction, stops[index]));
    outputs_ = split_.to_rest;
    for (const std::string& value : split_.target_finals) {
      if (std::find(outputs_.begin(), outputs_.end(), value) == outputs_.end()) {
        outputs_.push_back(value);
      }
    }
    return Unit{};
  }

  Result<Names> write(const std::string& folder, const std::string& cut) {
    OPDRIFT_CHECK_OK(load_golden(split_.to_target));
    OPDRIFT_CHECK_OK(load_inputs());
    for (const std::string& value : outputs_) {
      OPDRIFT_CHECK_OK(load_golden({value}));
    }
    OPDRIFT_TRY(const PartRun device,
                prepare_part(piece_, split_.target, outputs_, inputs_, known_, true));
    OPDRIFT_TRY(Names files, write_part(folder, "device.onnx", device));
    Names input_files = files;
    files.insert(files.begin(), folder + "/device.onnx");
    if (!split_.rest_finals.empty()) {
      OPDRIFT_CHECK_OK(load_golden(split_.rest_reads));
      OPDRIFT_CHECK_OK(load_golden(split_.rest_finals));
      OPDRIFT_TRY(const PartRun golden,
                  prepare_part(piece_, split_.rest, split_.rest_finals, inputs_, known_, true));
      OPDRIFT_CHECK_OK(engine::save_part(folder + "/golden.onnx", golden.placed));
      files.push_back(folder + "/golden.onnx");
    }
    files.push_back(folder + "/commands.sh");
    const std::string script = commands(device, input_files, cut);
    OPDRIFT_CHECK_OK(io::write_file(files.back(), script, {.mode = 0777}));
    return files;
  }

  Result<SessionProbe> judge(const std::string& cut, const std::string& results) {
    OPDRIFT_TRY(const ValueFolder target, ValueFolder::open(results));
    OPDRIFT_TRY(const OutputRule rule, OutputRule::parse(state_.options.rule));
    KnownValues values;
    Names finals = split_.target_finals;
    finals.insert(finals.end(), split_.rest_finals.begin(), split_.rest_finals.end());
    OPDRIFT_CHECK_OK(load_golden(finals));
    const bool complete = take_results(target, finals, values, false).has_value();
    if (!complete) {
      values.clear();
      OPDRIFT_CHECK_OK(load_golden(outputs_));
      OPDRIFT_CHECK_OK(take_results(target, outputs_, values, true));
      OPDRIFT_CHECK_OK(run_rest(values));
    }
    return verdict(cut, results, rule, finals, values);
  }

 private:
  ValueFolder::Wanted wanted(const std::string& value) const {
    const std::size_t maker = *piece_.graph.producer(value);
    const Names& outputs = piece_.node(maker).outputs;
    ValueFolder::Wanted wanted;
    wanted.tensor = value;
    wanted.node = piece_.dump_names[maker];
    wanted.index = static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), value) -
                                            outputs.begin());
    return wanted;
  }

  Status load_golden(const Names& values) {
    for (const std::string& value : values) {
      if (!known_.contains(value)) {
        OPDRIFT_TRY(tensor::Tensor found, folder_.find(wanted(value)));
        known_[value] = {io::onnx::ValueKind::tensor, std::move(found), ""};
      }
    }
    return Unit{};
  }

  /// Network inputs that either part reads.
  Status load_inputs() {
    for (const io::onnx::ValueInfo& info : piece_.placed.model.graph.inputs) {
      const auto reads = [&](std::size_t node) {
        const Names& read = piece_.graph.reads(node);
        return (split_.target[node] || split_.rest[node]) &&
               std::find(read.begin(), read.end(), info.name) != read.end();
      };
      for (std::size_t node = 0; node < piece_.graph.size(); ++node) {
        if (reads(node)) {
          ValueFolder::Wanted wanted;
          wanted.tensor = info.name;
          OPDRIFT_TRY(tensor::Tensor found, folder_.find(wanted));
          inputs_.push_back({info.name, std::move(found)});
          break;
        }
      }
    }
    return Unit{};
  }

  Status take_results(const ValueFolder& target, const Names& names, KnownValues& values,
                      bool numbered) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      ValueFolder::Wanted wanted = this->wanted(names[i]);
      wanted.like = &known_.at(names[i]).tensor->desc;
      const auto place = std::find(outputs_.begin(), outputs_.end(), names[i]);
      wanted.by_position = numbered || split_.rest_finals.empty();
      wanted.position = static_cast<std::size_t>(place - outputs_.begin());
      OPDRIFT_TRY(tensor::Tensor found, target.find(wanted));
      values[names[i]] = {io::onnx::ValueKind::tensor, std::move(found), ""};
    }
    return Unit{};
  }

  /// Goes on from the device's values in the golden runtime.
  Status run_rest(KnownValues& values) {
    if (split_.rest_finals.empty()) {
      return Unit{};
    }
    OPDRIFT_CHECK_OK(load_golden(split_.rest_reads));
    OPDRIFT_CHECK_OK(load_inputs());
    KnownValues fed = known_;
    for (const auto& [name, value] : values) {
      fed[name] = value;
    }
    OPDRIFT_TRY(const auto runtime, engine::Runtime::load(state_.options.library));
    OPDRIFT_TRY(PartRun rest, prepare_part(piece_, split_.rest, split_.rest_finals, inputs_, fed));
    OPDRIFT_TRY(std::vector<engine::RunValue> made,
                engine::run_model(*runtime, std::move(rest.placed), {}, std::move(rest.inputs),
                                  split_.rest_finals, state_.options.folder));
    for (std::size_t i = 0; i < made.size(); ++i) {
      values[split_.rest_finals[i]] = std::move(made[i]);
    }
    return Unit{};
  }

  Result<SessionProbe> verdict(const std::string& cut, const std::string& results,
                               const OutputRule& rule, const Names& finals,
                               const KnownValues& values) const {
    SessionProbe probe{cut, Outcome::good, "no output depends on it", results};
    for (const std::string& name : finals) {
      const engine::RunValue& value = values.at(name);
      if (!value.tensor) {
        return Error{ErrorCode::unsupported, "output '" + printable(name) + "' is no tensor"};
      }
      OPDRIFT_TRY(const OutputRule::Judged judged,
                  rule.judge(*known_.at(name).tensor, *value.tensor));
      probe.reason = name + ": " + judged.reason;
      if (!judged.good) {
        probe.outcome = Outcome::bad;
        return probe;
      }
    }
    return probe;
  }

  std::string commands(const PartRun& device, const Names& input_files,
                       const std::string& cut) const {
    std::string shapes;
    Names files;
    for (std::size_t i = 0; i < device.inputs.size(); ++i) {
      shapes += (shapes.empty() ? "" : ";") + device.inputs[i].name + ":" +
                tensor::to_string(device.inputs[i].tensor.desc.shape);
      files.push_back("inputs/" + fs::path(input_files[i]).filename().string());
    }
    const graph::AtcOptions base = graph::parse_atc_command("atc " + state_.options.atc);
    std::vector<AtcSetting> settings = {{"model", "device.onnx"}, {"framework", "5"}};
    if (!shapes.empty()) {
      settings.emplace_back("input_shape", shapes);
    }
    std::string atc = next_atc_command(base, "device", settings, {"weight", "input_shape_range"});
    if (!base.get("soc_version")) {
      atc += " --soc_version=\"$SOC_VERSION\"";
    }
    const std::string built =
        base.get("output") ? fs::path(*base.get("output")).stem().string() : "model";
    const Names run = {"python3",
                       "-m",
                       "ais_bench",
                       "--model",
                       built + "_device.om",
                       "--input",
                       join(files, ","),
                       "--output",
                       "result",
                       "--output_dirname",
                       "probe",
                       "--outfmt",
                       "NPY"};
    std::string text = "#!/bin/sh\n# " + std::string(to_string(state_.options.direction)) +
                       " at operator " + printable(cut) + "\nset -e\ncd \"$(dirname \"$0\")\"\n";
    if (!base.get("soc_version")) {
      text += ": \"${SOC_VERSION:?set it to the version of the device}\"\n";
    }
    return text + atc + "\nmkdir -p result\n" + shell_command(run) +
           "\n# then, from where the search was started:\n#   opdrift bisect judge --from "
           "PROBE_FOLDER/result/probe\n";
  }

  const SessionState& state_;
  Workpiece piece_;
  CutPlan plan_;
  ValueFolder folder_;
  Split split_;
  Names outputs_;  // of the device's part
  KnownValues known_;
  std::vector<engine::NamedTensor> inputs_;
};

Result<SessionProbe> judge_pair(const SessionState& state, const std::string& cut,
                                const std::vector<std::string>& from) {
  OPDRIFT_TRY(const OutputRule rule, OutputRule::parse(state.options.rule));
  OPDRIFT_TRY(const tensor::Tensor golden, read_value(from[1], nullptr));
  OPDRIFT_TRY(const tensor::Tensor target, read_value(from[0], &golden.desc));
  OPDRIFT_TRY(const OutputRule::Judged judged, rule.judge(golden, target));
  return SessionProbe{cut, judged.good ? Outcome::good : Outcome::bad, judged.reason,
                      from[0] + " " + from[1]};
}

}  // namespace

Result<SessionStep> next_step(const SessionState& state, bool write) {
  OPDRIFT_TRY(const Search search, search_of(state));
  const std::optional<std::size_t> cut = search.next();
  if (cut && write) {
    return probe_at(state, state.cuts[*cut]);
  }
  SessionStep step;
  step.answer = search.answer();
  step.cut = cut ? state.cuts[*cut] : "";
  return step;
}

Result<SessionStep> probe_at(const SessionState& state, const std::string& cut) {
  OPDRIFT_TRY(const Search search, search_of(state));
  SessionStep step;
  step.answer = search.answer();
  step.cut = cut;
  step.folder = state.options.folder + "/probe_" + std::to_string(state.probes.size() + 1);
  SessionProbeFiles files(state);
  OPDRIFT_CHECK_OK(files.open(cut));
  OPDRIFT_TRY(step.files, files.write(step.folder, cut));
  return step;
}

Result<SessionProbe> judge_results(const SessionState& state, const std::string& cut,
                                   const std::vector<std::string>& from) {
  std::error_code failed;
  if (from.size() == 2) {
    return judge_pair(state, cut, from);
  }
  if (from.size() != 1 || !fs::is_directory(from.front(), failed)) {
    return Error{ErrorCode::invalid_argument,
                 "--from: expected a folder with results, or a file of the target and one of the "
                 "golden"};
  }
  SessionProbeFiles files(state);
  OPDRIFT_CHECK_OK(files.open(cut));
  return files.judge(cut, from.front());
}

}  // namespace opdrift::diagnose
