#include "opdrift/replay/dots.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "opdrift/replay/dot_products.hpp"
#include "opdrift/replay/number_format.hpp"

namespace opdrift::replay {

namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 19;  // elements of right operands: 4 MiB

std::optional<EvenSteps> even_steps(tensor::DType dtype) {
  if (dtype != tensor::DType::f16 && dtype != tensor::DType::bf16 && dtype != tensor::DType::f32) {
    return std::nullopt;
  }
  const double least = smallest_normal(dtype);
  return EvenSteps{std::ilogb(least), std::ilogb(least) - std::ilogb(ulp(0.0, dtype))};
}

void fill_errors(std::span<const double> values, tensor::DType dtype, double* errors) {
  if (const auto even = even_steps(dtype)) {
    narrowing_errors(values, *even, errors);
    return;
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    errors[k] = narrowing_error(values[k], ulp(values[k], dtype));
  }
}

/// The left operand of the dots that are run at the moment.
class LeftOperand {
 public:
  LeftOperand(const Dots& dots, DotOperand operand)
      : operand_(operand), reader_(*operand.elements, dots.left_offsets) {}

  void bring_in(const Dots::Dot& dot) {
    if (current_ != nullptr && current_->left == dot.left && current_->first == dot.first &&
        current_->count == dot.count) {
      return;
    }
    current_ = &dot;
    values_.resize(dot.count);
    reader_.read(dot.left, dot.first, dot.count, values_.data());
    if (is_narrowed()) {
      errors_.resize(dot.count);
      fill_errors(values_, operand_.narrowed, errors_.data());
    }
  }

  bool is_narrowed() const { return operand_.narrowed != tensor::DType::raw; }
  std::span<const double> values() const { return values_; }
  std::span<const double> errors() const { return errors_; }

 private:
  DotOperand operand_;
  RowReader reader_;
  const Dots::Dot* current_ = nullptr;
  std::vector<double> values_;
  std::vector<double> errors_;
};

}  // namespace

void ElementReader::read_run(std::int64_t first, std::size_t count, double* out) const {
  std::vector<std::int64_t> offsets(count);
  std::iota(offsets.begin(), offsets.end(), std::int64_t{0});
  read(first, offsets, out);
}

void RowReader::read(std::int64_t start, std::size_t first, std::size_t count, double* out) {
  const auto offsets = std::span(offsets_).subspan(first, count);
  if (first_ != first || count_ != count) {
    first_ = first;
    count_ = count;
    run_ =
        std::adjacent_find(offsets.begin(), offsets.end(), [](std::int64_t one, std::int64_t next) {
          return next != one + 1;
        }) == offsets.end();
  }
  if (run_ && count > 0) {
    elements_.read_run(start + offsets.front(), count, out);
  } else {
    elements_.read(start, offsets, out);
  }
}

RightOperands::RightOperands(const Dots& dots, DotOperand operand)
    : dots_(dots),
      operand_(operand),
      reader_(*operand.elements, dots.right_offsets),
      current_(dots.dots.size()) {
  std::map<std::tuple<std::int64_t, std::size_t, std::size_t>, std::size_t> known;
  std::vector<const Dots::Dot*> distinct;
  std::size_t used = 0;
  for (const Dots::Dot& dot : dots.dots) {
    const auto [row, added] = known.try_emplace({dot.right, dot.first, dot.count}, used);
    rows_.push_back(row->second);
    if (added) {
      distinct.push_back(&dot);
      used += dot.count;
    }
  }
  if (used > kMostKept) {
    rows_.clear();
    return;
  }
  values_.resize(used);
  errors_.resize(is_narrowed() ? used : 0);
  std::size_t at = 0;
  for (const Dots::Dot* dot : distinct) {
    read(*dot, at);
    at += dot->count;
  }
}

void RightOperands::read(const Dots::Dot& dot, std::size_t at) {
  reader_.read(dot.right, dot.first, dot.count, values_.data() + at);
  if (is_narrowed()) {
    fill_errors(std::span(values_).subspan(at, dot.count), operand_.narrowed, errors_.data() + at);
  }
}

RightOperands::Row RightOperands::row(std::size_t dot) {
  const std::size_t count = dots_.dots[dot].count;
  if (rows_.empty() && dot != current_) {
    values_.resize(std::max(values_.size(), count));
    errors_.resize(is_narrowed() ? values_.size() : 0);
    read(dots_.dots[dot], 0);
    current_ = dot;
  }
  const std::size_t at = rows_.empty() ? 0 : rows_[dot];
  return {std::span(values_).subspan(at, count),
          is_narrowed() ? std::span<const double>(errors_).subspan(at, count)
                        : std::span<const double>()};
}

namespace {

/// One side while its dots are run.
class SideRun {
 public:
  SideRun(const Dots& dots, const DotSide& side, bool with_terms)
      : dots_(dots), side_(side), left_(dots, side.left), with_terms_(with_terms) {
    sample_.terms.n = dots.n;
  }

  void run(std::size_t i) {
    const Dots::Dot& dot = dots_.dots[i];
    left_.bring_in(dot);
    const RightOperands::Row right = side_.right.row(i);
    const DotProducts products = dot_products(left_.values(), right.values);
    double more = 0.0;
    if (side_.addend != nullptr) {
      const std::int64_t nothing = 0;
      side_.addend->read(dot.addend, std::span(&nothing, 1), &more);
      more *= dots_.beta;
    }
    sample_.values.push_back(dots_.activation(dots_.scale * products.sum + more));
    if (with_terms_) {
      add_terms(products, more, right);
    }
  }

  Sample finish() { return std::move(sample_); }

 private:
  void add_terms(const DotProducts& products, double more, const RightOperands::Row& right) {
    const double scale2 = dots_.scale * dots_.scale;
    Terms& terms = sample_.terms;
    terms.a2.push_back(scale2 * products.squares);
    if (side_.addend != nullptr) {
      terms.extra.push_back(more * more);
    }
    if (!left_.is_narrowed() && !side_.right.is_narrowed()) {
      return;
    }
    double errors = 0.0;
    if (side_.right.is_narrowed()) {
      errors += dot_products(left_.values(), right.errors).squares;
    }
    if (left_.is_narrowed()) {
      errors += dot_products(left_.errors(), right.values).squares;
    }
    terms.weights.push_back(scale2 * errors);
  }

  const Dots& dots_;
  const DotSide& side_;
  LeftOperand left_;
  bool with_terms_;
  Sample sample_;
};

}  // namespace

std::vector<Sample> run_dots(const Dots& dots, std::span<const DotSide> sides, bool with_terms) {
  std::vector<SideRun> runs;
  runs.reserve(sides.size());
  for (const DotSide& side : sides) {
    runs.emplace_back(dots, side, with_terms);
  }
  for (std::size_t i = 0; i < dots.dots.size(); ++i) {
    for (SideRun& run : runs) {
      run.run(i);
    }
  }
  std::vector<Sample> samples;
  samples.reserve(runs.size());
  for (SideRun& run : runs) {
    samples.push_back(run.finish());
  }
  return samples;
}

}  // namespace opdrift::replay
