#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/verdict/gates.hpp"

/// Whether an output is good enough. Without a rule of the user's the five limits of the vendor's
/// tools decide; bad is
///
///   cosine < 0.99 | relative Euclidean distance > 0.05 | Kullback-Leibler divergence > 0.005
///   | root mean square error > 1.0 | mean relative error > 1.0
///   | another shape | an element that is NaN or infinite on one side only
///
/// A number that does not exist for a pair (the direction of zeros) is not asked. Equal values are
/// good, NaN included.
namespace opdrift::diagnose {

class OutputRule {
 public:
  OutputRule() = default;
  /// "" is the default rule, other texts are those of verdict::parse_gates ("cosine=0.999"). Fails
  /// as that does.
  static Result<OutputRule> parse(std::string_view text);

  struct Judged {
    bool good = false;
    std::string reason;  ///< the number that decided, "cosine 0.91 < 0.99"; for good the cosine
  };

  /// Fails when the tensors cannot be decoded.
  Result<Judged> judge(const tensor::Tensor& golden, const tensor::Tensor& target) const;

  std::string describe() const;

 private:
  std::optional<verdict::Gates> gates_;
};

}  // namespace opdrift::diagnose
