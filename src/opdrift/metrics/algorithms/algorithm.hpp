#pragma once

#include <cstdint>
#include <string>

#include "opdrift/metrics/measurement.hpp"

namespace opdrift::metrics {

/// Why a value is missing, or what a reader should know beside it.
enum class AlgorithmNote : std::uint8_t {
  none,
  scalar_tensor,        ///< one element: a direction means nothing
  target_all_zero,      ///< no direction to compare
  golden_all_zero,      ///< nothing to be relative to
  empty_tensor,         ///< no element to take the largest of
  boolean_unsupported,  ///< the reference does not do this for two boolean tensors
  boolean_subtraction,  ///< the reference fails on the difference of booleans
  class_mismatch,       ///< NaN or infinity on one side only: no finite number describes the pair
  left_out,             ///< pairs of equal NaN or equal infinity are not in the value
  not_floating,         ///< distance in units in the last place without a floating side
  plugin,               ///< what a plugin had to say
};

/// What an algorithm computes from.
struct AlgorithmInput {
  const Measurement& measurement;
  bool scalar_tensor = false;  ///< all dims of the target are 1 (the reference: dims sum to rank)
  /// Follow the vendor's tool where it is known to mislead: NaN in the golden counts as relative
  /// error 0, golden values up to kReferenceEpsilon as zero, boolean pairs are refused.
  bool reference = false;

  bool both_boolean() const;
};

/// One number, or the text that stands in its place.
struct AlgorithmValue {
  double value = kNan;
  std::string text = {};  ///< printed instead of the value when not empty
  AlgorithmNote note = AlgorithmNote::none;
  std::string note_text = {};  ///< one clause, "" without a note
};

/// A value with the note's standard text.
AlgorithmValue with_note(double value, AlgorithmNote note);

/// "NaN", the text for a value that could not be computed, with a note.
AlgorithmValue no_value(AlgorithmNote note);

/// What takes part when a reference algorithm meets two boolean tensors: a refusal, else nothing.
bool refuses_booleans(const AlgorithmInput& input);

}  // namespace opdrift::metrics
