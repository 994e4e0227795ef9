#include "opdrift/match/quant_filter.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

namespace opdrift::match {

namespace {

enum class OutputClass : std::uint8_t { normal, quant, middle, dequant };

constexpr std::array<std::string_view, 5> kQuantNames = {
    "_quant_layer", "/AscendQuant", "/AscendWeightQuant", ".quant", ".weight_quant"};
constexpr std::array<std::string_view, 6> kDequantNames = {"_dequant_layer", "_anti_quant_layer",
                                                           "/AscendDequant", "/AntiQuant",
                                                           ".dequant",       ".anti_quant"};
constexpr std::array<std::string_view, 11> kDumpMarks = {
    "_quant_layer", "_anti_quant_layer", "AscendQuant", "AscendWeightQuant", "AntiQuant",
    "_quant",       "_weight_quant",     "_anti_quant", "_dequant_layer",    "AscendDequant",
    "_dequant"};

bool contains_any(std::string_view text, std::span<const std::string_view> marks) {
  return std::any_of(marks.begin(), marks.end(), [text](std::string_view mark) {
    return text.find(mark) != std::string_view::npos;
  });
}

using Classes = std::vector<std::vector<OutputClass>>;

bool inside_pair(const Network& network, const Node& node, const Classes& classes) {
  for (const graph::InputRef& input : node.inputs) {
    const auto producer = input.well_formed ? network.find(input.producer) : std::nullopt;
    if (!producer) {
      continue;
    }
    const std::vector<OutputClass>& outputs = classes[*producer];
    const std::size_t index = static_cast<std::size_t>(input.index);
    if (index < outputs.size() &&
        (outputs[index] == OutputClass::quant || outputs[index] == OutputClass::middle)) {
      return true;
    }
  }
  return false;
}

/// The name without a trailing `_<digits>`.
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size() || name[last] != '_') {
    return name;
  }
  return name.substr(0, last);
}

}  // namespace

std::size_t leave_out_quantised(Network& network) {
  Classes classes(network.nodes.size());
  std::size_t left_out = 0;
  for (const std::size_t position : network.run_order) {
    Node& node = network.nodes[position];
    const std::string originals = node.joined_originals();
    const bool quant = contains_any(node.name, kQuantNames) || contains_any(originals, kQuantNames);
    const bool dequant =
        contains_any(node.name, kDequantNames) || contains_any(originals, kDequantNames);
    const bool inside = inside_pair(network, node, classes);
    bool all_dequant = true;
    for (const Description& output : node.outputs) {
      OutputClass kind = inside ? OutputClass::middle : OutputClass::normal;
      if (quant && output.dtype == "DT_INT8") {
        kind = OutputClass::quant;
      } else if (dequant && output.dtype == "DT_FLOAT16") {
        kind = OutputClass::dequant;
      }
      classes[position].push_back(kind);
      all_dequant = all_dequant && kind == OutputClass::dequant;
    }
    if (inside && !all_dequant && node.left_out == LeftOut::no) {
      node.left_out = LeftOut::quant_pair;
      ++left_out;
    }
  }
  return left_out;
}

bool is_quantised_name(std::string_view dump_name, bool whole_suffix) {
  if (!whole_suffix) {
    return contains_any(dump_name, kDumpMarks);
  }
  const std::string_view stem = without_number(dump_name);
  return std::any_of(kDumpMarks.begin(), kDumpMarks.end(),
                     [stem](std::string_view mark) { return stem.ends_with(mark); });
}

}  // namespace opdrift::match
