#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/shell/session.hpp"

/// Dumps of the PyTorch adapter: pt/npu/*.h5 and pt/gpu/*.h5 with data sets called
///
///   /<op>/<order>/<part>[/...]      part = input, output, grads, tensors, grad_inputs, result
namespace opdrift::shell {

/// A group as a user names it: the order of a call, or operator and order.
struct TorchGroup {
  std::string op;  ///< "" for any
  std::string order;
};

/// "7", "Add/7" or "/Add/7"; nothing for other words.
std::optional<TorchGroup> parse_torch_group(std::string_view word);

/// Shows the group of both sides; false when the word names none.
Result<bool> show_torch_groups(Session& session, const std::string& word);

}  // namespace opdrift::shell
