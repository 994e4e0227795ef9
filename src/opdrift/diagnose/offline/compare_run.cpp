#include "opdrift/diagnose/offline/compare_run.hpp"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/offline/aipp.hpp"
#include "opdrift/diagnose/offline/custom_ops.hpp"
#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/diagnose/offline/device_memory.hpp"
#include "opdrift/diagnose/offline/device_run.hpp"
#include "opdrift/diagnose/offline/golden_run.hpp"
#include "opdrift/diagnose/offline/locate.hpp"
#include "opdrift/diagnose/offline/net_compare.hpp"
#include "opdrift/diagnose/offline/prepare.hpp"
#include "opdrift/diagnose/offline/single_operators.hpp"
#include "opdrift/diagnose/offline/whole_network.hpp"
#include "opdrift/diagnose/offline/workspace.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/pipeline/convert/convert.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;
using pipeline::RunLogLevel;

/// What a golden run was made of, and what it made.
struct GoldenSide {
  std::string model;
  GoldenDump dump;
};

void remove_results(const std::string& folder) {
  const auto names = io::list_files(folder);
  for (const std::string& name : names ? *names : std::vector<std::string>{}) {
    std::error_code ignored;
    if (name.starts_with("result_") && name.ends_with(".csv")) {
      fs::remove(folder + "/" + name, ignored);
    }
  }
}

class Comparison {
 public:
  explicit Comparison(const CompareOptions& options) : options_(options) {}

  Outcome<CompareEnd> run() {
    OPDRIFT_CHECK_OK(check_options(options_));
    if (options_.rule.empty()) {
      // Before a folder is made.
      OPDRIFT_TRY([[maybe_unused]] const ModelKind golden, model_kind(options_.golden_model));
      OPDRIFT_TRY([[maybe_unused]] const ModelKind target, model_kind(options_.target_model));
    }
    const std::string key = options_key();
    OPDRIFT_TRY(workspace_, open_workspace(options_.output, key));
    end_.folder = workspace_.folder;
    if (workspace_.resumed) {
      info("going on in " + workspace_.folder);
    }
    if (!options_.rule.empty()) {
      OPDRIFT_CHECK_OK(compare_paths());
      return std::move(end_);
    }
    DeviceSession session(workspace_.folder, options_.cancel,
                          [this](const std::string& text) { info(text); });
    OPDRIFT_TRY(prepared_, prepare_comparison(options_, workspace_, session));
    if (!session.waiting()) {
      for (const ShapeRun& shape : prepared_.shapes) {
        OPDRIFT_CHECK_OK(compare_shape(shape, session));
      }
      OPDRIFT_CHECK_OK(summarise());
    }
    if (session.waiting()) {
      OPDRIFT_CHECK_OK(session.write_script(options_.again));
      OPDRIFT_CHECK_OK(mark_waiting(workspace_, key));
      end_.waiting = true;
      return std::move(end_);
    }
    unmark_waiting(workspace_);
    return std::move(end_);
  }

 private:
  void info(const std::string& text) const { say(RunLogLevel::info, text); }
  void say(RunLogLevel level, const std::string& text) const {
    if (options_.log) {
      options_.log(level, text);
    }
  }

  std::string options_key() const {
    std::vector<std::string> words = options_.inputs;
    words.insert(
        words.end(),
        {options_.golden_model, options_.target_model, options_.input_shape, options_.shape_range,
         options_.custom_op, options_.fusion_switch, options_.quantised, options_.output_size,
         options_.device, options_.dump ? "dump" : "", options_.optimise ? "optimise" : "",
         options_.convert ? "convert" : "", options_.advisor ? "advisor" : "",
         options_.localise ? "locat" : "", options_.single_op ? "single_op" : "",
         options_.target_dump, options_.golden_dump});
    return command_key(words);
  }

  Done compare_paths() {
    std::error_code problem;
    if (fs::is_directory(options_.rule, problem)) {
      return failed(Number::not_supported,
                    "--ops-json: expected a file; comparisons by the mappings of MindIE are not "
                    "offered",
                    options_.rule);
    }
    NetworkJob job;
    job.target = options_.target_path;
    job.golden = options_.golden_path;
    job.graph = options_.rule;
    job.folder = workspace_.folder;
    return compare_network("", std::move(job));
  }

  Done compare_shape(const ShapeRun& run, DeviceSession& session) {
    if (options_.convert && !run.target_dump.empty()) {
      OPDRIFT_CHECK_OK(convert_dumps(run.target_dump));
    }
    NetworkJob job;
    job.target = run.target_dump;
    job.graph = options_.target_model;
    job.quantised = options_.quantised;
    job.folder = run.folder;
    job.output_nodes = prepared_.output_nodes;
    if (prepared_.golden_on_device()) {
      if (!options_.dump) {
        return failed(
            Number::not_supported,
            "--dump False needs a golden ONNX model; leave it out for two offline models");
      }
      job.golden = run.golden_dump;
      job.close_fusion = prepared_.golden_path;
      return compare_network(run.name, std::move(job));
    }
    if (!prepared_.golden_is_onnx()) {
      job.golden = run.golden_dump;
      return compare_network(run.name, std::move(job));
    }
    if (workspace_.resumed && options_.localise) {
      remove_results(run.folder);  // of the runs that waited for a probe
    }
    OPDRIFT_TRY(const GoldenSide golden, golden_side(run));
    job.golden = run.folder + "/dump_data/onnx";
    if (options_.single_op) {
      return compare_single(run, golden, session);
    }
    if (!options_.dump) {
      return compare_outputs(run, golden.dump);
    }
    OPDRIFT_CHECK_OK(compare_network(run.name, std::move(job)));
    return options_.localise ? locate(run, golden, session) : Done(Unit{});
  }

  Done compare_single(const ShapeRun& run, const GoldenSide& golden, DeviceSession& session) {
    SingleJob job;
    job.model = golden.model;
    job.golden = run.folder + "/dump_data/onnx";
    job.folder = run.folder + "/single_op";
    job.device = options_.device;
    job.output_nodes = prepared_.output_nodes;
    job.max_elements = static_cast<std::uint64_t>(options_.max_elements);
    job.memory = free_device_memory(options_.device, run.folder + "/npu-smi.log");
    job.cancel = options_.cancel;
    job.build = part_build(prepared_.target, options_.tool_kit);
    OPDRIFT_TRY(SingleEnd end, compare_single_operators(job, session));
    if (end.waiting) {
      return Unit{};
    }
    for (const std::string& note : end.notes) {
      say(RunLogLevel::warning, note);
    }
    CsvReport report;
    report.csv = std::move(end.csv);
    report.table = std::move(end.table);
    report.alarms = std::move(end.alarms);
    keep(run.name, std::move(report));
    return Unit{};
  }

  /// Of the table that was just kept.
  Done locate(const ShapeRun& run, const GoldenSide& golden, DeviceSession& session) {
    LocateJob job;
    job.model = absolute_path(golden.model);
    job.golden = run.folder + "/dump_data/onnx";
    job.folder = run.folder + "/locat";
    job.file = run.folder + "/error_interval_info.txt";
    job.device = options_.device;
    job.library = options_.library;
    job.build = part_build(prepared_.target, options_.tool_kit);
    OPDRIFT_TRY(const Located located,
                locate_error(job, analyse(tables_.back().table, Strategy::all), session));
    for (const std::string& note : located.notes) {
      say(RunLogLevel::warning, note);
    }
    for (const Interval& interval : located.intervals) {
      info("the error comes in from " + printable(interval.first) + " to " +
           printable(interval.last));
    }
    if (!located.intervals.empty()) {
      info("the intervals are in " + job.file);
    }
    return Unit{};
  }

  Done convert_dumps(const std::string& folder) {
    OPDRIFT_TRY(const std::vector<std::string> paths, pipeline::files_to_convert(folder));
    pipeline::ConvertOptions convert;
    convert.output_folder = folder + "_bin2npy";
    convert.cancel = options_.cancel;
    std::error_code problem;
    fs::create_directories(convert.output_folder, problem);
    std::size_t failures = 0;
    for (const pipeline::FileConversion& file : pipeline::convert_files(paths, convert)) {
      if (file.error || !file.failures.empty()) {
        ++failures;
      }
    }
    info("arrays of the device dumps are in " + convert.output_folder);
    if (failures != 0) {
      say(RunLogLevel::warning,
          std::to_string(failures) + " device dump(s) could not be converted as a whole");
    }
    return Unit{};
  }

  Outcome<GoldenSide> golden_side(const ShapeRun& run) {
    GoldenRun golden;
    golden.model = options_.golden_model;
    golden.inputs = run.inputs.golden;
    golden.dump_folder = run.folder + "/dump_data/onnx";
    golden.model_folder = run.folder + "/model";
    golden.optimise = options_.optimise;
    golden.all_outputs = options_.dump;
    golden.library = options_.library;
    golden.version = options_.version;
    golden.cancel = options_.cancel;
    if (prepared_.target.image()) {
      OPDRIFT_TRY(golden.inputs,
                  aipp_golden_inputs(run.target_dump, run.wanted, run.folder + "/golden_input"));
    }
    OPDRIFT_TRY(const std::vector<std::string> custom, parse_custom_ops(options_.custom_op));
    if (!custom.empty()) {
      OPDRIFT_TRY(CustomModel without, take_out_custom_ops(options_.golden_model, custom,
                                                           run.target_dump, golden.model_folder));
      golden.model = without.model;
      golden.inputs.insert(golden.inputs.end(), without.inputs.begin(), without.inputs.end());
    }
    info("running the golden model");
    OPDRIFT_TRY(GoldenDump made, run_golden(golden));
    for (const std::string& note : made.notes) {
      info(note);
    }
    const auto gear = prepared_.target.has_gears() ? gear_of_dump(run.target_dump) : std::nullopt;
    if (gear) {
      OPDRIFT_CHECK_OK(name_for_gear(golden.dump_folder, *gear));
    }
    return GoldenSide{golden.model, std::move(made)};
  }

  Done compare_network(const std::string& name, NetworkJob job) {
    job.max_elements = static_cast<std::uint64_t>(options_.max_elements);
    job.advisor = options_.advisor;
    job.cancel = options_.cancel;
    OPDRIFT_TRY(CsvReport report, compare_folders(job));
    for (const std::string& warning : report.warnings) {
      say(RunLogLevel::warning, warning);
    }
    keep(name, std::move(report));
    return Unit{};
  }

  Done compare_outputs(const ShapeRun& run, const GoldenDump& golden) {
    OPDRIFT_TRY(NetCompare compared, compare_net_outputs({find_output_files(run.target_dump),
                                                          golden.net_outputs, run.folder},
                                                         prepared_.target.graph));
    for (const std::string& warning : compared.warnings) {
      say(RunLogLevel::warning, warning);
    }
    CsvReport report;
    report.table = std::move(compared.table);
    OPDRIFT_CHECK_OK(finish_csv(report, {}, prepared_.output_nodes, run.folder, options_.advisor));
    keep(run.name, std::move(report));
    return Unit{};
  }

  void keep(const std::string& name, CsvReport report) {
    if (options_.print) {
      options_.print((name.empty() ? "" : name + "\n") + alarm_text(report.alarms));
    }
    for (const std::string& line : report.advice) {
      info(line);
    }
    info("the result is in " + report.csv);
    end_.results.push_back(report.csv);
    tables_.push_back({name, std::move(report.table)});
  }

  Done summarise() {
    if (options_.shape_range.empty()) {
      return Unit{};
    }
    const std::string path = workspace_.folder + "/result_summary.xlsx";
    OPDRIFT_CHECK_OK(write_summary(path, tables_));
    info("all results are in " + path);
    return Unit{};
  }

  const CompareOptions& options_;
  Workspace workspace_;
  Prepared prepared_;
  std::vector<NamedTable> tables_;
  CompareEnd end_;
};

}  // namespace

Outcome<CompareEnd> compare_offline(const CompareOptions& options) {
  return Comparison(options).run();
}

}  // namespace opdrift::diagnose::offline
