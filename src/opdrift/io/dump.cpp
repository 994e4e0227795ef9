#include "opdrift/io/dump.hpp"

namespace opdrift::io {

std::string_view to_string(TensorRole role) {
  switch (role) {
    case TensorRole::input: return "input";
    case TensorRole::output: return "output";
    case TensorRole::buffer: return "buffer";
    case TensorRole::space: return "space";
  }
  return "output";
}

Result<tensor::Tensor> load_tensor(const FileTensor& file_tensor) {
  if (file_tensor.problem) {
    return *file_tensor.problem;
  }
  if (!file_tensor.loader) {
    return tensor::Tensor{file_tensor.desc, file_tensor.bytes};
  }
  OPDRIFT_TRY(Bytes bytes, file_tensor.loader());
  return tensor::Tensor{file_tensor.desc, std::move(bytes)};
}

std::vector<const FileTensor*> FileDump::of(TensorRole role) const {
  std::vector<const FileTensor*> found;
  for (const FileTensor& file_tensor : tensors) {
    if (file_tensor.role == role) {
      found.push_back(&file_tensor);
    }
  }
  return found;
}

}  // namespace opdrift::io
