#pragma once

#include <cstdint>
#include <string>

#include "opdrift/tensor/dtype.hpp"
#include "opdrift/verdict/judgement.hpp"

// What steps A to D leave behind of one value: numbers, no tensors.

namespace opdrift::verdict::judging {

struct Found {
  enum class State : std::uint8_t {
    absent,      ///< a side lacks it and nothing could stand in
    replayed,    ///< a side lacks it; norms are those of what stands in
    compared,    ///< both sides have it, the operator could not be replayed
    judged,      ///< steps A to D were done
    unreadable,  ///< could not be looked at; `reason` says why
  };
  State state = State::absent;

  /// Ratios, counts, worst element, tier and group. Label and sentence come later.
  Judgement judgement;
  tensor::DType dtype = tensor::DType::raw;  ///< T, the coarser storage type
  std::uint64_t count = 0;
  std::uint64_t finite = 0;  ///< pairs of finite elements
  bool exact = false;        ///< integers or bools: no norms
  bool equal = false;        ///< every element agrees
  Cause class_cause = Cause::none;
  std::uint64_t shared_nonfinite = 0;  ///< NaN or Inf on both sides alike
  std::uint64_t subnormals = 0;        ///< subnormal results that the target kept
  double golden_norm = 0.0;
  double error_norm = 0.0;
  double own_norm = 0.0;        ///< ||d||
  double budget = 0.0;          ///< sqrt(sum sigma^2)
  double inherited_norm = 0.0;  ///< ||f(t_in) - f(g_in)||
  double self_norm = 0.0;       ///< ||g - f(g_in)||
  double white = 0.0;           ///< tier P: what the error of the inputs becomes, as if random
  bool shaped = false;          ///< tier N knows where the error of the inputs arrives
  std::string reason;           ///< why the operator was not replayed
};

}  // namespace opdrift::verdict::judging
