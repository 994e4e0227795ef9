#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/replay/array.hpp"

namespace opdrift::replay {

/// One operator with the inputs to replay it on. Non-owning: everything outlives the call.
///
/// Attributes are read by a list of names, because the same thing is called differently by ONNX
/// ("transB"), by Ascend IR ("transpose_x2", "adj_x2") and by ATen; the first one present counts.
/// An attribute that is present but holds no value of the wanted kind counts as absent.
struct Call {
  const graph::Operator& op;
  std::span<const Array* const> inputs;  ///< in order; nullptr where an optional input is absent
  /// Rounding error of narrowed weights, parallel to `inputs` and of their shapes; nullptr where an
  /// input is not narrowed, shorter or empty when none is.
  std::span<const Array* const> deltas = {};
  Limits limits = {};
  /// Quantised kinds give out codes before they are rounded (and after they are cut off), so that
  /// the distance to a rounding border shows.
  bool exact_codes = false;

  /// The opset of the operator, or the newest known when the source does not say.
  int opset() const;

  /// Input `index`, nullptr when absent.
  const Array* input(std::size_t index) const;
  const Array* delta(std::size_t index) const;
  /// Input `index`, or an Error naming it.
  Result<const Array*> need(std::size_t index, std::string_view name) const;

  using Names = std::initializer_list<std::string_view>;
  bool has(Names names) const;
  std::int64_t integer(Names names, std::int64_t fallback) const;
  double real(Names names, double fallback) const;
  std::string text(Names names, std::string_view fallback) const;
  std::optional<std::vector<std::int64_t>> integers(Names names) const;
  std::optional<std::vector<double>> reals(Names names) const;
  std::vector<std::string> texts(Names names) const;

  /// A list that is an attribute in some opsets and input `index` in others. Nothing when neither
  /// is there.
  Result<std::optional<std::vector<std::int64_t>>> integers_or_input(Names names,
                                                                     std::size_t index) const;
  /// A number that is an attribute in some opsets and an input of one element in others.
  Result<std::optional<double>> real_or_input(Names names, std::size_t index) const;

  /// `operator not modelled: Conv "name": why`.
  Error not_modelled(const std::string& why) const;
  /// make_array within the limits of this call.
  Result<Array> make(const tensor::Shape& shape, tensor::DType dtype) const;
  /// An Error when `outputs * reduction` multiply-adds exceed the limit.
  Status check_work(std::uint64_t outputs, std::uint64_t reduction) const;
};

/// Opset assumed when an operator does not carry one.
inline constexpr int kNewestOpset = 21;

}  // namespace opdrift::replay
