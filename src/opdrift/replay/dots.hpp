#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/activation.hpp"
#include "opdrift/replay/kind.hpp"

// Weighted kinds at some positions of their output, reading only the elements that these need:
//
//   y_p = activation(scale * sum_k left[l_p + dl_k] * right[r_p + dr_k] + beta * addend[c_p])

namespace opdrift::replay {

/// Where every dot product finds its operands, as flat positions of the inputs.
struct Dots {
  struct Dot {
    std::int64_t left = 0;
    std::int64_t right = 0;
    std::int64_t addend = 0;
    std::size_t first = 0;  ///< its part of the lists of offsets
    std::size_t count = 0;
  };
  std::vector<Dot> dots;  ///< one per position
  std::vector<std::int64_t> left_offsets;
  std::vector<std::int64_t> right_offsets;
  std::size_t left_input = 0;
  std::size_t right_input = 1;
  std::optional<std::size_t> addend_input;
  double n = 1.0;  ///< reduction length of the terms
  double scale = 1.0;
  double beta = 1.0;
  Activation activation;
};

/// Plans MatMul, Gemm, Linear, AddMatMul, Conv and ConvTranspose. The arrays of `call` need shapes
/// only. Fails with `unsupported` for other kinds, shapes that do not fit, or an output of another
/// shape than `output`.
Result<Dots> plan_dots(const OperatorKind& kind, const Call& call, const tensor::Shape& output,
                       std::span<const std::uint64_t> positions);

/// Elements of one tensor by flat position.
class ElementReader {
 public:
  ElementReader() = default;
  ElementReader(const ElementReader&) = delete;
  ElementReader& operator=(const ElementReader&) = delete;
  virtual ~ElementReader() = default;
  /// out[i] = element base + offsets[i]; every position lies inside the tensor.
  virtual void read(std::int64_t base, std::span<const std::int64_t> offsets,
                    double* out) const = 0;
};

/// The operands of all dot products of one side.
struct DotOperands {
  const ElementReader& left;
  const ElementReader& right;
  const ElementReader* addend = nullptr;
  /// Storage type of operands that are kept narrower than they are given here; `raw`: not narrowed.
  tensor::DType left_narrowed = tensor::DType::raw;
  tensor::DType right_narrowed = tensor::DType::raw;
};

/// The values, and with_terms the budget terms, of all dots.
Sample run_dots(const Dots& dots, const DotOperands& operands, bool with_terms);

}  // namespace opdrift::replay
