#pragma once

#include <cstddef>
#include <cstdint>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/array.hpp"
#include "opdrift/replay/call.hpp"

// Codes and what they stand for, for the kinds between them:
//   value = (code - zero point) * scale
//   code  = saturate(round to even(value / scale) + zero point)

namespace opdrift::replay {

/// The codes a type can hold.
struct CodeRange {
  double low = 0.0;
  double high = 255.0;
};

/// Fails with `unsupported` for types that are no integers.
Result<CodeRange> range_of(const Call& call, tensor::DType dtype);

/// The code of a value that was divided by its scale; not rounded where the call asks for that.
double to_code(const Call& call, double value, const CodeRange& range, double zero);

/// value / scale in single precision, as engines divide: what is a tie there must be one here.
double quotient(double value, double scale);

/// One parameter per element of a tensor: one for all, one per entry of an axis, or one per block.
class Parameter {
 public:
  static Result<Parameter> create(const Call& call, const Array* array, const Array& x,
                                  std::int64_t axis, std::int64_t block, double fallback);
  double at(std::size_t position) const;

 private:
  const Array* array_ = nullptr;
  double fallback_ = 0.0;
  std::size_t inner_ = 1;
  std::size_t extent_ = 1;
  std::size_t block_ = 1;
  std::size_t blocks_ = 0;
};

/// Scale and zero point of one tensor.
struct Coding {
  Parameter scale;
  Parameter zero;
};

/// The coding of `x`, whose scale is an input and whose zero point is the next one.
Result<Coding> coding(const Call& call, const Array& x, std::size_t scale_index, std::int64_t axis);

Array decoded(const Array& x, const Coding& coding);
/// Codes of that type; a type of numbers with a point rounds instead.
Result<Array> encoded(const Call& call, const Array& x, const Coding& coding, tensor::DType dtype);

/// The type of codes is that of the zero point; without one uint8, or what an attribute says.
tensor::DType code_dtype(const Call& call, std::size_t zero_index);

}  // namespace opdrift::replay
