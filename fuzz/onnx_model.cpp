#include "targets.hpp"

#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::fuzz {

/// Reading a model, its operators and constants, and writing it again with every node re-encoded.
void onnx_model(ByteSpan bytes) {
  auto model = io::onnx::read_model(own_bytes({bytes.begin(), bytes.end()}));
  if (!model) {
    return;
  }
  static_cast<void>(io::onnx::to_graph(*model));
  for (const io::onnx::Tensor& tensor : model->graph.initializers) {
    static_cast<void>(io::onnx::load(tensor, "/nowhere"));
  }
  for (io::onnx::Node& node : model->graph.nodes) {
    node.message = {};
    for (io::onnx::Attribute& attribute : node.attributes) {
      attribute.message = {};
    }
  }
  if (const auto encoded = io::onnx::encode(*model)) {
    static_cast<void>(io::onnx::read_model(own_bytes(encoded->flatten())));
  }
}

}  // namespace opdrift::fuzz
