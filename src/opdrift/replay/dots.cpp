#include "opdrift/replay/dots.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "opdrift/replay/convolution.hpp"
#include "opdrift/replay/kinds/affine.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/number_format.hpp"

namespace opdrift::replay {

namespace {

constexpr std::size_t kMostOffsets = std::size_t{1} << 24;  // 256 MiB of positions

std::int64_t batch_start(const Product& product, const Operand& operand, std::uint64_t batch) {
  std::int64_t start = 0;
  for (std::size_t axis = product.batch.size(); axis-- > 0;) {
    start += static_cast<std::int64_t>(batch % product.batch[axis]) * operand.batch[axis];
    batch /= product.batch[axis];
  }
  return start;
}

std::int64_t broadcast_position(std::uint64_t position, const tensor::Shape& shape,
                                const Strides& strides) {
  std::int64_t at = 0;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    at += static_cast<std::int64_t>(position % shape[axis]) * strides[axis];
    position /= shape[axis];
  }
  return at;
}

Dots plan_affine(const Affine& affine, std::span<const std::uint64_t> positions) {
  const Product& product = affine.product;
  Dots dots;
  dots.left_input = affine.left_index;
  dots.right_input = affine.right_index;
  if (affine.addend != nullptr) {
    dots.addend_input = affine.left_index == 0 ? 2 : 0;
  }
  dots.n = static_cast<double>(product.k);
  dots.scale = product.scale;
  dots.beta = affine.beta;
  dots.activation = affine.activation;
  for (std::size_t k = 0; k < product.k; ++k) {
    dots.left_offsets.push_back(static_cast<std::int64_t>(k) * product.left.reduced);
    dots.right_offsets.push_back(static_cast<std::int64_t>(k) * product.right.reduced);
  }
  const Strides addend =
      affine.addend == nullptr ? Strides{} : broadcast_strides(affine.addend->shape, product.shape);
  const std::uint64_t plane = product.m * product.n;
  for (const std::uint64_t position : positions) {
    const std::uint64_t batch = position / plane;
    Dots::Dot dot;
    dot.left = batch_start(product, product.left, batch) +
               static_cast<std::int64_t>(position % plane / product.n) * product.left.free;
    dot.right = batch_start(product, product.right, batch) +
                static_cast<std::int64_t>(position % product.n) * product.right.free;
    dot.count = product.k;
    if (affine.addend != nullptr) {
      dot.addend = broadcast_position(position, product.shape, addend);
    }
    dots.dots.push_back(dot);
  }
  return dots;
}

// The taps of one output, relative to the first: positions at the same distance from the borders
// share them.
using Pattern = std::vector<std::int64_t>;

Pattern pattern_of(const std::vector<Tap>& taps) {
  Pattern pattern;
  pattern.reserve(2 * taps.size());
  for (const Tap& tap : taps) {
    pattern.push_back(static_cast<std::int64_t>(tap.input) -
                      static_cast<std::int64_t>(taps.front().input));
    pattern.push_back(static_cast<std::int64_t>(tap.kernel));
  }
  return pattern;
}

class ConvolutionPlanner {
 public:
  ConvolutionPlanner(const Convolution& conv, Dots& dots) : conv_(conv), dots_(dots) {}

  Status add(std::uint64_t position) {
    const std::uint64_t outputs = conv_.window.output_count();
    const std::uint64_t all_out = conv_.groups * conv_.out_channels;
    const std::uint64_t batch = position / outputs / all_out;
    const std::size_t channel = channel_of(conv_, position);
    const std::size_t group = channel / conv_.out_channels;
    if (conv_.transposed) {
      transposed_taps_at(conv_.window, position % outputs, taps_);
    } else {
      taps_at(conv_.window, position % outputs, taps_);
    }
    Dots::Dot dot;
    if (!taps_.empty()) {
      OPDRIFT_TRY(const Part part, part_of(pattern_of(taps_)));
      dot.first = part.first;
      dot.count = part.count;
      dot.left = static_cast<std::int64_t>((batch * conv_.groups + group) * conv_.in_channels *
                                               conv_.window.input_count() +
                                           taps_.front().input);
      const std::size_t slot = conv_.transposed ? group * conv_.in_channels * conv_.out_channels +
                                                      channel % conv_.out_channels
                                                : channel * conv_.in_channels;
      dot.right = static_cast<std::int64_t>(slot * conv_.window.kernel_count());
    }
    dot.addend = static_cast<std::int64_t>(channel);
    dots_.dots.push_back(dot);
    return Unit{};
  }

 private:
  struct Part {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  Result<Part> part_of(const Pattern& pattern) {
    const auto known = parts_.find(pattern);
    if (known != parts_.end()) {
      return known->second;
    }
    const std::size_t taps = pattern.size() / 2;
    if (dots_.left_offsets.size() + taps * conv_.in_channels > kMostOffsets) {
      return Error{ErrorCode::limit, "the sums of the convolution are too long to be sampled"};
    }
    const Part part{dots_.left_offsets.size(), taps * conv_.in_channels};
    const auto plane = static_cast<std::int64_t>(conv_.window.input_count());
    const auto kernel = static_cast<std::int64_t>(conv_.window.kernel_count()) *
                        static_cast<std::int64_t>(conv_.transposed ? conv_.out_channels : 1);
    for (std::size_t c = 0; c < conv_.in_channels; ++c) {
      const auto channel = static_cast<std::int64_t>(c);
      for (std::size_t tap = 0; tap < taps; ++tap) {
        dots_.left_offsets.push_back(channel * plane + pattern[2 * tap]);
        dots_.right_offsets.push_back(channel * kernel + pattern[2 * tap + 1]);
      }
    }
    parts_.emplace(pattern, part);
    return part;
  }

  const Convolution& conv_;
  Dots& dots_;
  std::vector<Tap> taps_;
  std::map<Pattern, Part> parts_;
};

Result<Dots> plan_conv(const Call& call, bool transposed, const tensor::Shape& output,
                       std::span<const std::uint64_t> positions) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* w, call.need(1, "W"));
  OPDRIFT_TRY(const Convolution conv, plan_convolution(call, *x, *w, transposed));
  const Array* bias = call.input(2);
  if (conv.shape != output || (call.op.type == "FusedConv" && call.input(3) != nullptr) ||
      (bias != nullptr && count_of(bias->shape) != conv.shape[1])) {
    return call.not_modelled("it does not fit the shape of its result");
  }
  Dots dots;
  OPDRIFT_TRY(dots.activation, fused_activation(call));
  if (bias != nullptr) {
    dots.addend_input = 2;
  }
  double n = static_cast<double>(conv.reduction());
  for (const std::int64_t stride : conv.window.stride) {
    n /= transposed ? static_cast<double>(stride) : 1.0;
  }
  dots.n = std::max(1.0, std::floor(n));
  ConvolutionPlanner planner(conv, dots);
  for (const std::uint64_t position : positions) {
    OPDRIFT_CHECK_OK(planner.add(position));
  }
  return dots;
}

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

void add_errors(std::span<const double> operand, std::span<const double> other, tensor::DType dtype,
                double& sum) {
  const auto add = [&](auto step_of) {
    for (std::size_t k = 0; k < operand.size(); ++k) {
      const double error = narrowing_error(operand[k], step_of(operand[k])) * other[k];
      sum += error * error;
    }
  };
  if (const auto even = even_steps(dtype)) {
    add([&](double x) { return even->at(x); });
  } else {
    add([&](double x) { return ulp(x, dtype); });
  }
}

Result<Affine> plan_product(const OperatorKind& kind, const Call& call) {
  if (kind.evaluate == matmul) {
    return plan_matmul_kind(call);
  }
  if (kind.evaluate == gemm) {
    return plan_gemm_kind(call);
  }
  if (kind.evaluate == linear) {
    return plan_linear_kind(call);
  }
  if (kind.evaluate == added_matmul) {
    return plan_added_kind(call);
  }
  return call.not_modelled("it is no sum of products");
}

}  // namespace

Result<Dots> plan_dots(const OperatorKind& kind, const Call& call, const tensor::Shape& output,
                       std::span<const std::uint64_t> positions) {
  if (kind.evaluate == conv || kind.evaluate == conv_transpose) {
    return plan_conv(call, kind.evaluate == conv_transpose, output, positions);
  }
  OPDRIFT_TRY(const Affine affine, plan_product(kind, call));
  if (affine.product.shape != output || affine.product.k > kMostOffsets) {
    return call.not_modelled("it does not fit the shape of its result");
  }
  return plan_affine(affine, positions);
}

Sample run_dots(const Dots& dots, const DotOperands& operands, bool with_terms) {
  Sample sample;
  sample.terms.n = dots.n;
  std::vector<double> left;
  std::vector<double> right;
  const bool narrowed =
      operands.left_narrowed != tensor::DType::raw || operands.right_narrowed != tensor::DType::raw;
  const double scale2 = dots.scale * dots.scale;
  for (const Dots::Dot& dot : dots.dots) {
    left.resize(dot.count);
    right.resize(dot.count);
    operands.left.read(dot.left, std::span(dots.left_offsets).subspan(dot.first, dot.count),
                       left.data());
    operands.right.read(dot.right, std::span(dots.right_offsets).subspan(dot.first, dot.count),
                        right.data());
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t k = 0; k < dot.count; ++k) {
      const double product = left[k] * right[k];
      sum += product;
      squares += product * product;
    }
    double more = 0.0;
    if (operands.addend != nullptr) {
      const std::int64_t nothing = 0;
      operands.addend->read(dot.addend, std::span(&nothing, 1), &more);
      more *= dots.beta;
    }
    sample.values.push_back(dots.activation(dots.scale * sum + more));
    if (!with_terms) {
      continue;
    }
    sample.terms.a2.push_back(scale2 * squares);
    if (operands.addend != nullptr) {
      sample.terms.extra.push_back(more * more);
    }
    if (narrowed) {
      double errors = 0.0;
      if (operands.right_narrowed != tensor::DType::raw) {
        add_errors(right, left, operands.right_narrowed, errors);
      }
      if (operands.left_narrowed != tensor::DType::raw) {
        add_errors(left, right, operands.left_narrowed, errors);
      }
      sample.terms.weights.push_back(scale2 * errors);
    }
  }
  return sample;
}

}  // namespace opdrift::replay
