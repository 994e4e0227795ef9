#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/io/onnx/model.hpp"

/// If operators of the main graph whose condition is known, replaced by the branch that runs:
///
///   If(c) -> y1, y2      becomes   the branch's nodes and initializers, and per output
///                                  Identity(<branch output>) -> y1 of the name <If>/<y1>
///
/// Names need no change: ONNX lets a body use no name of the graphs around it. An If whose branch
/// does so nevertheless stays, and so does one whose condition is not known. Loops and scans stay.
namespace opdrift::engine {

/// The value of a condition in the model as it is at that time; nothing when it is not known.
using ConditionValue =
    std::function<Result<std::optional<bool>>(const io::onnx::Model&, const std::string& value)>;

/// Goes on until no If can be replaced, so that branches within branches are reached. Returns how
/// many were. Fails as `condition` does, and with `limit` after 10,000 of them.
Result<std::size_t> inline_branches(io::onnx::Model& model, const ConditionValue& condition);

/// The same with conditions as the runtime computes them from these inputs; what it cannot compute
/// stays.
Result<std::size_t> inline_taken_branches(Runtime& runtime, PlacedModel& placed,
                                          const std::vector<NamedTensor>& inputs);

}  // namespace opdrift::engine
