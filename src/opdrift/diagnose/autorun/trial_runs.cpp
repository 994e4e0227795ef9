#include "opdrift/diagnose/autorun/trial_runs.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/evidence/cosines.hpp"
#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::diagnose::autorun {

namespace {

/// Net outputs as the golden's manifest names them: operator and output number.
bool is_net_output(const std::vector<evidence::Feed>& outputs, const evidence::Edges& edges,
                   const verdict::TensorResult& tensor) {
  return tensor.role != "input" &&
         std::any_of(outputs.begin(), outputs.end(), [&](const evidence::Feed& feed) {
           return feed.output == tensor.index &&
                  edges.graph().operators[feed.producer].name == tensor.golden_operator;
         });
}

}  // namespace

std::string TrialRuns::folder_of(const std::string& role) const {
  return options_.folder + "/" + role;
}

engine::DumpOptions TrialRuns::dump_options(const std::string& role) const {
  engine::DumpOptions dump;
  dump.model = options_.model;
  dump.output_folder = folder_of(role);
  dump.overwrite = true;
  dump.inputs = options_.inputs;
  dump.library = options_.library;
  dump.threads = options_.threads;
  dump.opdrift_version = options_.opdrift_version;
  dump.cancel = options_.cancel;
  dump.check_outputs = false;
  const bool plain = role == "golden" || role == "nofuse";
  dump.optimization = plain ? engine::Optimization::none : options_.optimization;
  const bool wide = role == "golden" || role == "high";
  dump.precision = wide ? engine::Precision::fp32 : options_.precision;
  return dump;
}

Status TrialRuns::run(const std::string& role, const std::vector<std::string>& keep) {
  if (options_.stage) {
    options_.stage("running " + role);
  }
  engine::DumpOptions dump = dump_options(role);
  dump.keep = keep;
  OPDRIFT_TRY(const engine::DumpReport report, engine::dump_model(dump));
  if (!report.complete) {
    return Error{ErrorCode::cancelled, "interrupted"};
  }
  context_.dumps[role] = folder_of(role);
  if (role == "golden") {
    OPDRIFT_TRY(const io::onnx::Model model, io::onnx::open_model(options_.model));
    context_.model_edges = evidence::Edges(io::onnx::to_graph(model));
    context_.constants = evidence::wide_constants(model, io::onnx::folder_of_model(options_.model));
  }
  return Unit{};
}

Result<flow::RunFacts> TrialRuns::try_without(const std::string& optimiser) {
  const std::string role = "without_" + optimiser;
  engine::DumpOptions dump = dump_options(role);
  dump.disabled_optimizers = {optimiser};
  OPDRIFT_TRY(const engine::DumpReport report, engine::dump_model(dump));
  if (!report.complete) {
    return Error{ErrorCode::cancelled, "interrupted"};
  }
  context_.dumps[role] = folder_of(role);
  Result<flow::RunFacts> facts = judge(role);
  remove_dump(role);
  return facts;
}

evidence::CollectOptions TrialRuns::collect_options() const {
  evidence::CollectOptions collect;
  collect.limits = options_.flow.limits;
  collect.cancel = options_.cancel;
  return collect;
}

Result<flow::RunFacts> TrialRuns::judge(const std::string& role) const {
  OPDRIFT_TRY(const verdict::RunResult result,
              evidence::compare_folders({role, "golden"}, context_, collect_options()));
  const evidence::Edges edges = evidence::edges_for("golden", context_);
  const std::vector<evidence::Feed> outputs = edges.network_outputs();
  flow::RunFacts facts;
  bool passes = true;
  for (const verdict::TensorResult& tensor : result.tensors) {
    if (!is_net_output(outputs, edges, tensor)) {
      continue;
    }
    const double cosine =
        tensor.measurement ? evidence::cosine_of(*tensor.measurement) : metrics::kNan;
    if (!facts.output_cosine || std::isnan(cosine) || cosine < *facts.output_cosine) {
      facts.output_cosine = cosine;
    }
    const bool good =
        options_.rule_given
            ? tensor.measurement && verdict::apply(options_.rule, *tensor.measurement).passed
            : cosine >= options_.flow.limits.output;
    passes = passes && good;
  }
  if (!facts.output_cosine) {
    return Error{ErrorCode::not_found, "no output of the network can be compared", folder_of(role)};
  }
  facts.verdict = passes ? flow::Verdict::pass : flow::Verdict::fail;
  return facts;
}

Result<flow::OperatorList> TrialRuns::compare(const std::string& candidate,
                                              const std::string& reference) const {
  OPDRIFT_TRY(evidence::ComparedRoles compared,
              evidence::compare_roles({candidate, reference}, context_, collect_options()));
  return std::move(compared.operators.operators);
}

void TrialRuns::remove_dump(const std::string& role) const {
  std::error_code ignored;
  std::filesystem::remove_all(folder_of(role), ignored);
}

}  // namespace opdrift::diagnose::autorun
