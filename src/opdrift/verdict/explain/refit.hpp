#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/verdict/explain/evidence.hpp"
#include "opdrift/verdict/explanation.hpp"

// A hypothesis is a refit r made of the base b. With left = t - r and sigma the rounding that the
// coarser dtype of both sides explains, it is accepted as
//   exact   sum left^2 <= 16 sum sigma^2  and  sum left^2 <= (sum d^2) / 4
//           and no pair of different class is left
//   share   sum left^2 <= (sum d^2) / 100  and  sum left^2 <= (sum (t - mean t)^2) / 100
//           and at most a hundredth of the pairs of different class is left
// 16: even faithful rounding, every element within one ulp, has an rms error of 3.5 sigma. The
// second condition of `share` keeps a small target from being "0.003 * golden".

namespace opdrift::verdict::refit {

/// Values of a hypothesis, in flat order of the base. Thread-safe.
class Refit {
 public:
  Refit() = default;
  Refit(const Refit&) = delete;
  Refit& operator=(const Refit&) = delete;
  virtual ~Refit() = default;

  /// Elements [first, first + count); `base` holds the base there. NaN from a finite base means
  /// that the hypothesis says nothing about the element.
  virtual void predict(std::uint64_t first, std::size_t count, const double* base,
                       double* out) const = 0;
};

/// What a refit leaves, over pairs that are finite and about which it says something.
struct Rest {
  std::uint64_t pairs = 0;
  std::uint64_t unsaid = 0;
  double left2 = 0.0;
  double error2 = 0.0;  ///< sum of d^2
  double budget2 = 0.0;
  double golden2 = 0.0;
  double sum_t = 0.0;
  double sum_t2 = 0.0;
  std::uint64_t classes_left = 0;
  std::uint64_t classes_before = 0;

  void add(const Rest& other);
  double explained() const;  ///< 1 - left2 / error2, at least 0; of classes when those are all
  double residual() const;   ///< ||left|| / ||golden||
  bool exact() const;
  bool most() const;
};

/// Applies the refit to all elements. Fails with `cancelled`.
Result<Rest> confirm(const Evidence& evidence, const Refit& refit);

/// The refit at the elements of the sample.
std::vector<double> predict_sample(const Evidence& evidence, const Refit& refit);

/// A hypothesis worth a pass over all elements. `sentence` has no numbers of the fit yet.
struct Candidate {
  ExplanationKind kind = ExplanationKind::zero;
  std::string sentence;
  std::unique_ptr<Refit> refit;
  /// The format in which every value of the target is a number: the error may then be what rounding
  /// to it explains.
  std::optional<NumberFormat> stored_as = std::nullopt;
};

using Candidates = std::vector<Candidate>;

/// Keeps a candidate when the sample does not speak against it.
void offer(const Evidence& evidence, Candidates& candidates, Candidate candidate);

/// A refit that looks at one element at a time: r = function(b).
template <typename Function>
class Pointwise final : public Refit {
 public:
  explicit Pointwise(Function function) : function_(std::move(function)) {}

  void predict(std::uint64_t /*first*/, std::size_t count, const double* base,
               double* out) const override {
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = function_(base[i]);
    }
  }

 private:
  Function function_;
};

template <typename Function>
std::unique_ptr<Refit> pointwise(Function function) {
  return std::make_unique<Pointwise<Function>>(std::move(function));
}

/// "1.25", "3.1e-05": up to `digits` significant digits.
std::string number(double value, int digits = 4);

/// The word for an axis of the evidence: "channel", "row", "column", "batch" or "index".
std::string axis_word(const Evidence& evidence, std::size_t axis);
/// "channel 17 (of 64)", "index 3 (of 8) of axis 2".
std::string axis_place(const Evidence& evidence, std::size_t axis, std::uint64_t index);

}  // namespace opdrift::verdict::refit
