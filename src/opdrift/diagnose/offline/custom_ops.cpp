#include "opdrift/diagnose/offline/custom_ops.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;
namespace onnx = io::onnx;

constexpr const char* kDeformable = "DeformableConv2D";
constexpr const char* kNms = "BatchMultiClassNMS";

/// "a_b" of "a_b_c".
std::string first_two_parts(const std::string& name) {
  const std::size_t first = name.find('_');
  const std::size_t second = first == std::string::npos ? first : name.find('_', first + 1);
  return name.substr(0, second);
}

/// Whether the dumped operator stands for the node.
bool stands_for(const DumpedOperator& op, const onnx::Node& node) {
  const std::string key = io::file_key(node.name);
  if (node.op_type == kDeformable) {
    return op.op_type == "Conv2D" && op.op_name == key + "_conv2d";
  }
  return op.op_type == node.op_type && first_two_parts(op.op_name) == first_two_parts(key);
}

/// Edits one model.
class Surgeon {
 public:
  Surgeon(onnx::Model model, std::vector<DumpedOperator> dumped, std::string folder)
      : model_(std::move(model)), dumped_(std::move(dumped)), folder_(std::move(folder)) {}

  Done take_out(const std::vector<std::string>& types) {
    engine::name_nodes(model_);
    for (const onnx::Node& node : model_.graph.nodes) {
      read_.insert(node.inputs.begin(), node.inputs.end());
    }
    for (const onnx::ValueInfo& output : model_.graph.outputs) {
      read_.insert(output.name);
    }
    std::vector<onnx::Node> kept;
    for (onnx::Node& node : model_.graph.nodes) {
      if (std::find(types.begin(), types.end(), node.op_type) == types.end()) {
        kept.push_back(std::move(node));
      } else {
        OPDRIFT_CHECK_OK(replace(node));
      }
    }
    model_.graph.nodes = std::move(kept);
    return Unit{};
  }

  const onnx::Model& model() const { return model_; }
  std::vector<engine::InputFile> take_inputs() { return std::move(inputs_); }

 private:
  Done replace(const onnx::Node& node) {
    const auto op = std::find_if(dumped_.begin(), dumped_.end(), [&](const DumpedOperator& found) {
      return stands_for(found, node);
    });
    if (op == dumped_.end()) {
      return failed(Number::no_dump_file, "no device dump for the custom operator '" +
                                              printable(node.name) + "' (" + node.op_type + ")");
    }
    const std::size_t count = node.op_type == kNms ? node.outputs.size() : 1;
    for (std::size_t i = 0; i < std::min(count, node.outputs.size()); ++i) {
      if (!node.outputs[i].empty() && read_.contains(node.outputs[i])) {
        OPDRIFT_CHECK_OK(make_input(node.outputs[i], op->path, i));
      }
    }
    return Unit{};
  }

  Done make_input(const std::string& value, const std::string& dump, std::size_t index) {
    OPDRIFT_TRY(tensor::Tensor tensor, load_output(dump, index));
    OPDRIFT_TRY(tensor, in_model_type(value, std::move(tensor)));
    std::vector<onnx::Dim> dims;
    for (const std::uint64_t extent : tensor.desc.shape) {
      dims.push_back({extent, ""});
    }
    model_.graph.inputs.push_back(
        onnx::make_value_info(value, onnx::data_type_of(tensor.desc.dtype), dims));
    const std::string path = folder_ + "/custom_input_" + std::to_string(inputs_.size()) + ".npy";
    OPDRIFT_CHECK_OK(write_tensor(path, tensor));
    inputs_.push_back({value, path});
    return Unit{};
  }

  /// The device computes in half precision what the model has in single: f32 unless the model says
  /// another type, which then has to be the dump's.
  Outcome<tensor::Tensor> in_model_type(const std::string& value, tensor::Tensor tensor) const {
    const bool half = tensor.desc.dtype == tensor::DType::f16;
    int wanted = half ? onnx::data_type_of(tensor::DType::f32) : 0;
    for (const onnx::ValueInfo& info : model_.graph.value_infos) {
      wanted = info.name == value && info.element_type != 0 ? info.element_type : wanted;
    }
    const auto dtype = onnx::dtype_of(wanted).value_or(tensor.desc.dtype);
    if (dtype == tensor.desc.dtype) {
      return tensor;
    }
    if (dtype != tensor::DType::f32 || !half) {
      return failed(Number::tensor_type, "value '" + printable(value) + "': expected " +
                                             std::string(tensor::name_of(dtype)) +
                                             ", the device dump has " +
                                             std::string(tensor::name_of(tensor.desc.dtype)));
    }
    return to_f32(tensor);
  }

  onnx::Model model_;
  std::vector<DumpedOperator> dumped_;
  std::string folder_;
  std::unordered_set<std::string> read_;  // values some node or output of the graph wants
  std::vector<engine::InputFile> inputs_;
};

}  // namespace

const std::vector<std::string>& custom_op_types() {
  static const std::vector<std::string> kTypes = {kDeformable, kNms, "RoiExtractor"};
  return kTypes;
}

Outcome<std::vector<std::string>> parse_custom_ops(const std::string& text) {
  std::vector<std::string> types;
  if (trim(text).empty()) {
    return types;
  }
  for (const std::string_view part : split(text, ',')) {
    const std::string type(trim(part));
    const auto& known = custom_op_types();
    if (std::find(known.begin(), known.end(), type) == known.end()) {
      return failed(Number::bad_parameter,
                    "--custom-op '" + printable(type) + "': expected " + join(known, ", "));
    }
    types.push_back(type);
  }
  return types;
}

Outcome<CustomModel> take_out_custom_ops(const std::string& model,
                                         const std::vector<std::string>& types,
                                         const std::string& dump_folder,
                                         const std::string& folder) {
  OPDRIFT_TRY(onnx::Model opened, onnx::open_model(model));
  OPDRIFT_TRY(std::vector<DumpedOperator> dumped, list_dumped(dump_folder));
  std::error_code problem;
  fs::create_directories(folder, problem);
  Surgeon surgeon(std::move(opened), std::move(dumped), folder);
  OPDRIFT_CHECK_OK(surgeon.take_out(types));
  CustomModel result;
  result.model = folder + "/custom_" + fs::path(model).filename().string();
  OPDRIFT_CHECK_OK(onnx::write_model(result.model, surgeon.model()));
  result.inputs = surgeon.take_inputs();
  return result;
}

}  // namespace opdrift::diagnose::offline
