#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "opdrift/replay/activation.hpp"
#include "opdrift/replay/kind.hpp"

// Sums of products at some positions of an output, reading only the elements that these need:
//
//   y_p = activation(scale * sum_k left[l_p + dl_k] * right[r_p + dr_k] + beta * addend[c_p])
//
// Operands lie scattered, so bringing them in costs more than multiplying them: what several sums
// share is brought in once.

namespace opdrift::replay {

/// Where every dot product finds its operands, as flat positions of the inputs. Dots that share
/// their left operand follow each other.
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
  /// out[i] = element first + i.
  virtual void read_run(std::int64_t first, std::size_t count, double* out) const;
};

/// One operand of all dots.
struct DotOperand {
  const ElementReader* elements = nullptr;
  /// Storage type of an operand that is kept narrower than it is given here; `raw`: not narrowed.
  tensor::DType narrowed = tensor::DType::raw;
};

/// Reads rows of one operand: elements in the order of a list of offsets.
class RowReader {
 public:
  RowReader(const ElementReader& elements, const std::vector<std::int64_t>& offsets)
      : elements_(elements), offsets_(offsets) {}

  /// `count` elements behind `start`, at the offsets from `first` on.
  void read(std::int64_t start, std::size_t first, std::size_t count, double* out);

 private:
  const ElementReader& elements_;
  const std::vector<std::int64_t>& offsets_;
  std::size_t first_ = 0;  ///< the part of the list that was looked at last
  std::size_t count_ = 0;
  bool run_ = false;  ///< its elements lie side by side
};

/// The right operands of all dots, each of them in memory once (bounded; what is too much is
/// brought in dot by dot). Serves several sides that read the same tensor.
class RightOperands {
 public:
  /// Keeps both references.
  RightOperands(const Dots& dots, DotOperand operand);

  /// `errors`: round_T(x) - x, empty where nothing is narrowed. Valid until the next call.
  struct Row {
    std::span<const double> values;
    std::span<const double> errors;
  };
  Row row(std::size_t dot);
  bool is_narrowed() const { return operand_.narrowed != tensor::DType::raw; }

 private:
  void read(const Dots::Dot& dot, std::size_t at);

  const Dots& dots_;
  DotOperand operand_;
  RowReader reader_;
  std::vector<std::size_t> rows_;  ///< first element of a dot's row; empty: nothing is kept
  std::size_t current_;            ///< the dot whose row is there where nothing is kept
  std::vector<double> values_;
  std::vector<double> errors_;
};

/// What one side reads. `addend` may be nullptr.
struct DotSide {
  DotOperand left;
  RightOperands& right;
  const ElementReader* addend = nullptr;
};

/// The values, and with_terms the budget terms, of all dots: one sample for each side.
std::vector<Sample> run_dots(const Dots& dots, std::span<const DotSide> sides, bool with_terms);

}  // namespace opdrift::replay
