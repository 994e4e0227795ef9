#include "opdrift/diagnose/flow/diagnosis.hpp"

#include <algorithm>
#include <iterator>

#include "opdrift/base/check.hpp"

namespace opdrift::diagnose::flow {

namespace {

struct ConclusionRow {
  Conclusion value;
  std::string_view code;
  std::string_view meaning;
};

constexpr ConclusionRow kConclusions[] = {
    {Conclusion::nondeterministic, "NONDETERMINISTIC",
     "two runs of the same model on the same input differ"},
    {Conclusion::bad_evidence, "BAD_EVIDENCE", "the runs cannot be compared with each other"},
    {Conclusion::preprocess, "PREPROCESS",
     "the model gets other inputs than the reference: pre-processing"},
    {Conclusion::postprocess, "POSTPROCESS",
     "the model's outputs are right, what is made of them is not: post-processing"},
    {Conclusion::exporting, "EXPORT", "the exported model is not the original one"},
    {Conclusion::overflow, "OVERFLOW", "computed values are beyond the range of float16"},
    {Conclusion::overflow_const, "OVERFLOW_CONST",
     "a constant of the model is beyond the range of float16"},
    {Conclusion::underflow, "UNDERFLOW", "values too small for float16 become zero"},
    {Conclusion::precision, "PRECISION", "float16 is not precise enough"},
    {Conclusion::buffer, "BUFFER", "buffer optimisation makes the difference"},
    {Conclusion::memory, "MEMORY", "memory reuse makes the difference: a tensor is overwritten"},
    {Conclusion::fusion, "FUSION", "a fusion of operators makes the difference"},
    {Conclusion::aipp, "AIPP", "AIPP makes other inputs than the reference gets"},
    {Conclusion::quant, "QUANT", "quantisation makes the difference"},
    {Conclusion::single_operator, "OPERATOR", "an operator computes wrong values itself"},
    {Conclusion::accumulated, "ACCUMULATED", "every operator adds a little error"},
    {Conclusion::sensitive, "SENSITIVE",
     "the operator is right, its data does not bear small errors"},
    {Conclusion::clean, "CLEAN", "the outputs are within the limits: look at post-processing"},
    {Conclusion::unlocated, "UNLOCATED",
     "the outputs are wrong, but no operator that can be compared is"},
};

const ConclusionRow& row_of(Conclusion conclusion) {
  const auto* const row =
      std::find_if(std::begin(kConclusions), std::end(kConclusions),
                   [&](const ConclusionRow& one) { return one.value == conclusion; });
  OPDRIFT_CHECK(row != std::end(kConclusions));
  return *row;
}

}  // namespace

std::string_view code_of(Conclusion conclusion) {
  return row_of(conclusion).code;
}

std::string_view meaning_of(Conclusion conclusion) {
  return row_of(conclusion).meaning;
}

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::suspected: return "suspected";
    case Confidence::strong: return "strong";
    case Confidence::proved: return "proved";
  }
  return "suspected";
}

int exit_status(const Diagnosis& diagnosis) {
  if (!diagnosis.conclusion) {
    return 2;
  }
  switch (*diagnosis.conclusion) {
    case Conclusion::clean: return 0;
    case Conclusion::bad_evidence: return 3;
    default: return 1;
  }
}

}  // namespace opdrift::diagnose::flow
