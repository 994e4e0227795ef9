#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Pairs the tensors of two dumps of the PyTorch adapter, `/op/order/(input|output)/.../name`.
///
///   key of a tensor   op, its occurrence (orders of an operator and its stand-ins, rising, from
///   0),
///                     and the rest of the path
///   golden            the tensor of the same key; else the same occurrence of a stand-in:
///                       CudnnBatchNormBackward - NativeBatchNormBackward, CudnnConvolutionBackward
///                       and ThnnConvDepthwise2DBackward - NpuConvolutionBackward, or the prefix
///                       Npu as Cudnn (GPU golden) or Thnn (CPU golden) and back;
///                     else under the stand-in's name of the parameter (epsilon - eps, self -
///                     input)
///
/// Inputs take part only if the target has any; if it has none the order numbers must agree too.
namespace opdrift::match {

struct TorchTensor {
  std::string op;
  std::uint64_t order = 0;
  std::string rest;  ///< "output/result"
  bool input = false;
};

enum class TorchRule : std::uint8_t { none, same_name, stand_in, renamed_parameter };

const char* to_string(TorchRule rule);

/// One row: a target tensor with or without its golden, or an operator only the golden has.
struct TorchPair {
  std::optional<std::size_t> target;
  std::optional<std::size_t> golden;
  TorchRule rule = TorchRule::none;
};

enum class TorchDevice : std::uint8_t { cpu, gpu, other };

/// Target tensors by order and path, then the first tensor of each golden operator that no target
/// tensor was paired with, by order.
std::vector<TorchPair> pair_torch(std::span<const TorchTensor> target,
                                  std::span<const TorchTensor> golden, TorchDevice golden_device);

/// Operators that may stand for `op` on the other side, best first.
std::vector<std::string> stand_ins(const std::string& op, TorchDevice golden_device);

}  // namespace opdrift::match
