#pragma once

#include <cstdint>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/network/align.hpp"
#include "opdrift/pipeline/network/compare.hpp"

namespace opdrift::pipeline {

/// The tensor of that role and number in an opened dump, or nullptr.
const io::FileTensor* find_tensor(const OpenedDump& opened, io::TensorRole role,
                                  std::uint32_t index);

/// Brings a tensor of an opened dump in (mapped). An Ascend tensor holds what its shape asks for;
/// missing bytes show up as fewer elements. Errors name the file.
Result<tensor::Tensor> load_tensor(const OpenedDump& opened, const io::FileTensor& file_tensor);

/// How the two sides of a row are to be aligned.
AlignRequest align_request(const NetworkInputs& inputs, const NetworkOptions& options,
                           const RowJob& job);

/// Brings both sides of a row in, mapped, in the order in which they were measured.
Result<Aligned> open_row(const NetworkInputs& inputs, const NetworkOptions& options,
                         const NetworkRow& row, const RowJob& job);

}  // namespace opdrift::pipeline
