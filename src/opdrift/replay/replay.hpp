#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/call.hpp"
#include "opdrift/replay/kind.hpp"
#include "opdrift/tensor/view.hpp"

// The way into this room: look a kind up (registry.hpp), load its inputs, replay it here.
// Everything is thread-safe and keeps no state.

namespace opdrift::replay {

/// Reads a tensor into double. Fails with `limit` before anything large is allocated, with
/// `unsupported_dtype` for types that are no numbers.
Result<Array> load(const tensor::View& view, const Limits& limits = {});

/// f of all outputs. Fails with `unsupported` ("operator not modelled: why") when shapes,
/// attributes or inputs do not fit, with `limit` when the operator is too large and with
/// `out_of_memory` when an allocation failed.
Result<Outputs> evaluate(const OperatorKind& kind, const Call& call);

/// f, and with_terms its budget terms, at flat positions of output 0 of a weighted kind. A position
/// beyond the output fails with `out_of_range`. `output` is the shape of output 0, as dumped.
Result<Sample> evaluate_at(const OperatorKind& kind, const Call& call, const tensor::Shape& output,
                           std::span<const std::uint64_t> positions, bool with_terms);

/// The terms of output `index`, `y` being its replayed value. Lists that are not empty have as many
/// entries as `y`.
Result<Terms> terms(const OperatorKind& kind, const Call& call, std::size_t index, const Array& y);

/// W for kinds without weights of their own in the table (a Mul by a stored matrix, movement of
/// stored weights): replays once with every narrowed input replaced by what it is stored as;
/// (f(x, w + dw) - f(x, w))^2 per element of output `index`. Empty when nothing is narrowed.
Result<std::vector<double>> replayed_weight_variance(const OperatorKind& kind, const Call& call,
                                                     std::size_t index, const Array& y);

/// The values that an output of positions (ArgMax, ArgMin, TopK, Sort) selects from input 0, one
/// per position; NaN for a position beyond the axis. Fails with `unsupported` for other kinds.
Result<std::vector<double>> selected_values(const OperatorKind& kind, const Call& call,
                                            const Array& positions);

/// What a full replay with its terms would cost, from shapes alone.
struct Cost {
  std::uint64_t bytes = 0;          ///< of double: inputs, outputs, squares and terms
  std::uint64_t multiply_adds = 0;  ///< of one evaluation; terms cost one or two more
  std::uint64_t reduction = 1;      ///< n: multiply-adds per element of output 0
};

/// Estimates the cost of an operator whose inputs (nullptr: absent) and outputs have these shapes.
Cost estimate(const OperatorKind& kind, std::span<const tensor::Shape* const> inputs,
              std::span<const tensor::Shape> outputs);

}  // namespace opdrift::replay
