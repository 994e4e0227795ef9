#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/evidence/edges.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/verdict/result.hpp"

/// A comparison of two dumps, tensor by tensor, as operators of the flow.
namespace opdrift::diagnose::evidence {

/// An operator and the rows of its outputs (positions in RunResult::tensors).
struct ComparedOperators {
  flow::OperatorList operators;
  std::vector<std::vector<std::size_t>> output_rows;  ///< parallel to `operators`
};

/// Operators in execution order. Cosines of inputs are those of the operator's own input rows;
/// where it has none, those of the outputs that feed it. An input of which nothing is known is NaN,
/// a constant is left out. Names, types, originals, passes and quantisers come from `edges`, which
/// may be empty.
ComparedOperators operators_of(const verdict::RunResult& result, const Edges& edges);

/// The worst cosine of the network's outputs: by `edges`, else of the last operator. Nothing when
/// none of them was compared.
std::optional<double> output_cosine(const ComparedOperators& compared, const Edges& edges);

/// The first operator that makes NaN or Inf of finite inputs, in words; "" for none.
std::string first_nonfinite(const verdict::RunResult& result);

}  // namespace opdrift::diagnose::evidence
