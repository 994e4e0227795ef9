#pragma once

#include "opdrift/verdict/explain/refit.hpp"

// Refits that take the base from elsewhere.

namespace opdrift::verdict::refit {

/// r at flat index i = element i of another view of as many elements.
class ViewRefit final : public Refit {
 public:
  explicit ViewRefit(Values values) : values_(std::move(values)) {}
  void predict(std::uint64_t first, std::size_t count, const double* base,
               double* out) const override;

 private:
  Values values_;
};

/// r at index c of one axis = base at index map[c], the other indices being equal.
class AxisRefit final : public Refit {
 public:
  AxisRefit(const Evidence& evidence, std::size_t axis, std::vector<std::uint64_t> map);
  void predict(std::uint64_t first, std::size_t count, const double* base,
               double* out) const override;

 private:
  void by_rows(std::uint64_t first, std::size_t count, double* out) const;

  const Values* base_;
  std::vector<std::uint64_t> map_;
  std::uint64_t inner_;
  std::uint64_t row_;  // elements of the axis and of everything below it
};

/// What stands where a shifted tensor has no source.
enum class Fill : std::uint8_t { zero, wrap, repeat, unknown };

/// r at (..., c_k, ...) = base at (..., c_k - shift_k, ...).
class ShiftRefit final : public Refit {
 public:
  ShiftRefit(const Values& base, tensor::Shape shape, std::vector<std::int64_t> shifts, Fill fill);
  void predict(std::uint64_t first, std::size_t count, const double* base,
               double* out) const override;

 private:
  static constexpr std::int64_t kOutside = -1;
  /// Index of an axis that index `c` is taken from, or kOutside.
  std::int64_t source_index(std::size_t axis, std::int64_t c) const;
  /// First element of the row that a row is taken from, or kOutside.
  std::int64_t source_row(const std::vector<std::uint64_t>& coordinates) const;
  void part_of_row(std::int64_t row, std::int64_t first, std::size_t count, double* out) const;

  const Values* base_;
  tensor::Shape shape_;
  std::vector<std::uint64_t> strides_;
  std::vector<std::int64_t> shifts_;
  Fill fill_;
};

/// A box of indices, `end` exclusive.
struct IndexBox {
  std::vector<std::uint64_t> begin;
  std::vector<std::uint64_t> end;

  std::uint64_t count() const;
  bool contains(const std::vector<std::uint64_t>& coordinates) const;
};

/// r inside a box = base at a constant flat distance; base elsewhere.
class BoxRefit final : public Refit {
 public:
  struct Move {
    IndexBox box;
    std::int64_t distance = 0;  ///< source minus place, in elements
  };

  BoxRefit(const Evidence& evidence, std::vector<Move> moves);
  void predict(std::uint64_t first, std::size_t count, const double* base,
               double* out) const override;

 private:
  const Values* base_;
  tensor::Shape shape_;
  std::vector<Move> moves_;
};

}  // namespace opdrift::verdict::refit
