#include "opdrift/diagnose/evidence/comparisons.hpp"

#include <cmath>

#include "opdrift/diagnose/evidence/second_look.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/pipeline/compare.hpp"

namespace opdrift::diagnose::evidence {

namespace {

// Rounding of an input to bfloat16 leaves at most this.
constexpr double kRoundedInput = 0x1p-8;

bool is_network_input(const verdict::TensorResult& tensor) {
  return tensor.operator_type == "Data" || tensor.operator_type == "Input";
}

/// Graph files that the comparison itself can pair by.
std::vector<std::string> pairing_graphs(const RolePair& pair, const ComparisonContext& context) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& role) {
    const auto file = context.graph_files.find(role);
    if (file != context.graph_files.end() && graph::is_graph_file(file->second)) {
      files.push_back(file->second);
    }
  };
  if (pair.reference == "golden" || pair.reference == "nofuse") {
    add(pair.candidate);
  }
  if (pair.reference == "nofuse" && !files.empty()) {
    add(pair.reference);
    // One graph alone would take the other device dump for framework arrays.
    files = files.size() == 2 ? files : std::vector<std::string>{};
  }
  return files;
}

void look_at_inputs(const verdict::RunResult& result, ComparedRoles& compared) {
  for (const verdict::TensorResult& tensor : result.tensors) {
    if (!is_network_input(tensor) || !tensor.measurement) {
      continue;
    }
    const double relative = tensor.measurement->relative_l2();
    if (!(relative <= kRoundedInput)) {
      compared.inputs_differ = true;
      compared.inputs = "network input " + tensor.operator_name + " differs";
      return;
    }
    compared.inputs = "the network inputs agree";
  }
}

}  // namespace

Edges edges_for(const std::string& role, const ComparisonContext& context) {
  const auto own = context.edges.find(role);
  if (own != context.edges.end()) {
    return own->second;
  }
  const auto folder = context.dumps.find(role);
  if (folder != context.dumps.end()) {
    Edges edges = manifest_edges(folder->second);
    if (!edges.empty()) {
      return edges;
    }
  }
  const auto base = context.edges.find("base");
  return base != context.edges.end() ? base->second : context.model_edges;
}

Result<verdict::RunResult> compare_folders(const RolePair& pair, const ComparisonContext& context,
                                           const CollectOptions& options) {
  pipeline::CompareOptions compare;
  compare.decided_by = pipeline::DecidedBy::gates;
  compare.explain = false;
  compare.jobs = options.jobs;
  compare.cancel = options.cancel;
  compare.graphs = pairing_graphs(pair, context);
  if (options.stage) {
    options.stage("comparing " + pair.candidate + " with " + pair.reference);
  }
  OPDRIFT_TRY(verdict::RunResult result,
              pipeline::compare_dumps(context.dumps.at(pair.candidate),
                                      context.dumps.at(pair.reference), compare));
  if (result.interrupted) {
    return Error{ErrorCode::cancelled, "interrupted"};
  }
  return result;
}

Result<ComparedRoles> compare_roles(const RolePair& pair, const ComparisonContext& context,
                                    const CollectOptions& options) {
  OPDRIFT_TRY(const verdict::RunResult result, compare_folders(pair, context, options));
  const Edges edges = edges_for(pair.candidate, context);
  const bool golden = pair.reference == "golden";
  const double limit = golden ? options.limits.golden : options.limits.difference;
  const bool buffers = pair.reference == "nobuf" || pair.reference == "noreuse";
  ComparedRoles compared;
  compared.operators = operators_of(result, edges);
  compared.output_cosine = output_cosine(compared.operators, edges);
  compared.first_nonfinite = first_nonfinite(result);
  compared.notes = result.notes;
  look_at_inputs(result, compared);
  const SecondLook look{limit, buffers, buffers || golden, context.dumps.at(pair.candidate)};
  OPDRIFT_CHECK_OK(look_again(result, look, options, compared.operators));
  if (pair.reference == "high") {
    insert_constants(context.constants, context.model_edges, limit, compared.operators.operators);
  }
  return compared;
}

}  // namespace opdrift::diagnose::evidence
