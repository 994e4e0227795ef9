#pragma once

#include <map>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/evidence/collect.hpp"
#include "opdrift/diagnose/evidence/constants.hpp"
#include "opdrift/diagnose/evidence/graph_source.hpp"
#include "opdrift/diagnose/evidence/operators.hpp"

/// The comparisons of run against run that the flow asks for, made with pipeline::compare_dumps.
namespace opdrift::diagnose::evidence {

/// What comparisons need to know beside the dumps.
struct ComparisonContext {
  std::map<std::string, std::string> dumps;  ///< role -> folder, mixed_<k> included
  std::map<std::string, Edges> edges;        ///< role -> graph of its model; may lack roles
  std::map<std::string, std::string> graph_files;
  Edges model_edges;  ///< of the ONNX model
  std::vector<WideConstant> constants;
};

/// One comparison of two roles.
struct RolePair {
  std::string candidate;
  std::string reference;
};

struct ComparedRoles {
  ComparedOperators operators;
  std::optional<double> output_cosine;
  std::string inputs;  ///< what the network inputs have to say; "" for no input compared
  bool inputs_differ = false;
  std::string first_nonfinite;
  std::vector<std::string> notes;  ///< on the dumps: interrupted, changed by being dumped
};

/// Fails as compare_dumps does.
Result<ComparedRoles> compare_roles(const RolePair& pair, const ComparisonContext& context,
                                    const CollectOptions& options);

/// The comparison itself, tensor by tensor.
Result<verdict::RunResult> compare_folders(const RolePair& pair, const ComparisonContext& context,
                                           const CollectOptions& options);

/// The graph that tells about a role's operators: its own, that of the dump's manifest, that of the
/// base run, or the ONNX model.
Edges edges_for(const std::string& role, const ComparisonContext& context);

}  // namespace opdrift::diagnose::evidence
