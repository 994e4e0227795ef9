#include "opdrift/diagnose/evidence/export_checks.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr std::array<std::string_view, 6> kRandom = {"RandomNormal",     "RandomUniform",
                                                     "RandomNormalLike", "RandomUniformLike",
                                                     "Multinomial",      "Bernoulli"};

class ExportCheck {
 public:
  ExportCheck(const io::onnx::Model& model, const std::string& folder)
      : model_(model), folder_(folder) {
    for (const io::onnx::Node& node : model.graph.nodes) {
      used_.insert(node.inputs.begin(), node.inputs.end());
    }
    for (const io::onnx::ValueInfo& output : model.graph.outputs) {
      used_.insert(output.name);
    }
  }

  std::vector<std::string> run() {
    const std::vector<std::string> names = io::onnx::node_names(model_.graph);
    for (std::size_t i = 0; i < model_.graph.nodes.size(); ++i) {
      const std::string problem = problem_of(model_.graph.nodes[i]);
      if (!problem.empty()) {
        found_.push_back(names[i] + ": " + problem);
      }
    }
    return std::move(found_);
  }

 private:
  std::string problem_of(const io::onnx::Node& node) const {
    if (std::find(kRandom.begin(), kRandom.end(), node.op_type) != kRandom.end()) {
      return node.op_type + " draws random numbers";
    }
    const bool norm = node.op_type == "BatchNormalization";
    if (!norm && node.op_type != "Dropout") {
      return "";
    }
    const io::onnx::Attribute* const mode = node.attribute("training_mode");
    if ((mode != nullptr && mode->integer != 0) || (!norm && is_true(node))) {
      return node.op_type + " in training mode: export in evaluation mode";
    }
    return norm && used_outputs(node) > 1
               ? "more than one output of BatchNormalization is used: training mode"
               : "";
  }

  std::size_t used_outputs(const io::onnx::Node& node) const {
    return static_cast<std::size_t>(std::count_if(
        node.outputs.begin(), node.outputs.end(),
        [&](const std::string& name) { return !name.empty() && used_.count(name) > 0; }));
  }

  /// The third input of a Dropout is a constant that is true.
  bool is_true(const io::onnx::Node& node) const {
    if (node.inputs.size() < 3 || node.inputs[2].empty()) {
      return false;
    }
    for (const io::onnx::Tensor& constant : model_.graph.initializers) {
      if (constant.name == node.inputs[2]) {
        return holds_true(constant);
      }
    }
    for (const io::onnx::Node& maker : model_.graph.nodes) {
      if (maker.op_type == "Constant" && !maker.outputs.empty() &&
          maker.outputs.front() == node.inputs[2]) {
        const io::onnx::Attribute* const value = maker.attribute("value");
        return value != nullptr && value->tensor && holds_true(*value->tensor);
      }
    }
    return false;
  }

  bool holds_true(const io::onnx::Tensor& constant) const {
    const auto tensor = io::onnx::load(constant, folder_);
    return tensor && !tensor->bytes.span.empty() && tensor->bytes.span.front() != std::byte{0};
  }

  const io::onnx::Model& model_;
  const std::string& folder_;
  std::unordered_set<std::string> used_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> check_export(const io::onnx::Model& model, const std::string& folder) {
  return ExportCheck(model, folder).run();
}

}  // namespace opdrift::diagnose::evidence
