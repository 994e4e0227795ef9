#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "network.hpp"
#include "numbers.hpp"
#include "target.hpp"

#include "opdrift/base/result.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/verdict/judge.hpp"

/// The faultless targets.
namespace opdrift::evaluation {

/// How the tensors of a variant come about.
enum class Making : std::uint8_t {
  emulated,  ///< operator by operator, `arithmetic`
  fused,     ///< the same on the graph as ONNX Runtime's optimiser leaves it
  typed,     ///< the model with f16 tensors, run as a whole with all optimisation
};

struct Variant {
  std::string_view name;
  std::string_view what;
  Making making = Making::emulated;
  Arithmetic arithmetic;
  bool half_dumped = false;  ///< every other tensor is kept from the judge
  std::optional<verdict::Assumptions> assume;
  std::optional<verdict::FindingKind> expected;  ///< what step H has to find
};

std::span<const Variant> variants();

/// Tensors of a target in f32 (`wide`) and as dumped (`stored`).
struct TargetRun {
  Values wide;
  Values stored;
};

/// Fails with `unsupported` where the runtime cannot run the variant.
Result<TargetRun> run_variant(engine::Runtime& runtime, OperatorRunner& runner,
                              const Network& network, const Variant& variant);

/// `wide` in the types of the format.
Values stored_values(const Values& wide, Format format);

}  // namespace opdrift::evaluation
