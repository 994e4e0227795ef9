#include "opdrift/diagnose/evidence/collect.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/evidence/boundary.hpp"
#include "opdrift/diagnose/evidence/comparisons.hpp"
#include "opdrift/diagnose/evidence/dump_checks.hpp"
#include "opdrift/diagnose/evidence/export_checks.hpp"
#include "opdrift/diagnose/evidence/export_inputs.hpp"
#include "opdrift/diagnose/evidence/export_weights.hpp"
#include "opdrift/diagnose/evidence/result_table.hpp"
#include "opdrift/diagnose/fixes/keep_dtype.hpp"
#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr const char* kReferences[] = {"golden", "high", "nobuf", "noreuse", "nofuse", "noquant"};
/// Runs whose verdict is taken from their outputs when it is not given.
constexpr const char* kJudged[] = {"high", "nobuf", "noreuse", "nofuse", "noaipp", "noquant"};

class FactCollector {
 public:
  explicit FactCollector(const CollectOptions& options) : options_(options) {}

  Result<flow::Facts> run() {
    OPDRIFT_CHECK_OK(take_verdicts());
    OPDRIFT_CHECK_OK(read_models());
    OPDRIFT_CHECK_OK(read_keep_list());
    name_dumps();
    OPDRIFT_CHECK_OK(compare_runs());
    OPDRIFT_CHECK_OK(judge_runs());
    OPDRIFT_CHECK_OK(look_at_export());
    OPDRIFT_CHECK_OK(look_at_repeat());
    OPDRIFT_CHECK_OK(look_at_boundary());
    OPDRIFT_CHECK_OK(look_at_base_dump());
    OPDRIFT_CHECK_OK(read_tables());
    return std::move(facts_);
  }

 private:
  Status take_verdicts() {
    for (const auto& [role, word] : options_.verdicts) {
      if (word != "pass" && word != "fail") {
        return Error{
            ErrorCode::invalid_argument,
            "--verdict " + role + ": expected pass or fail, found '" + printable(word) + "'"};
      }
      facts_.runs[role].verdict = word == "pass" ? flow::Verdict::pass : flow::Verdict::fail;
    }
    return Unit{};
  }

  Status read_models() {
    if (!options_.graph.empty()) {
      OPDRIFT_TRY(GraphSource source, read_graph_source(options_.graph));
      facts_.options = std::move(source.options);
      context_.edges["base"] = std::move(source.edges);
      context_.graph_files["base"] = options_.graph;
    }
    for (const auto& [role, path] : options_.graphs) {
      OPDRIFT_TRY(GraphSource source, read_graph_source(path));
      context_.edges[role] = std::move(source.edges);
      context_.graph_files[role] = path;
    }
    if (!options_.command.empty()) {
      facts_.options = graph::parse_atc_command(options_.command);
    }
    facts_.device_soc = options_.device_soc;
    return read_onnx();
  }

  Status read_onnx() {
    if (options_.model.empty()) {
      return Unit{};
    }
    OPDRIFT_TRY(const io::onnx::Model model, io::onnx::open_model(options_.model));
    const std::string folder = io::onnx::folder_of_model(options_.model);
    context_.model_edges = Edges(io::onnx::to_graph(model));
    context_.constants = wide_constants(model, folder);
    facts_.golden_model = options_.model;
    facts_.export_findings = check_export(model, folder);
    OPDRIFT_TRY(facts_.export_faults,
                find_baked_inputs(model, folder, {options_.input_names, options_.online}));
    return options_.weights.empty() ? Status(Unit{}) : look_at_weights(model, folder);
  }

  Status look_at_weights(const io::onnx::Model& model, const std::string& folder) {
    OPDRIFT_TRY(WeightFindings found, compare_weights(model, folder, options_.weights));
    std::move(found.findings.begin(), found.findings.end(),
              std::back_inserter(facts_.export_findings));
    std::move(found.faults.begin(), found.faults.end(), std::back_inserter(facts_.export_faults));
    return Unit{};
  }

  Status read_keep_list() {
    if (!options_.keep.empty()) {
      OPDRIFT_TRY(const Bytes bytes, map_file(options_.keep));
      facts_.keep = fixes::parse_keep_dtype(as_text(bytes.span)).names;
    }
    return Unit{};
  }

  /// Every run that has a dump is a run, whatever is known about it.
  void name_dumps() {
    context_.dumps = options_.dumps;
    for (std::size_t i = 0; i < options_.mixed.size(); ++i) {
      context_.dumps["mixed_" + std::to_string(i + 1)] = options_.mixed[i];
    }
    for (const auto& [role, folder] : context_.dumps) {
      if (role != "repeat") {
        facts_.runs.try_emplace(role);
      }
    }
  }

  bool has(const std::string& role) const { return context_.dumps.count(role) > 0; }

  std::vector<RolePair> wanted_pairs() const {
    std::vector<RolePair> pairs;
    for (const char* const reference : kReferences) {
      if (has("base") && has(reference)) {
        pairs.push_back({"base", reference});
      }
    }
    if (!options_.mixed.empty() && has("high")) {
      pairs.push_back({"mixed_" + std::to_string(options_.mixed.size()), "high"});
    }
    if (has("high") && has("golden")) {
      pairs.push_back({"high", "golden"});
    }
    return pairs;
  }

  Status compare_runs() {
    for (const RolePair& pair : wanted_pairs()) {
      OPDRIFT_TRY(ComparedRoles compared, compare_roles(pair, context_, options_));
      const std::string key = flow::pair_key(pair.candidate, pair.reference);
      note_inputs(pair, compared);
      if (!compared.first_nonfinite.empty()) {
        facts_.notes.push_back({"C4", key + ": " + compared.first_nonfinite});
      }
      for (const std::string& note : compared.notes) {
        facts_.notes.push_back({"C3", key + ": " + note});
      }
      if (compared.operators.operators.empty()) {
        facts_.notes.push_back({"C3", key + ": no tensor of one dump has a counterpart in the "
                                            "other; are they of one model and one step?"});
      }
      if (pair.reference == "golden") {
        take_output_cosine(pair.candidate, compared.output_cosine);
      }
      facts_.compare[key] = std::move(compared.operators.operators);
    }
    return Unit{};
  }

  void note_inputs(const RolePair& pair, const ComparedRoles& compared) {
    if (compared.inputs.empty()) {
      return;
    }
    const std::string key = flow::pair_key(pair.candidate, pair.reference);
    facts_.notes.push_back({"C2", key + ": " + compared.inputs});
    const bool aipp = facts_.options.get("insert_op_conf").has_value() || !options_.aipp.empty();
    if (compared.inputs_differ && !(aipp && pair.reference == "golden")) {
      facts_.runs[pair.candidate].input_digest = "inputs of " + pair.candidate;
      facts_.runs[pair.reference].input_digest = "inputs of " + pair.reference;
    }
  }

  void take_output_cosine(const std::string& role, const std::optional<double>& cosine) {
    if (cosine) {
      facts_.runs[role].output_cosine = cosine;
    }
  }

  /// Outputs of the runs that have no verdict, against the golden or the framework.
  Status judge_runs() {
    for (const char* const role : kJudged) {
      const auto run = facts_.runs.find(role);
      const bool open = run != facts_.runs.end() && run->second.verdict == flow::Verdict::unknown &&
                        !run->second.output_cosine;
      if (open && has(role) && has("golden")) {
        OPDRIFT_TRY(const ComparedRoles compared,
                    compare_roles({role, "golden"}, context_, options_));
        take_output_cosine(role, compared.output_cosine);
      }
    }
    return Unit{};
  }

  Status look_at_export() {
    if (!has("framework") || !has("golden")) {
      return Unit{};
    }
    OPDRIFT_TRY(const verdict::RunResult result,
                compare_folders({"framework", "golden"}, context_, options_));
    const ComparedOperators compared = operators_of(result, Edges());
    for (const flow::OperatorFacts& op : compared.operators) {
      for (const double cosine : op.cos_out) {
        if (!facts_.export_cosine || std::isnan(cosine) || cosine < *facts_.export_cosine) {
          facts_.export_cosine = cosine;
        }
      }
    }
    return Unit{};
  }

  Status look_at_repeat() {
    if (has("base") && has("repeat")) {
      OPDRIFT_TRY(const verdict::RunResult result,
                  compare_folders({"repeat", "base"}, context_, options_));
      facts_.repeat = compare_repeat(result);
    }
    return Unit{};
  }

  Status look_at_boundary() {
    if (!options_.online.empty() && !options_.offline.empty()) {
      OPDRIFT_TRY(facts_.boundary, compare_boundary(options_.online, options_.offline));
    }
    return Unit{};
  }

  /// Completeness of the base dump, and what AIPP made in it.
  Status look_at_base_dump() {
    const bool aipp = facts_.options.get("insert_op_conf").has_value() || !options_.aipp.empty();
    const bool graph = context_.edges.count("base") > 0;
    if (!has("base") || (!graph && !aipp)) {
      return Unit{};
    }
    OPDRIFT_TRY(
        const pipeline::DumpIndex base,
        pipeline::index_dump(context_.dumps.at("base"), verdict::RunSide::target, options_.jobs));
    if (graph) {
      const std::string missing = completeness(base, context_.edges.at("base"));
      if (!missing.empty()) {
        facts_.notes.push_back({"C3", missing});
      }
    }
    return aipp && has("golden") ? look_at_aipp(base) : Status(Unit{});
  }

  Status look_at_aipp(const pipeline::DumpIndex& base) {
    OPDRIFT_TRY(
        const pipeline::DumpIndex golden,
        pipeline::index_dump(context_.dumps.at("golden"), verdict::RunSide::golden, options_.jobs));
    OPDRIFT_TRY(AippEvidence evidence, compare_aipp(base, golden, options_.aipp));
    facts_.aipp_input_cosine = evidence.cosine;
    if (evidence.cosine) {
      facts_.aipp_input_close = evidence.close;
    }
    facts_.aipp_findings = std::move(evidence.findings);
    return Unit{};
  }

  Status read_tables() {
    for (const std::string& result : options_.results) {
      const std::size_t cut = result.find('=');
      const bool named =
          cut != std::string::npos && result.substr(0, cut).find(".vs.") != std::string::npos;
      const std::string pair = named ? result.substr(0, cut) : "base.vs.golden";
      const std::string path = named ? result.substr(cut + 1) : result;
      OPDRIFT_TRY(flow::OperatorList operators,
                  read_finished(path, edges_for(pair.substr(0, pair.find(".vs.")), context_)));
      facts_.compare[pair] = std::move(operators);
    }
    return Unit{};
  }

  const CollectOptions& options_;
  ComparisonContext context_;
  flow::Facts facts_;
};

}  // namespace

Result<flow::Facts> collect_facts(const CollectOptions& options) {
  return FactCollector(options).run();
}

}  // namespace opdrift::diagnose::evidence
