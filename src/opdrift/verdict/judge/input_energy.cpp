#include "opdrift/verdict/judge/input_energy.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "opdrift/replay/convolution.hpp"
#include "opdrift/verdict/judge/reader.hpp"

namespace opdrift::verdict::judging {

namespace {

using replay::Array;
using replay::Convolution;

// Of one operator, on each side: a fraction of a second.
constexpr std::uint64_t kMostReads = std::uint64_t{1} << 24;
// What several kernels cover is summed once while it takes no more than 2 MiB.
constexpr std::uint64_t kMostSums = std::uint64_t{1} << 18;

bool is_conv(const ProblemOperator& op) {
  return op.kind != nullptr && op.kind->name == "Conv";
}

bool multiplies_rows(const ProblemOperator& op) {
  return op.kind != nullptr &&
         (op.kind->name == "MatMul" || op.kind->name == "Gemm" || op.kind->name == "Linear");
}

/// Squared differences between the sides of a value, summed along one axis.
class SquaredError {
 public:
  /// `extent` elements of the axis lie `step` apart in flat order. Keeps the readers.
  SquaredError(const InputReaders& readers, std::uint64_t extent, std::uint64_t step)
      : golden_(*readers.golden), target_(*readers.target), g_(extent), t_(extent) {
    for (std::uint64_t i = 0; i < extent; ++i) {
      golden_steps_.push_back(golden_.locate(i * step) - golden_.locate(0));
      target_steps_.push_back(target_.locate(i * step) - target_.locate(0));
    }
  }

  /// Where element 0 of the axis lies on both sides.
  struct Line {
    std::int64_t golden = 0;
    std::int64_t target = 0;
  };
  Line line(std::uint64_t first) const { return {golden_.locate(first), target_.locate(first)}; }

  /// Over `count` elements of the axis from `from` on.
  double sum(const Line& line, std::size_t from, std::size_t count) {
    golden_.read_located(line.golden, std::span(golden_steps_).subspan(from, count), g_.data());
    target_.read_located(line.target, std::span(target_steps_).subspan(from, count), t_.data());
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const double square = (t_[i] - g_[i]) * (t_[i] - g_[i]);
      sum += std::isfinite(square) ? square : 0.0;
    }
    return sum;
  }

 private:
  const Reader& golden_;
  const Reader& target_;
  std::vector<std::int64_t> golden_steps_;
  std::vector<std::int64_t> target_steps_;
  std::vector<double> g_;
  std::vector<double> t_;
};

// Kernel extents from the attribute or from the weights, where a side has them.
tensor::Shape kernel_of(const Context& context, const ProblemOperator& op) {
  const auto found = op.op->attributes.find("kernel_shape");
  if (found != op.op->attributes.end()) {
    return {found->second.integers.begin(), found->second.integers.end()};
  }
  if (op.inputs.size() > 1 && op.inputs[1] < context.facts.values.size()) {
    const tensor::Shape& shape = context.facts.values[op.inputs[1]].shape;
    return shape.size() > 2 ? tensor::Shape(shape.begin() + 2, shape.end()) : tensor::Shape{};
  }
  return {};
}

// The convolution with one output channel per group: what is under the kernel is the same for all.
Result<Convolution> plan(const Context& context, const ProblemOperator& op,
                         const tensor::Shape& input) {
  const replay::Call call{*op.op, {}, {}, limits_of(context.options)};
  const auto groups =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, call.integer({"group", "groups"}, 1)));
  const tensor::Shape kernel = kernel_of(context, op);
  if (kernel.empty() || replay::count_of(kernel) > kMostReads || input.size() < 3 ||
      input[1] % groups != 0) {
    return call.not_modelled("its kernel is not known");
  }
  Array x;
  x.shape = input;
  Array ones;
  ones.shape = {groups, input[1] / groups};
  ones.shape.insert(ones.shape.end(), kernel.begin(), kernel.end());
  return replay::plan_convolution(call, x, ones, false);
}

class KernelEnergy {
 public:
  KernelEnergy(const InputReaders& input, const Convolution& conv)
      : conv_(conv),
        plane_(conv.window.input_count()),
        error_(input, conv.groups * conv.in_channels, plane_) {
    const std::uint64_t sums = conv.batches * conv.groups * plane_;
    known_.assign(sums <= kMostSums ? sums : 0, -1.0);
  }

  Result<std::vector<double>> table(const Grid& grid) {
    const std::uint64_t taps = grid.places.size() * conv_.window.kernel_count() *
                               std::min<std::uint64_t>(conv_.groups, grid.columns());
    const std::uint64_t sums = known_.empty() ? taps : std::min<std::uint64_t>(taps, known_.size());
    if (taps > kMostReads || sums > kMostReads / conv_.in_channels) {
      return Error{ErrorCode::unsupported, "its kernels are too large"};
    }
    std::vector<double> energy;
    energy.reserve(grid.size());
    for (const std::uint64_t place : grid.places) {
      look_under_kernel(place / grid.split.inner, place % grid.split.inner);
      add_channels(grid, energy);
    }
    return energy;
  }

 private:
  void look_under_kernel(std::uint64_t batch, std::uint64_t output) {
    replay::taps_at(conv_.window, output, taps_);
    batch_ = batch;
    lines_.clear();
    for (const replay::Tap& tap : taps_) {
      lines_.push_back(error_.line(batch * conv_.groups * conv_.in_channels * plane_ + tap.input));
    }
  }

  void add_channels(const Grid& grid, std::vector<double>& energy) {
    const std::size_t per_group = grid.split.extent / conv_.groups;
    std::size_t last = conv_.groups;
    for (const std::uint64_t channel : grid.channels) {
      const std::size_t group = channel / per_group;
      energy.push_back(group == last ? energy.back() : of_group(group));
      last = group;
    }
  }

  double of_group(std::size_t group) {
    double sum = 0.0;
    for (std::size_t tap = 0; tap < taps_.size(); ++tap) {
      sum += at(group, tap);
    }
    return sum;
  }

  double at(std::size_t group, std::size_t tap) {
    const auto add = [&] {
      return error_.sum(lines_[tap], group * conv_.in_channels, conv_.in_channels);
    };
    if (known_.empty()) {
      return add();
    }
    double& known = known_[(batch_ * conv_.groups + group) * plane_ + taps_[tap].input];
    known = known < 0.0 ? add() : known;
    return known;
  }

  const Convolution& conv_;
  std::uint64_t plane_;
  SquaredError error_;
  std::vector<double> known_;  ///< by batch, group and place of the input; -1: not summed yet
  std::uint64_t batch_ = 0;
  std::vector<replay::Tap> taps_;          ///< of the place looked at
  std::vector<SquaredError::Line> lines_;  ///< parallel to taps_
};

Result<std::vector<double>> energy_of_rows(const ProblemOperator& op, const InputReaders& input,
                                           const Grid& grid) {
  const tensor::Shape& shape = input.golden->shape();
  const replay::Call call{*op.op, {}, {}, {}};
  if (shape.size() < 2 || shape.back() == 0 || call.integer({"transA"}, 0) != 0 ||
      replay::count_of(shape) / shape.back() != grid.split.outer * grid.split.inner) {
    return call.not_modelled("its rows are not known");
  }
  if (shape.back() > kMostReads / grid.places.size()) {
    return call.not_modelled("its rows are too long");
  }
  SquaredError error(input, shape.back(), 1);
  std::vector<double> energy;
  energy.reserve(grid.size());
  for (const std::uint64_t row : grid.places) {
    energy.insert(energy.end(), grid.columns(),
                  error.sum(error.line(row * shape.back()), 0, shape.back()));
  }
  return energy;
}

}  // namespace

std::size_t channel_axis(const ProblemOperator& op, std::size_t rank) {
  if (is_conv(op) && rank >= 3) {
    return 1;
  }
  return rank >= 4 && !multiplies_rows(op) ? 1 : rank - 1;
}

Result<std::vector<double>> input_energy(const Context& context, const ProblemOperator& op,
                                         const Grid& grid, const tensor::Shape& out) {
  if (op.inputs.empty() || out.size() < 2 || !(is_conv(op) || multiplies_rows(op))) {
    return Error{ErrorCode::unsupported, "its input error has no known shape"};
  }
  OPDRIFT_TRY(const InputReaders input, open_dumped(context, op.inputs.front()));
  const ValueFacts& facts = context.facts.values[op.inputs.front()];
  if (facts.golden_count != facts.target_count) {
    return Error{ErrorCode::mismatch, "its inputs differ in size"};
  }
  if (!is_conv(op)) {
    return energy_of_rows(op, input, grid);
  }
  OPDRIFT_TRY(const Convolution conv, plan(context, op, input.golden->shape()));
  tensor::Shape expected = conv.shape;
  expected[1] = out[1];
  if (out.size() != expected.size() || expected != out || out[1] % conv.groups != 0) {
    return Error{ErrorCode::unsupported, "its result has another shape"};
  }
  return KernelEnergy(input, conv).table(grid);
}

}  // namespace opdrift::verdict::judging
