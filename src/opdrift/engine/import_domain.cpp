#include "opdrift/engine/import_domain.hpp"

#include <algorithm>

namespace opdrift::engine {

void import_domain(io::onnx::Model& model, const std::string& domain) {
  const bool known = std::any_of(model.opsets.begin(), model.opsets.end(),
                                 [&](const auto& opset) { return opset.domain == domain; });
  if (known) {
    return;
  }
  io::ProtobufWriter opset;
  opset.text(1, domain);
  opset.varint(2, 1);
  const Bytes bytes = own_bytes(opset.take());
  io::ProtobufField field;
  field.number = 8;
  field.type = io::WireType::bytes;
  field.bytes = bytes.span;
  model.unknown.push_back({field, bytes.owner});
  model.opsets.push_back({domain, 1});
}

}  // namespace opdrift::engine
