#pragma once

#include <memory>
#include <vector>

#include "opdrift/replay/dots.hpp"
#include "opdrift/verdict/judge/arrays.hpp"

// Single elements of a value, from the mapped bytes of a dump or from an array that stands in.

namespace opdrift::verdict::judging {

/// Reads elements of a view or an array by flat position, in logical order. Thread-safe.
class Reader final : public replay::ElementReader {
 public:
  /// Keeps the view, and with it its bytes. The dtype must be a number.
  explicit Reader(tensor::View view);
  explicit Reader(ArrayPtr array);

  void read(std::int64_t base, std::span<const std::int64_t> offsets, double* out) const override;
  void read_run(std::int64_t first, std::size_t count, double* out) const override;
  std::vector<double> at(std::span<const std::uint64_t> positions) const;
  double at(std::uint64_t position) const;

  /// Where an element lies. What two steps along different axes add to it adds up, so that elements
  /// in rows and columns are found without dividing every position.
  std::int64_t locate(std::uint64_t position) const;
  /// out[i] = the element that lies at base + offsets[i].
  void read_located(std::int64_t base, std::span<const std::int64_t> offsets, double* out) const;

  const tensor::Shape& shape() const { return shape_; }
  tensor::DType dtype() const { return dtype_; }

 private:
  std::int64_t stored(std::uint64_t position) const;
  void read_scattered(std::int64_t base, std::span<const std::int64_t> offsets, double* out) const;

  tensor::View view_;
  ArrayPtr array_;
  tensor::Shape shape_;
  tensor::DType dtype_;
  const std::byte* bytes_ = nullptr;  ///< element 0 of the stored tensor; whole-byte types only
  std::size_t width_ = 0;
  bool in_order_ = false;  ///< logical order is stored order
};

using ReaderPtr = std::shared_ptr<const Reader>;

/// The same elements with the noise of the wider-input hypothesis.
class WidenedReader final : public replay::ElementReader {
 public:
  WidenedReader(ReaderPtr reader, tensor::DType dtype, std::uint64_t seed)
      : reader_(std::move(reader)), dtype_(dtype), seed_(seed) {}
  void read(std::int64_t base, std::span<const std::int64_t> offsets, double* out) const override;

 private:
  ReaderPtr reader_;
  tensor::DType dtype_;
  std::uint64_t seed_;
};

/// One input of an operator, to be read in places.
struct InputReaders {
  ReaderPtr golden;
  ReaderPtr target;              ///< the same where both sides share it
  std::vector<ReaderPtr> noisy;  ///< of a stand-in, else empty
  std::vector<std::uint32_t> group;
  bool replayed = false;
};

/// Both sides of a value, as dumped. Fails with `not_found` when one is not there.
Result<InputReaders> open_dumped(const Context& context, ValueId value);

/// Opens an input without loading it. Fails like load_inputs.
Result<InputReaders> open_input(const Context& context, ValueId value, StandIns& stand_ins);

}  // namespace opdrift::verdict::judging
