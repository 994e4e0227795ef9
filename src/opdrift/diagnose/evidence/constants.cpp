#include "opdrift/diagnose/evidence/constants.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "opdrift/diagnose/flow/classes.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/view.hpp"
#include "opdrift/verdict/explain/values.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr double kLargestFloat16 = 65504.0;

std::optional<WideConstant> look_at(const std::string& name, const tensor::Tensor& tensor) {
  const auto view = tensor::stored_view(tensor);
  if (!view || tensor::info(tensor.desc.dtype).kind != tensor::DTypeKind::floating) {
    return std::nullopt;
  }
  const auto values = verdict::refit::Values::of(*view);
  if (!values) {
    return std::nullopt;
  }
  WideConstant found{name, 0.0, 0.0};
  double lost = 0.0;
  double all = 0.0;
  std::array<double, verdict::refit::kTile> tile{};
  for (std::uint64_t first = 0; first < values->count(); first += tile.size()) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(tile.size(), values->count() - first));
    values->read(first, count, tile.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double size = std::abs(tile[i]);
      if (std::isfinite(size)) {
        const double beyond = std::max(0.0, size - kLargestFloat16);
        found.absmax = std::max(found.absmax, size);
        lost += beyond * beyond;
        all += size * size;
      }
    }
  }
  found.relative_l2 = all > 0.0 ? std::sqrt(lost / all) : 0.0;
  return found.absmax > kLargestFloat16 ? std::optional(found) : std::nullopt;
}

void add_constant(const io::onnx::Tensor& constant, const std::string& name,
                  const std::string& folder, std::vector<WideConstant>& found) {
  const auto tensor = io::onnx::load(constant, folder);
  if (!tensor) {
    return;
  }
  if (auto wide = look_at(name, *tensor)) {
    found.push_back(std::move(*wide));
  }
}

flow::OperatorFacts facts_of(const WideConstant& constant) {
  flow::OperatorFacts facts;
  facts.op = constant.name;
  facts.type = "Const";
  facts.original = {constant.name};
  facts.constant = true;
  facts.cos_out = {std::max(0.0, 1.0 - constant.relative_l2)};
  facts.numbers.ref_absmax = constant.absmax;
  facts.numbers.cand_absmax = kLargestFloat16;
  facts.numbers.relative_l2 = constant.relative_l2;
  return facts;
}

bool reads(const graph::Operator& op, const std::string& name) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const graph::InputRef& input) {
    return input.tensor == name || input.producer == name;
  });
}

}  // namespace

std::vector<WideConstant> wide_constants(const io::onnx::Model& model, const std::string& folder) {
  std::vector<WideConstant> found;
  for (const io::onnx::Tensor& constant : model.graph.initializers) {
    add_constant(constant, constant.name, folder, found);
  }
  for (const io::onnx::Node& node : model.graph.nodes) {
    for (const io::onnx::Attribute& attribute : node.attributes) {
      if (node.op_type == "Constant" && attribute.name == "value" && attribute.tensor &&
          !node.outputs.empty()) {
        add_constant(*attribute.tensor, node.outputs.front(), folder, found);
      }
    }
  }
  return found;
}

void insert_constants(const std::vector<WideConstant>& constants, const Edges& edges, double limit,
                      flow::OperatorList& operators) {
  for (const WideConstant& constant : constants) {
    const auto reader =
        std::find_if(operators.begin(), operators.end(), [&](const flow::OperatorFacts& op) {
          const graph::Operator* const known = edges.find(op.op);
          return known != nullptr && flow::is_different(op, limit) && reads(*known, constant.name);
        });
    if (reader != operators.end()) {
      operators.insert(reader, facts_of(constant));
    }
  }
}

}  // namespace opdrift::diagnose::evidence
