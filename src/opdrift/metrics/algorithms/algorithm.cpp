#include "opdrift/metrics/algorithms/algorithm.hpp"

namespace opdrift::metrics {

namespace {

const char* text_of(AlgorithmNote note) {
  switch (note) {
    case AlgorithmNote::none:
    case AlgorithmNote::plugin: return "";
    case AlgorithmNote::scalar_tensor: return "the tensor is a scalar";
    case AlgorithmNote::target_all_zero: return "all data of the target are zero";
    case AlgorithmNote::golden_all_zero: return "all data of the golden are zero";
    case AlgorithmNote::empty_tensor: return "the tensor is empty";
    case AlgorithmNote::boolean_unsupported: return "not defined for two boolean tensors";
    case AlgorithmNote::boolean_subtraction: return "booleans cannot be subtracted";
    case AlgorithmNote::class_mismatch: return "NaN or infinity on one side only";
    case AlgorithmNote::left_out: return "equal NaN or infinities left out";
    case AlgorithmNote::not_floating: return "neither side is a floating type";
  }
  return "";
}

}  // namespace

bool AlgorithmInput::both_boolean() const {
  return measurement.golden.dtype == tensor::DType::boolean &&
         measurement.target.dtype == tensor::DType::boolean;
}

AlgorithmValue with_note(double value, AlgorithmNote note) {
  AlgorithmValue result;
  result.value = value;
  result.note = note;
  result.note_text = text_of(note);
  return result;
}

AlgorithmValue no_value(AlgorithmNote note) {
  AlgorithmValue result = with_note(kNan, note);
  result.text = "NaN";
  return result;
}

bool refuses_booleans(const AlgorithmInput& input) {
  return input.reference && input.both_boolean();
}

}  // namespace opdrift::metrics
