#include "opdrift/replay/dot_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "opdrift/replay/budget.hpp"
#include "opdrift/replay/convolution.hpp"
#include "opdrift/replay/kinds/affine.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/registry.hpp"

namespace opdrift::replay {

namespace {

constexpr std::size_t kMostOffsets = std::size_t{1} << 24;  // 256 MiB of positions
constexpr std::uint64_t kSharedPlace = 8;                   // channels
constexpr std::uint64_t kSharedColumns = 4;                 // neighbours, at four rows each
constexpr std::uint64_t kSharedRows = 4;
constexpr std::size_t kNearElements = std::size_t{1} << 17;  // of a matrix that stays in the cache

/// Random numbers drawn one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}

  /// Below `end`, which is not 0.
  std::uint64_t below(std::uint64_t end) { return random_bits(seed_, drawn_++) % end; }
  /// One of part `part` of `parts` equal ones of [0, end).
  std::uint64_t within(std::uint64_t part, std::uint64_t parts, std::uint64_t end) {
    return random_in_part(random_bits(seed_, drawn_++), part, parts, end);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

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

class AffinePlan final : public DotPlan {
 public:
  explicit AffinePlan(Affine affine) : affine_(std::move(affine)) {}

  std::vector<std::uint64_t> random_positions(std::size_t count,
                                              std::uint64_t seed) const override {
    const Product& product = affine_.product;
    const std::uint64_t columns = product.n;
    const std::uint64_t rows = count_of(product.shape) / columns;
    const bool scattered = product.right.reduced != 1 && product.k * columns > kNearElements;
    const std::uint64_t shared = scattered ? std::min<std::uint64_t>(kSharedColumns, columns) : 1;
    Draws draws(seed);
    std::vector<std::uint64_t> positions;
    std::uint64_t first = 0;
    std::uint64_t row = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i % (shared * kSharedRows) == 0 || shared == 1) {
        const std::uint64_t groups = (columns + shared - 1) / shared;
        first = std::min(draws.below(groups) * shared, columns - shared);
      }
      row = i % shared == 0 ? draws.within(i, count, rows) : row;
      positions.push_back(row * columns + first + i % shared);
    }
    return positions;
  }

  Result<Dots> at(std::span<const std::uint64_t> positions) const override {
    const Product& product = affine_.product;
    Dots dots = outline();
    const Strides addend = affine_.addend == nullptr
                               ? Strides{}
                               : broadcast_strides(affine_.addend->shape, product.shape);
    const std::uint64_t plane = product.m * product.n;
    for (const std::uint64_t position : positions) {
      const std::uint64_t batch = position / plane;
      Dots::Dot dot;
      dot.left = batch_start(product, product.left, batch) +
                 static_cast<std::int64_t>(position % plane / product.n) * product.left.free;
      dot.right = batch_start(product, product.right, batch) +
                  static_cast<std::int64_t>(position % product.n) * product.right.free;
      dot.count = product.k;
      if (affine_.addend != nullptr) {
        dot.addend = broadcast_position(position, product.shape, addend);
      }
      dots.dots.push_back(dot);
    }
    return dots;
  }

 private:
  Dots outline() const {
    const Product& product = affine_.product;
    Dots dots;
    dots.left_input = affine_.left_index;
    dots.right_input = affine_.right_index;
    if (affine_.addend != nullptr) {
      dots.addend_input = affine_.left_index == 0 ? 2 : 0;
    }
    dots.n = static_cast<double>(product.k);
    dots.scale = product.scale;
    dots.beta = affine_.beta;
    dots.activation = affine_.activation;
    for (std::size_t k = 0; k < product.k; ++k) {
      dots.left_offsets.push_back(static_cast<std::int64_t>(k) * product.left.reduced);
      dots.right_offsets.push_back(static_cast<std::int64_t>(k) * product.right.reduced);
    }
    return dots;
  }

  Affine affine_;
};

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

/// Adds the dot products of a convolution one by one.
class ConvolutionDots {
 public:
  ConvolutionDots(const Convolution& conv, Dots& dots) : conv_(conv), dots_(dots) {}

  Status add(std::uint64_t position) {
    const std::uint64_t outputs = conv_.window.output_count();
    const std::uint64_t batch = position / outputs / (conv_.groups * conv_.out_channels);
    const std::size_t channel = channel_of(conv_, position);
    const std::size_t group = channel / conv_.out_channels;
    OPDRIFT_CHECK_OK(go_to(position % outputs));
    Dots::Dot dot;
    if (part_.count > 0) {
      dot.first = part_.first;
      dot.count = part_.count;
      dot.left = static_cast<std::int64_t>(
          (batch * conv_.groups + group) * conv_.in_channels * conv_.window.input_count() + start_);
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

  // Neighbours in the list often are at one place.
  Status go_to(std::uint64_t place) {
    if (place == place_) {
      return Unit{};
    }
    place_ = place;
    part_ = Part{};
    if (conv_.transposed) {
      transposed_taps_at(conv_.window, place, taps_);
    } else {
      taps_at(conv_.window, place, taps_);
    }
    if (!taps_.empty()) {
      start_ = taps_.front().input;
      OPDRIFT_TRY(part_, part_of(pattern_of(taps_)));
    }
    return Unit{};
  }

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
  std::uint64_t place_ = ~std::uint64_t{0};
  std::uint64_t start_ = 0;  ///< input position of the first tap there
  Part part_;
  std::vector<Tap> taps_;
  std::map<Pattern, Part> parts_;
};

class ConvolutionPlan final : public DotPlan {
 public:
  ConvolutionPlan(Convolution conv, Activation activation, bool biased)
      : conv_(std::move(conv)), activation_(activation), biased_(biased) {}

  std::vector<std::uint64_t> random_positions(std::size_t count,
                                              std::uint64_t seed) const override {
    const std::uint64_t outputs = conv_.window.output_count();
    const std::uint64_t channels = conv_.out_channels;
    const std::uint64_t places = outputs * conv_.batches;
    const std::uint64_t shared = std::min<std::uint64_t>(kSharedPlace, channels);
    const std::uint64_t runs = (count + shared - 1) / shared;
    Draws draws(seed);
    std::vector<std::uint64_t> positions;
    for (std::uint64_t run = 0; run < runs; ++run) {
      const std::uint64_t place = draws.within(run, runs, places);
      const std::uint64_t group =
          place / outputs * conv_.groups + draws.below(conv_.groups);  // of all batches
      for (std::uint64_t i = 0; i < shared && positions.size() < count; ++i) {
        const std::uint64_t channel = group * channels + draws.within(i, shared, channels);
        positions.push_back(channel * outputs + place % outputs);
      }
    }
    return positions;
  }

  Result<Dots> at(std::span<const std::uint64_t> positions) const override {
    Dots dots;
    dots.activation = activation_;
    if (biased_) {
      dots.addend_input = 2;
    }
    double n = static_cast<double>(conv_.reduction());
    for (const std::int64_t stride : conv_.window.stride) {
      n /= conv_.transposed ? static_cast<double>(stride) : 1.0;
    }
    dots.n = std::max(1.0, std::floor(n));
    ConvolutionDots found(conv_, dots);
    for (const std::uint64_t position : positions) {
      OPDRIFT_CHECK_OK(found.add(position));
    }
    return dots;
  }

 private:
  Convolution conv_;
  Activation activation_;
  bool biased_;
};

using PlanPtr = std::unique_ptr<const DotPlan>;

Result<PlanPtr> plan_conv(const Call& call, bool transposed, const tensor::Shape& output) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* w, call.need(1, "W"));
  OPDRIFT_TRY(Convolution conv, plan_convolution(call, *x, *w, transposed));
  const Array* bias = call.input(2);
  if (conv.shape != output || (call.op.type == "FusedConv" && call.input(3) != nullptr) ||
      (bias != nullptr && count_of(bias->shape) != conv.shape[1])) {
    return call.not_modelled("it does not fit the shape of its result");
  }
  OPDRIFT_TRY(const Activation activation, fused_activation(call));
  return PlanPtr(
      std::make_unique<const ConvolutionPlan>(std::move(conv), activation, bias != nullptr));
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

/// The plan of an operator that was written anew, in terms of the inputs of the original.
class RewrittenPlan final : public DotPlan {
 public:
  RewrittenPlan(std::shared_ptr<const Rewritten> rewritten, PlanPtr plan)
      : rewritten_(std::move(rewritten)), plan_(std::move(plan)) {}

  std::vector<std::uint64_t> random_positions(std::size_t count,
                                              std::uint64_t seed) const override {
    return plan_->random_positions(count, seed);
  }

  Result<Dots> at(std::span<const std::uint64_t> positions) const override {
    OPDRIFT_TRY(Dots dots, plan_->at(positions));
    dots.left_input = rewritten_->origin(dots.left_input);
    dots.right_input = rewritten_->origin(dots.right_input);
    if (dots.addend_input) {
      dots.addend_input = rewritten_->origin(*dots.addend_input);
    }
    return dots;
  }

 private:
  std::shared_ptr<const Rewritten> rewritten_;
  PlanPtr plan_;
};

Result<PlanPtr> plan_rewritten(const Rewriting& rewriting, const Call& call,
                               const tensor::Shape& output) {
  OPDRIFT_TRY(Rewritten made, rewriting.rewrite(call));
  const OperatorKind* kind = find_kind(rewriting.kind, Dialect::onnx);
  if (kind == nullptr) {
    return call.not_modelled("it is no sum of products");
  }
  const auto rewritten = std::make_shared<const Rewritten>(std::move(made));
  const std::optional<tensor::Shape>& expected = rewritten->expected();
  const bool same = expected && count_of(*expected) == count_of(output);
  OPDRIFT_TRY(PlanPtr plan, plan_dots(*kind, rewritten->call(), same ? *expected : output));
  return PlanPtr(std::make_unique<const RewrittenPlan>(rewritten, std::move(plan)));
}

}  // namespace

Result<PlanPtr> plan_dots(const OperatorKind& kind, const Call& call, const tensor::Shape& output) {
  if (const Rewriting* rewriting = rewriting_of(kind); rewriting != nullptr) {
    return plan_rewritten(*rewriting, call, output);
  }
  if (kind.evaluate == conv || kind.evaluate == conv_transpose) {
    return plan_conv(call, kind.evaluate == conv_transpose, output);
  }
  OPDRIFT_TRY(Affine affine, plan_product(kind, call));
  if (affine.product.shape != output || affine.product.k > kMostOffsets) {
    return call.not_modelled("it does not fit the shape of its result");
  }
  return PlanPtr(std::make_unique<const AffinePlan>(std::move(affine)));
}

}  // namespace opdrift::replay
