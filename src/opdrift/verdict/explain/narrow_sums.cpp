#include "opdrift/verdict/explain/narrow_sums.hpp"

#include "opdrift/replay/convolution.hpp"
#include "opdrift/replay/matmul.hpp"
#include "opdrift/verdict/explain/number_format.hpp"

namespace opdrift::verdict::refit {

namespace {

using replay::Array;
using replay::Call;

constexpr std::uint64_t kMostTerms = std::uint64_t{1} << 28;

/// A sum that is rounded after every term.
class Accumulator {
 public:
  explicit Accumulator(const NarrowSums& how)
      : format_(format_of(how.type)), round_products_(how.round_products) {}

  void clear() { sum_ = 0.0; }
  void add(double x, double w) {
    const double product = x * w;
    sum_ = nearest(sum_ + (round_products_ ? nearest(product, format_) : product), format_);
  }
  double sum() const { return sum_; }

 private:
  NumberFormat format_;
  bool round_products_;
  double sum_ = 0.0;
};

Status check(std::span<const std::uint64_t> positions, std::uint64_t outputs,
             std::uint64_t reduction) {
  for (const std::uint64_t at : positions) {
    if (at >= outputs) {
      return Error{ErrorCode::out_of_range, "expected a position below " + std::to_string(outputs) +
                                                ", found " + std::to_string(at)};
    }
  }
  if (replay::saturating_product(positions.size(), reduction) > kMostTerms) {
    return Error{ErrorCode::limit,
                 "expected at most 2^28 terms, found sums of " + std::to_string(reduction)};
  }
  return Unit{};
}

double product_at(const replay::Product& product, std::uint64_t at, Accumulator& sum) {
  std::uint64_t rest = at / product.n / product.m;
  auto left = static_cast<std::int64_t>(at / product.n % product.m) * product.left.free;
  auto right = static_cast<std::int64_t>(at % product.n) * product.right.free;
  for (std::size_t axis = product.batch.size(); axis-- > 0;) {
    const auto index = static_cast<std::int64_t>(rest % product.batch[axis]);
    rest /= product.batch[axis];
    left += index * product.left.batch[axis];
    right += index * product.right.batch[axis];
  }
  sum.clear();
  for (std::size_t k = 0; k < product.k; ++k) {
    sum.add(product.left.array->values[static_cast<std::size_t>(left)],
            product.right.array->values[static_cast<std::size_t>(right)]);
    left += product.left.reduced;
    right += product.right.reduced;
  }
  return product.scale * sum.sum();
}

/// The element of `addend` that is broadcast to flat position `at` of `shape`.
double broadcast_at(const Array& addend, const tensor::Shape& shape, std::uint64_t at) {
  const replay::Strides strides = replay::broadcast_strides(addend.shape, shape);
  std::int64_t place = 0;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    place += static_cast<std::int64_t>(at % shape[axis]) * strides[axis];
    at /= shape[axis];
  }
  return addend.values[static_cast<std::size_t>(place)];
}

Result<std::vector<double>> products(const Call& call, const NarrowSums& how,
                                     std::span<const std::uint64_t> positions) {
  OPDRIFT_TRY(const Array* left, call.need(0, "A"));
  OPDRIFT_TRY(const Array* right, call.need(1, "B"));
  OPDRIFT_TRY(replay::Product product,
              replay::plan_matmul(call, *left, *right,
                                  call.integer({"transA", "transpose_x1", "adj_x1"}, 0) != 0,
                                  call.integer({"transB", "transpose_x2", "adj_x2"}, 0) != 0));
  product.scale = call.real({"alpha"}, 1.0);
  OPDRIFT_CHECK_OK(check(positions, replay::count_of(product.shape), product.k));
  const Array* addend = call.input(2);
  if (addend != nullptr) {
    OPDRIFT_TRY(const tensor::Shape wide, replay::broadcast_shape(addend->shape, product.shape));
    if (wide != product.shape) {
      return call.not_modelled("the addend is larger than the product");
    }
  }
  const double beta = call.real({"beta"}, 1.0);
  Accumulator sum(how);
  std::vector<double> values;
  for (const std::uint64_t at : positions) {
    const double added = addend == nullptr ? 0.0 : beta * broadcast_at(*addend, product.shape, at);
    values.push_back(product_at(product, at, sum) + added);
  }
  return values;
}

Result<std::vector<double>> convolutions(const Call& call, const NarrowSums& how,
                                         std::span<const std::uint64_t> positions) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  OPDRIFT_TRY(const Array* w, call.need(1, "W"));
  OPDRIFT_TRY(const replay::Convolution conv, replay::plan_convolution(call, *x, *w, false));
  OPDRIFT_CHECK_OK(check(positions, replay::count_of(conv.shape), conv.reduction()));
  const Array* bias = call.input(2);
  const std::size_t outputs = conv.window.output_count();
  const std::size_t inputs = conv.window.input_count();
  const std::size_t taps_per_channel = conv.window.kernel_count();
  const std::size_t all_channels = conv.out_channels * conv.groups;
  if (bias != nullptr && bias->size() != all_channels) {
    return call.not_modelled("expected one bias per channel");
  }
  Accumulator sum(how);
  std::vector<replay::Tap> taps;
  std::vector<double> values;
  for (const std::uint64_t at : positions) {
    const std::size_t channel = replay::channel_of(conv, at);
    const std::size_t batch = static_cast<std::size_t>(at) / outputs / all_channels;
    const std::size_t first = channel / conv.out_channels * conv.in_channels;
    replay::taps_at(conv.window, static_cast<std::size_t>(at) % outputs, taps);
    sum.clear();
    for (std::size_t c = 0; c < conv.in_channels; ++c) {
      const double* source =
          x->values.data() + (batch * conv.groups * conv.in_channels + first + c) * inputs;
      const double* weights =
          w->values.data() + (channel * conv.in_channels + c) * taps_per_channel;
      for (const replay::Tap& tap : taps) {
        sum.add(source[tap.input], weights[tap.kernel]);
      }
    }
    values.push_back(sum.sum() + (bias == nullptr ? 0.0 : bias->values[channel]));
  }
  return values;
}

}  // namespace

bool sums_in_order(const replay::OperatorKind& kind) {
  return kind.name == "MatMul" || kind.name == "Gemm" || kind.name == "Conv";
}

Result<std::vector<double>> narrow_sums(const replay::OperatorKind& kind, const Call& call,
                                        const NarrowSums& how,
                                        std::span<const std::uint64_t> positions) {
  if (call.has({"activation"})) {
    return call.not_modelled("a fused activation");
  }
  return kind.name == "Conv" ? convolutions(call, how, positions) : products(call, how, positions);
}

}  // namespace opdrift::verdict::refit
