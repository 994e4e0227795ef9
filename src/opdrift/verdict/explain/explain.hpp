#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"
#include "opdrift/verdict/explain/fingerprints.hpp"
#include "opdrift/verdict/explanation.hpp"

/// What is wrong with a tensor, and where.
///
/// Every hypothesis of ExplanationKind is first looked at on a sample of 4096 elements (half of
/// them drawn by their error), then proved on all elements, a tile at a time. It is reported when
///   what is left of the squared error is at most 16 times what rounding in the coarser dtype of
///   both sides explains (ulp^2 / 12 per element and rounding side), and a quarter of the error; or
///   at least 99 % of the squared error is explained, and 99 % of the target's variance.
/// Those of the first kind come first, then the simpler ones; at most three. Nothing is reported
/// for tensors that differ by their rounding alone, truncation excepted. A target that is not what
/// was expected of it, but the golden but for its rounding, is said to be so.
///
/// Memory: a few MiB per thread, whatever the tensor. Time: about three passes over both tensors
/// and one more per hypothesis that the sample speaks for.
namespace opdrift::verdict {

/// What an operator would have made if it had been another one: values at flat positions.
struct Alternative {
  ExplanationKind kind = ExplanationKind::other_function;
  std::string sentence;  ///< "Gelu where Relu is expected"
  std::function<Result<std::vector<double>>(std::span<const std::uint64_t>)> values;
};

struct ExplainContext {
  /// Names of the golden's axes ("N", "C", "H", "W", "D"); empty: NCHW for rank 4, else numbers.
  std::vector<std::string> axis_names;
  /// What rounding may do to the elements [first, first + count), as standard deviations; nothing:
  /// ulp / sqrt(12) of the coarser dtype. Called from several threads.
  std::function<void(std::uint64_t, std::size_t, double*)> sigma;
  const TensorFingerprints* fingerprints = nullptr;
  /// Labels in `fingerprints` that explain nothing: the tensor itself, its operator's own inputs.
  std::vector<std::string> without;
  std::vector<std::string> inputs;        ///< labels in `fingerprints` of what the operator reads
  std::vector<Alternative> alternatives;  ///< tried at the sampled elements only
  std::size_t jobs = 1;                   ///< threads; the result does not depend on it
  const CancelFlag* cancel = nullptr;
};

struct Examination {
  std::vector<Explanation> explanations;  ///< best first
  ErrorPlace place;
};

/// explain() and locate() with one pass less. `expected` is what the operator should have made of
/// the target's own inputs; when given (not nullptr, as many elements as the golden), it stands in
/// for the golden everywhere. Fails with `unsupported_dtype` or `cancelled`. Tensors of unequal
/// counts are explained as cropped or padded, or not at all, and have no place.
Result<Examination> examine(const tensor::View& golden, const tensor::View& target,
                            const tensor::View* expected, const ExplainContext& context);

/// Why the target differs from the golden; empty when it does not, or nothing could be proved.
Result<std::vector<Explanation>> explain(const tensor::View& golden, const tensor::View& target,
                                         const tensor::View* expected,
                                         const ExplainContext& context);

/// Where the error lies. Shares are of the squared error, of the bad elements when some are NaN or
/// Inf on one side only. A bad element is one whose error leaves its budget and the noise that lies
/// on all elements.
Result<ErrorPlace> locate(const tensor::View& golden, const tensor::View& target,
                          const ExplainContext& context);

}  // namespace opdrift::verdict
