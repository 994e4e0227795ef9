#include "opdrift/pipeline/msprobe/valid_lengths.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {

namespace {

constexpr std::uint64_t kMostGroups = 1 << 20;
constexpr double kMostRows = 0x1p53;

std::string_view argument_with_lengths(std::string_view call) {
  if (call.find("npu_dequant_swiglu_quant") != std::string_view::npos) {
    return ".input.group_index";
  }
  return call.find("npu_grouped_matmul") != std::string_view::npos ? ".input.group_list" : "";
}

}  // namespace

ValidLengths::ValidLengths(const graph::ApiRun& run, Load load)
    : run_(run), load_(std::move(load)) {}

std::optional<std::uint64_t> ValidLengths::of(const graph::ApiLeaf& leaf) const {
  const graph::ApiEntry& entry = run_.entries[leaf.entry];
  const std::string_view key = argument_with_lengths(entry.name);
  if (key.empty() || leaf.name.find(".output.") == std::string_view::npos) {
    return std::nullopt;
  }
  for (std::uint32_t i = 0; i < entry.leaf_count; ++i) {
    const graph::ApiLeaf& other = run_.leaves[entry.first_leaf + i];
    if (other.name.ends_with(key)) {
      return sum_of(other);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ValidLengths::sum_of(const graph::ApiLeaf& leaf) const {
  const Result<tensor::Tensor> tensor = load_(leaf);
  if (!tensor) {
    return std::nullopt;
  }
  const auto kind = tensor::info(tensor->desc.dtype).kind;
  const Result<tensor::View> view = tensor::stored_view(*tensor);
  const bool counts = kind == tensor::DTypeKind::signed_int ||
                      kind == tensor::DTypeKind::unsigned_int || kind == tensor::DTypeKind::boolean;
  if (!view || !counts || view->count() > kMostGroups) {
    return std::nullopt;
  }
  const auto count = static_cast<std::size_t>(view->count());
  std::vector<std::byte> bytes(count * tensor::info(tensor->desc.dtype).bits / 8 + 8);
  tensor::gather(*view, 0, count, bytes.data());
  std::vector<double> values(count);
  tensor::decode_to_double(tensor->desc.dtype, bytes.data(), 0, count, values.data());
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  return sum >= 0.0 && sum < kMostRows ? std::optional(static_cast<std::uint64_t>(sum))
                                       : std::nullopt;
}

}  // namespace opdrift::pipeline
