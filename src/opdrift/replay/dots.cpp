#include "opdrift/replay/dots.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include "opdrift/replay/dot_products.hpp"
#include "opdrift/replay/number_format.hpp"

namespace opdrift::replay {

namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 19;  // elements of right operands: 4 MiB

// round_T(x) - x; adding and taking away 1.5 * 2^52 steps rounds to a multiple of the step.
double narrowing_error(double x, double step) {
  const double magic = step * 0x1.8p52;
  const double error = ((x + magic) - magic) - x;
  return std::isfinite(error) ? error : 0.0;
}

// A step of the formats whose digits are as many in every binade, from the bits of a finite double.
struct EvenSteps {
  std::int64_t least = 0;  ///< exponent of the smallest normal number
  std::int64_t digits = 0;

  double at(double x) const {
    const auto exponent =
        static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x) >> 52U & 0x7FFU) - 1023;
    const std::int64_t biased = std::max(exponent, least) - digits + 1023;
    return std::bit_cast<double>(static_cast<std::uint64_t>(biased) << 52U);
  }
};

std::optional<EvenSteps> even_steps(tensor::DType dtype) {
  if (dtype != tensor::DType::f16 && dtype != tensor::DType::bf16 && dtype != tensor::DType::f32) {
    return std::nullopt;
  }
  const double least = smallest_normal(dtype);
  return EvenSteps{std::ilogb(least), std::ilogb(least) - std::ilogb(ulp(0.0, dtype))};
}

void narrowing_errors(std::span<const double> values, tensor::DType dtype, double* errors) {
  const auto fill = [&](auto step_of) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      errors[k] = narrowing_error(values[k], step_of(values[k]));
    }
  };
  if (const auto even = even_steps(dtype)) {
    fill([&](double x) { return even->at(x); });
  } else {
    fill([&](double x) { return ulp(x, dtype); });
  }
}

/// The left operand of the dots that are run at the moment.
class LeftOperand {
 public:
  LeftOperand(const Dots& dots, DotOperand operand) : dots_(dots), operand_(operand) {}

  void bring_in(const Dots::Dot& dot) {
    if (current_ != nullptr && current_->left == dot.left && current_->first == dot.first &&
        current_->count == dot.count) {
      return;
    }
    current_ = &dot;
    values_.resize(dot.count);
    operand_.elements->read(dot.left, std::span(dots_.left_offsets).subspan(dot.first, dot.count),
                            values_.data());
    if (operand_.narrowed != tensor::DType::raw) {
      errors_.resize(dot.count);
      narrowing_errors(values_, operand_.narrowed, errors_.data());
    }
  }

  std::span<const double> values() const { return values_; }
  std::span<const double> errors() const { return errors_; }

 private:
  const Dots& dots_;
  DotOperand operand_;
  const Dots::Dot* current_ = nullptr;
  std::vector<double> values_;
  std::vector<double> errors_;
};

}  // namespace

RightOperands::RightOperands(const Dots& dots, DotOperand operand)
    : dots_(dots), operand_(operand) {
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
  operand_.elements->read(dot.right, std::span(dots_.right_offsets).subspan(dot.first, dot.count),
                          values_.data() + at);
  if (is_narrowed()) {
    narrowing_errors(std::span(values_).subspan(at, dot.count), operand_.narrowed,
                     errors_.data() + at);
  }
}

RightOperands::Row RightOperands::row(std::size_t dot) {
  const std::size_t count = dots_.dots[dot].count;
  if (rows_.empty()) {
    values_.resize(std::max(values_.size(), count));
    errors_.resize(is_narrowed() ? values_.size() : 0);
    read(dots_.dots[dot], 0);
  }
  const std::size_t at = rows_.empty() ? 0 : rows_[dot];
  return {std::span(values_).subspan(at, count),
          is_narrowed() ? std::span<const double>(errors_).subspan(at, count)
                        : std::span<const double>()};
}

Sample run_dots(const Dots& dots, DotOperand left_operand, RightOperands& right_operands,
                const ElementReader* addend, bool with_terms) {
  Sample sample;
  sample.terms.n = dots.n;
  LeftOperand left(dots, left_operand);
  const double scale2 = dots.scale * dots.scale;
  for (std::size_t i = 0; i < dots.dots.size(); ++i) {
    left.bring_in(dots.dots[i]);
    const RightOperands::Row right = right_operands.row(i);
    const DotProducts products = dot_products(left.values(), right.values);
    double more = 0.0;
    if (addend != nullptr) {
      const std::int64_t nothing = 0;
      addend->read(dots.dots[i].addend, std::span(&nothing, 1), &more);
      more *= dots.beta;
    }
    sample.values.push_back(dots.activation(dots.scale * products.sum + more));
    if (!with_terms) {
      continue;
    }
    sample.terms.a2.push_back(scale2 * products.squares);
    if (addend != nullptr) {
      sample.terms.extra.push_back(more * more);
    }
    if (left_operand.narrowed != tensor::DType::raw || !right.errors.empty()) {
      double errors =
          right.errors.empty() ? 0.0 : dot_products(left.values(), right.errors).squares;
      errors += left.errors().empty() ? 0.0 : dot_products(left.errors(), right.values).squares;
      sample.terms.weights.push_back(scale2 * errors);
    }
  }
  return sample;
}

}  // namespace opdrift::replay
