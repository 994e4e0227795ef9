#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "opdrift/replay/kind.hpp"

namespace opdrift::replay {

/// Whose type names an operator carries. One name may mean different things: Gelu is exact in
/// ONNX and an approximation in Ascend IR.
enum class Dialect : std::uint8_t { any, onnx, ascend, aten };

/// Every kind, in the order of docs/operators.md.
std::span<const OperatorKind> all_kinds();

/// The kind behind a type name, or nullptr. `any` tries ONNX, then Ascend IR, then ATen. ATen names
/// may carry a namespace and an overload ("aten::add.Tensor") and may be module names ("Conv2d").
const OperatorKind* find_kind(std::string_view type, Dialect dialect = Dialect::any);

}  // namespace opdrift::replay
