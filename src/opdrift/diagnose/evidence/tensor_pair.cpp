#include "opdrift/diagnose/evidence/tensor_pair.hpp"

#include <algorithm>

#include "opdrift/pipeline/dump_index.hpp"

namespace opdrift::diagnose::evidence {

Result<tensor::Tensor> load_tensor(const std::string& path, bool output, std::uint32_t index,
                                   const std::string& operator_name) {
  OPDRIFT_TRY(const pipeline::DumpIndex found,
              pipeline::index_dump(path, verdict::RunSide::target, 1));
  const auto wanted = [&](bool by_name) {
    return std::find_if(found.tensors.begin(), found.tensors.end(), [&](const auto& tensor) {
      return tensor.name.output == output && tensor.name.index == index &&
             (!by_name || tensor.name.operator_name == operator_name);
    });
  };
  auto tensor = wanted(true);
  tensor = tensor == found.tensors.end() ? wanted(false) : tensor;
  if (tensor == found.tensors.end() && found.tensors.size() == 1) {
    tensor = found.tensors.begin();
  }
  if (tensor == found.tensors.end()) {
    return Error{ErrorCode::not_found, "expected the tensor of a comparison, found none", path};
  }
  return pipeline::load(*tensor);
}

Result<pipeline::AlignedPair> load_pair(const verdict::TensorResult& row) {
  const bool output = row.role != "input";
  OPDRIFT_TRY(const tensor::Tensor golden,
              load_tensor(row.golden_path, output, row.index, row.golden_operator));
  OPDRIFT_TRY(const tensor::Tensor target,
              load_tensor(row.target_path, output, row.index, row.operator_name));
  return pipeline::align_pair(golden, target);
}

}  // namespace opdrift::diagnose::evidence
