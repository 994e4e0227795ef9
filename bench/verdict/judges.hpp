#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "network.hpp"
#include "numbers.hpp"

#include "opdrift/base/result.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/verdict/judge.hpp"

/// opdrift's judge and those beside it, on tensors in memory. The others see f32 values g and t:
///
///   cosine      g t / (||g|| ||t||) < 0.99
///   allclose    any |t - g| > 1e-3 + 1e-3 |g|
///   sqnr        ||t - g|| > 0.1 ||g||                        20 dB
///   polygraphy  any |t - g| > 1e-5 with |t - g| > 1e-5 |g|   its defaults
///
/// and call every tensor bad in which a NaN or an infinity stands on one side only.
namespace opdrift::evaluation {

enum class Rival : std::uint8_t { cosine, allclose, sqnr, polygraphy };
inline constexpr std::size_t kRivals = 4;
inline constexpr std::array<std::string_view, kRivals> kRivalNames = {
    "cosine 0.99", "allclose 1e-3", "SQNR 20 dB", "Polygraphy"};

/// Which rivals call a tensor bad.
using RivalFlags = std::array<bool, kRivals>;

RivalFlags ask_rivals(const tensor::Tensor& golden, const tensor::Tensor& target);

/// Both sides of a run, in memory. Views share the tensors.
class MemorySource final : public verdict::ValueSource {
 public:
  /// `target` holds what was dumped, in the types it was stored in. Both outlive the source.
  MemorySource(const Network& network, const Values& target)
      : network_(network), target_(target), known_(network.problem().values.size()) {}

  bool has(verdict::RunSide side, ValueId value) const override;
  Result<tensor::View> view(verdict::RunSide side, ValueId value) const override;
  /// As `opdrift compare` measures every pair before it is judged.
  verdict::MeasuredValue measured(ValueId value) const override;

 private:
  struct Known {
    std::once_flag once;
    std::optional<metrics::Measurement> measurement;
    std::vector<metrics::Peaks> peaks;
  };

  const tensor::Tensor* tensor_of(verdict::RunSide side, ValueId value) const;

  const Network& network_;
  const Values& target_;
  mutable std::vector<Known> known_;
};

}  // namespace opdrift::evaluation
