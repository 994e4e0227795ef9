#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/replay/kind.hpp"
#include "opdrift/tensor/tensor.hpp"

/// The arguments of a recorded call (PyTorch's and MindSpore's function and module names) as inputs
/// and attributes of an operator kind. One row of the table names functions that take the same
/// arguments, the kind that replays them, and how:
///
///   signature = word (" " word)*             in the order of positional arguments
///   word      = names                         a tensor or number: the next input
///             | names "@" input               ... this input
///             | names "*"                     all tensors of a list, or all arguments that follow
///             | names ":" attribute           a value or list of values
///                [ "*" | "!" | "=" number ]   ... or all that follow; ... must be there; ...
///                default
///             | names ":-"                    not looked at
///             | "+" attribute "=" source      no argument, but made from shapes
///   names     = name ("|" name)*              as keyword arguments call it
///   source    = number | "extents" | "last1" | "last2" | "last3" | "swapped" | "parts" | "weight"
///             | "dtype" | "window"            see api_arguments.cpp
///
/// What a row gets wrong shows in the self check of the judge: then the call is not modelled.
namespace opdrift::pipeline {

/// One value of an argument.
struct ApiScalar {
  std::optional<std::int64_t> integer;  ///< bool: 0 or 1
  std::optional<double> real;
  std::string text;
};

struct ApiTensor {
  std::size_t id = 0;  ///< the caller's
  tensor::Shape shape;
  tensor::DType dtype = tensor::DType::raw;
};

/// A tensor or a number inside an argument: numbers are tensors of one element, too.
struct ApiLeafValue {
  std::optional<ApiTensor> tensor;
  std::optional<ApiScalar> scalar;
};

/// One argument: a value, or a list of them. An argument that is None has no leaf.
struct ApiArgument {
  std::string key;    ///< "0", "1" ... or the keyword
  bool list = false;  ///< also of one value
  std::vector<ApiLeafValue> leaves;
};

struct ApiCallRecord {
  std::string name;                    ///< "Functional.conv2d.1.forward"
  std::string prefix;                  ///< "Functional.conv2d", "Module.fc.Linear"
  std::vector<ApiArgument> arguments;  ///< parameters of a module count as keywords
  std::vector<ApiTensor> outputs;
};

/// A call as an operator.
struct BoundCall {
  graph::Operator op;
  const replay::OperatorKind* kind = nullptr;
  std::vector<std::optional<std::size_t>> inputs;  ///< ids of tensors
};

/// Fails with `unsupported` and the reason for functions without a row and arguments that the row
/// cannot take.
Result<BoundCall> bind_arguments(const ApiCallRecord& call);

/// True for calls of modules, inside which other calls may be recorded.
bool is_module_call(std::string_view prefix);

}  // namespace opdrift::pipeline
