#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/tensor/dtype.hpp"

/// A run in reduced precision on a machine that has none: every operator computes in f32, and what
/// passes from one operator to the next is rounded to the narrow type (nearest, ties to even,
/// overflow to infinity).
///
/// - An f32 output y of a node becomes `y/opdrift_wide`, followed by Cast to the narrow type and
///   Cast back, whose result is called y. Readers, bodies and graph outputs need no change. Where
///   the model's operator set has no such Cast (bf16 before 13, f16 before 6) one node
///   opdrift.Round, which this program brings along, does both.
/// - f32 constants are rounded in the model itself, but for those that only feed inputs which are
///   f32 by definition (scales of Resize, thresholds of NonMaxSuppression, quantisation scales).
/// - f32 inputs are rounded before they are given.
///
/// Inside bodies of If, Loop and Scan, and inside fused operators, values stay f32.
namespace opdrift::engine {

enum class Precision : std::uint8_t { fp32, fp16, bf16 };

std::string_view to_string(Precision precision);
std::optional<Precision> precision_by_name(std::string_view name);
tensor::DType dtype_of(Precision precision);

/// Rounds dense f32 values in place through `precision`.
void round_values(Precision precision, std::span<std::byte> floats);

/// Dense f32 values in the narrow type, when every one of them can be held without change.
std::optional<Bytes> narrow_exactly(Precision precision, ByteSpan floats);

/// Rounds the f32 inputs.
void round_inputs(Precision precision, std::span<NamedTensor> inputs);

/// Names of operators that compute in f32 within a model of reduced precision: what only they read
/// and what passes from one of them to another stays f32, what they make is rounded where an
/// operator that is not kept reads it.
using KeptOperators = std::unordered_set<std::string>;

/// Inserts the rounding behind the node outputs named in `wide_outputs`.
void round_borders(io::onnx::Model& model, Precision precision,
                   const std::unordered_set<std::string>& wide_outputs,
                   const KeptOperators& keep = {});

/// Rounds the f32 constants. Weights above 1 GiB in all, and those of models with external data,
/// go to `work_folder`/weights.bin, and the model's folder becomes `work_folder`.
Status round_constants(PlacedModel& placed, Precision precision, const std::string& work_folder,
                       const KeptOperators& keep = {});

}  // namespace opdrift::engine
