#include "opdrift/pipeline/network/open_row.hpp"

#include <string>
#include <utility>

namespace opdrift::pipeline {

namespace {

using io::FileTensor;
using io::TensorRole;

Result<tensor::Tensor> load_from(const DumpSide& side, std::size_t entry, TensorRole role,
                                 std::uint32_t index) {
  OPDRIFT_TRY(const std::shared_ptr<const OpenedDump> opened, side.open(entry));
  const FileTensor* found = find_tensor(*opened, role, index);
  if (found == nullptr) {
    return Error{ErrorCode::out_of_range, "no tensor number " + std::to_string(index),
                 opened->dump.path};
  }
  return load_tensor(*opened, *found);
}

}  // namespace

const FileTensor* find_tensor(const OpenedDump& opened, TensorRole role, std::uint32_t index) {
  const std::vector<const FileTensor*> tensors = opened.dump.of(role);
  return index < tensors.size() ? tensors[index] : nullptr;
}

Result<tensor::Tensor> load_tensor(const OpenedDump& opened, const FileTensor& file_tensor) {
  if (file_tensor.problem) {
    Error error = *file_tensor.problem;
    error.path = error.path.empty() ? opened.dump.path : error.path;
    return error;
  }
  return io::load_tensor(file_tensor);
}

AlignRequest align_request(const NetworkInputs& inputs, const NetworkOptions& options,
                           const RowJob& job) {
  AlignRequest request;
  request.reference = options.reference;
  request.golden_format = job.golden_format;
  request.golden_shape = job.golden_shape;
  if (!inputs.by_graph) {
    request.kind = AlignKind::device;
  } else if (inputs.target->kind() != io::FolderKind::offline) {
    request.kind = AlignKind::same_shape;
  } else if (inputs.golden->kind() == io::FolderKind::offline) {
    request.kind = AlignKind::unfused;
  }
  return request;
}

Result<Aligned> open_row(const NetworkInputs& inputs, const NetworkOptions& options,
                         const NetworkRow& row, const RowJob& job) {
  OPDRIFT_TRY(
      const tensor::Tensor golden,
      load_from(*inputs.golden, job.golden_entry,
                job.golden_output ? TensorRole::output : TensorRole::input, job.golden_tensor));
  OPDRIFT_TRY(const tensor::Tensor target,
              load_from(*inputs.target, job.target_entry,
                        row.output ? TensorRole::output : TensorRole::input, row.tensor));
  return align_rows(target, golden, align_request(inputs, options, job));
}

}  // namespace opdrift::pipeline
