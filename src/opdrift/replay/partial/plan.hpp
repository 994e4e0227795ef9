#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "opdrift/replay/partial.hpp"

// The planners behind plan_partial, one per way in which outputs depend on inputs.

namespace opdrift::replay::partial {

using Positions = std::span<const std::uint64_t>;

/// What every planner starts from.
struct Request {
  const OperatorKind& kind;
  const Call& call;
  const tensor::Shape& output;
  Positions random;
  Positions chosen;

  /// The operator itself, nothing planned yet.
  Partial start() const;
  /// The same for all wanted positions.
  Partial start_at_all() const;
  std::vector<std::uint64_t> all() const;
};

using Planner = std::optional<Partial>(const Request& request);

/// y_p = f(x_p, ...), inputs broadcast.
Planner plan_elementwise, plan_batch_norm;
/// Whole rows, or all that a place is reduced from.
Planner plan_lines, plan_reduction;
/// Copies of elements.
Planner plan_reshape, plan_transpose, plan_concat, plan_expand, plan_tile, plan_depth_to_space,
    plan_space_to_depth, plan_slice, plan_pad;
/// What lies under a window, or under the taps of an interpolation.
Planner plan_max_pool, plan_average_pool, plan_resize;

/// One element per position.
PartialInput gathered(std::size_t source, std::vector<std::uint64_t> positions);
/// All of a small input, as it is.
PartialInput whole(std::size_t source, const tensor::Shape& shape);
/// A small Identity of these elements, one per wanted position.
std::optional<Partial> as_identity(const Request& request, PartialInput input);
/// Where broadcast inputs are read for these positions of the output.
std::optional<std::vector<std::uint64_t>> broadcast_positions(Positions positions,
                                                              const tensor::Shape& shape,
                                                              const tensor::Shape& output);
/// Makes `name` the only axis attribute.
void set_axis(graph::Operator& op, const char* name, std::int64_t value, bool list);

}  // namespace opdrift::replay::partial
