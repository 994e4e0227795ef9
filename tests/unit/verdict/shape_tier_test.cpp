#include <gmock/gmock.h>

#include "unit/verdict/memory_network.hpp"

#include "opdrift/metrics/measure.hpp"
#include "opdrift/tensor/layout.hpp"
#include "opdrift/verdict/judge/shape_grid.hpp"

// Tier N, tensors above 8192 elements: some places and channels speak for all. What it should say
// is what it says of the same tensors when asked to look at every element (Tier::replay).

namespace opdrift::verdict::test {
namespace {

using N = MemoryNetwork;

/// A network whose pairs were measured before they are judged, as a comparison does it.
class MeasuredNetwork : public MemoryNetwork {
 public:
  MeasuredValue measured(ValueId value) const override {
    if (!measures || !has(RunSide::golden, value) || !has(RunSide::target, value)) {
      return {};
    }
    Known& known = known_[value];
    const auto found = metrics::measure(*view(RunSide::golden, value),
                                        *view(RunSide::target, value), {.peaks = &known.peaks});
    known.measurement = found.has_value() ? std::optional(*found) : std::nullopt;
    return found.has_value() ? MeasuredValue{&*known.measurement, known.peaks.front()}
                             : MeasuredValue{};
  }

  bool measures = true;

 private:
  struct Known {
    std::optional<metrics::Measurement> measurement;
    std::vector<metrics::Peaks> peaks;
  };
  mutable std::map<ValueId, Known> known_;
};

/// Errors whose size differs from channel to channel and from place to place.
Array uneven_noise(const Shape& shape, std::uint64_t seed, double scale) {
  const std::size_t axis = shape.size() >= 4 ? 1 : shape.size() - 1;
  const replay::AxisSplit split = replay::split_at(shape, axis);
  Array noise = N::noise(shape, seed, scale);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const std::size_t channel = i / split.inner % split.extent;
    const std::size_t place = i / split.inner / split.extent * split.inner + i % split.inner;
    noise.values[i] *= std::exp(replay::normal_noise(seed + 1, channel)) *
                       std::exp(0.5 * replay::normal_noise(seed + 2, place));
  }
  return noise;
}

/// One operator that nobody knows: the target of its result is off by `e`. Its input differs by one
/// rounding, so that nothing is known about the size of the error.
class UnknownOperator {
 public:
  UnknownOperator(const Array& golden, const Array& e, DType dtype = DType::f32) {
    const ValueId x = net.input("x", N::noise({4, 4}, 1));
    y_ = net.op("y", "SomethingNew", {x});
    Array off = N::noise({4, 4}, 1);
    net.store(RunSide::golden, x, off, DType::f32);
    off.values[3] = static_cast<double>(std::nextafter(static_cast<float>(off.values[3]), 9.0F));
    net.store(RunSide::target, x, off, DType::f32);
    Array target = golden;
    for (std::size_t i = 0; i < target.size(); ++i) {
      target.values[i] += e.values[i];
    }
    net.store(RunSide::golden, y_, golden, dtype);
    net.store(RunSide::target, y_, target, dtype);
  }

  Judgement judge(Tier strongest = Tier::sampled, std::size_t jobs = 1) const {
    JudgeOptions options;
    options.strongest = strongest;
    options.jobs = jobs;
    return net.of(net.judge(options), "y");
  }

  MeasuredNetwork net;

 private:
  ValueId y_ = kAbsent;
};

void expect_judged_as_the_whole(const UnknownOperator& one, const std::string& what) {
  const Judgement whole = one.judge(Tier::replay);
  const Judgement sampled = one.judge();
  EXPECT_EQ(whole.tier, Tier::shape) << what;
  EXPECT_EQ(whole.sampled, 0U) << what;
  EXPECT_EQ(sampled.tier, Tier::shape) << what;
  EXPECT_GT(sampled.sampled, 0U) << what;
  EXPECT_EQ(sampled.label, whole.label) << what << ": " << sampled.sentence << whole.sentence;
  EXPECT_LE(sampled.z, 1.5 * whole.z) << what;
  if (whole.z > 1.0) {
    EXPECT_GE(sampled.z, whole.z / 1.5) << what;
  }
  EXPECT_NEAR(sampled.q_own, whole.q_own, 0.1 * whole.q_own) << what;
}

const std::vector<Shape> kShapes = {{1, 64, 60, 70}, {2, 300, 12, 9}, {3, 3, 80, 90},
                                    {200, 768},      {1, 197, 300},   {40000, 2}};

std::string text_of(const Shape& shape) {
  return tensor::to_string(shape);
}

TEST(ShapeSample, CleanNoiseIsJudgedAsTheWholeIs) {
  for (const Shape& shape : kShapes) {
    const UnknownOperator one(N::noise(shape, 7), uneven_noise(shape, 8, 1e-3));
    expect_judged_as_the_whole(one, text_of(shape));
    EXPECT_NE(one.judge().label, Label::culprit) << text_of(shape);
  }
}

TEST(ShapeSample, ASpikeIsFoundWhereverItIs) {
  for (const Shape& shape : kShapes) {
    const std::size_t count = replay::count_of(shape);
    for (const std::size_t at : {std::size_t{0}, count / 3, count - 1}) {
      Array e = uneven_noise(shape, 8, 1e-3);
      e.values[at] = 50.0;
      const UnknownOperator one(N::noise(shape, 7), e);
      // Between two channels a place has no scale of its own.
      if (shape.back() == 2) {
        continue;
      }
      expect_judged_as_the_whole(one, text_of(shape));
      EXPECT_EQ(one.judge().label, Label::culprit) << text_of(shape) << " at " << at;
      EXPECT_EQ(one.judge().worst, at) << text_of(shape);
    }
  }
}

// 8 x 8 places of one channel in five hold what they should not.
TEST(ShapeSample, ABlockIsFound) {
  const Shape shape = {1, 64, 60, 70};
  Array e = uneven_noise(shape, 8, 1e-3);
  for (std::size_t channel = 3; channel < 64; channel += 5) {
    for (std::size_t i = 0; i < 64; ++i) {
      e.values[(channel * 60 + 20 + i / 8) * 70 + 30 + i % 8] += 3.0;
    }
  }
  const UnknownOperator one(N::noise(shape, 7), e);
  expect_judged_as_the_whole(one, "block");
  EXPECT_EQ(one.judge().label, Label::culprit);
}

// A channel or a place that errs as a whole has a scale of its own: neither look blames it.
TEST(ShapeSample, OneChannelOrOnePlaceIsJudgedAsTheWholeIs) {
  for (const Shape& shape : {Shape{1, 64, 60, 70}, Shape{200, 768}}) {
    const std::size_t axis = 1;
    const replay::AxisSplit split = replay::split_at(shape, axis);
    for (const bool channel : {false, true}) {
      Array e = uneven_noise(shape, 8, 1e-3);
      for (std::size_t i = 0; i < e.size(); ++i) {
        const std::size_t own_channel = i / split.inner % split.extent;
        const std::size_t place = i / split.inner / split.extent * split.inner + i % split.inner;
        e.values[i] *= (channel ? own_channel == 41 : place == 133) ? 100.0 : 1.0;
      }
      expect_judged_as_the_whole(UnknownOperator(N::noise(shape, 7), e),
                                 text_of(shape) + (channel ? " channel" : " place"));
    }
  }
}

TEST(ShapeSample, ConstantRowsZerosAndTinyNumbersDoNoHarm) {
  const Shape shape = {1, 32, 40, 50};
  for (const double scale : {1.0, 1e-300, 0.0}) {
    Array g = N::noise(shape, 7, scale);
    Array e = uneven_noise(shape, 8, scale * 1e-3);
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (i / 50 % 3 == 0) {  // every third row is constant, and the same on both sides
        g.values[i] = scale;
        e.values[i] = 0.0;
      }
    }
    e.values[777] += scale == 0.0 ? 1.0 : 0.0;
    const UnknownOperator one(g, e, DType::f64);
    const Judgement sampled = one.judge();
    EXPECT_EQ(sampled.label, one.judge(Tier::replay).label) << scale << ": " << sampled.sentence;
    EXPECT_EQ(sampled.label == Label::culprit, scale == 0.0) << sampled.sentence;
  }
}

// Seven results of ten are cut off at 0 on both sides, in some channels nearly all: what is left
// still has the scale it has. A spike stands out all the same.
TEST(ShapeSample, ResultsThatAreCutOffSayNothingAboutTheError) {
  for (const Shape& shape : {Shape{1, 64, 60, 70}, Shape{1, 64, 10, 10}, Shape{200, 768}}) {
    for (const bool faulty : {false, true}) {
      const replay::AxisSplit split = replay::split_at(shape, 1);
      Array g = N::noise(shape, 7);
      Array e = N::noise(shape, 8, 1e-3);
      for (std::size_t i = 0; i < g.size(); ++i) {
        const std::size_t channel = i / split.inner % split.extent;
        if (g.values[i] < (channel % 16 == 3 ? 2.2 : 0.5)) {
          g.values[i] = e.values[i] = 0.0;
        }
      }
      e.values[1234] += faulty ? 1.0 : 0.0;
      const UnknownOperator one(g, e);
      EXPECT_EQ(one.judge().label == Label::culprit, faulty) << one.judge().sentence;
      EXPECT_EQ(one.judge().label, one.judge(Tier::replay).label) << text_of(shape);
    }
  }
}

// Where agreeing is the rule, a hundredth that differs is not.
TEST(ShapeSample, AFewThatDifferWhereAllAgreeStandOut) {
  const Shape shape = {1, 64, 60, 70};
  const Array g = N::noise(shape, 7);
  Array e = g;
  for (std::size_t i = 0; i < e.size(); ++i) {
    e.values[i] = i >= 100000 && i < 103000 ? 0.01 : 0.0;
  }
  const UnknownOperator one(g, e);
  EXPECT_EQ(one.judge().label, Label::culprit) << one.judge().sentence;
  EXPECT_EQ(one.judge(Tier::replay).label, Label::culprit);
}

TEST(ShapeSample, NonFiniteElementsAreLeftOut) {
  const Shape shape = {1, 64, 60, 70};
  Array g = N::noise(shape, 7);
  for (const std::size_t at : {5U, 5000U, 50000U}) {
    g.values[at] = std::nan("");
    g.values[at + 1] = HUGE_VAL;
  }
  const Array e = uneven_noise(shape, 8, 1e-3);
  expect_judged_as_the_whole(UnknownOperator(g, e), "NaN on both sides");
  Array more = e;
  more.values[9999] = std::nan("");
  const Judgement fresh = UnknownOperator(g, more).judge();
  EXPECT_EQ(fresh.label, Label::culprit);
  EXPECT_EQ(fresh.cause, Cause::nan_made);
  EXPECT_EQ(fresh.worst, 9999U);
}

TEST(ShapeSample, TensorsWithoutChannelsHaveOneScale) {
  for (const Shape& shape : {Shape{30000}, Shape{}}) {
    for (const bool faulty : {false, true}) {
      Array e = N::noise(shape, 8, 1e-3);
      e.values[e.size() / 2] += faulty ? 1.0 : 0.0;
      const UnknownOperator one(N::noise(shape, 7), e);
      const Judgement sampled = one.judge();
      EXPECT_EQ(sampled.label, one.judge(Tier::replay).label) << sampled.sentence;
      EXPECT_EQ(sampled.label == Label::culprit, faulty && !shape.empty()) << sampled.sentence;
    }
  }
}

TEST(ShapeSample, DependsNeitherOnThreadsNorOnWhoMeasured) {
  const Shape shape = {1, 64, 60, 70};
  Array e = uneven_noise(shape, 8, 1e-3);
  e.values[70000] = 50.0;
  UnknownOperator one(N::noise(shape, 7), e);
  const Judgement first = one.judge();
  const Judgement second = one.judge(Tier::sampled, 4);
  EXPECT_EQ(first.z, second.z);
  EXPECT_EQ(first.worst, second.worst);
  one.net.measures = false;
  const Judgement alone = one.judge();
  EXPECT_EQ(alone.worst, first.worst);
  EXPECT_EQ(alone.label, first.label);
  EXPECT_NEAR(alone.z, first.z, 0.2 * first.z);
}

/// A convolution or a product whose weights nobody has, behind an input that errs in some places.
Judgement behind_an_error(bool conv, bool faulty, Tier strongest) {
  MeasuredNetwork net;
  const Shape shape = conv ? Shape{1, 16, 40, 44} : Shape{300, 64};
  const ValueId x = net.input("x", N::noise(shape, 1));
  const ValueId w =
      net.parameter("w", N::noise(conv ? Shape{24, 16, 3, 3} : Shape{64, 96}, 2, 0.1));
  const ValueId r = net.op("r", "Relu", {x});
  net.op("y", conv ? "Conv" : "MatMul", {r, w},
         conv ? std::map<std::string, graph::Attribute>{{"pads", N::ints({1, 1, 1, 1})},
                                                        {"kernel_shape", N::ints({3, 3})}}
              : std::map<std::string, graph::Attribute>{});
  const RunStyle style = {.storage = DType::f32};
  const auto spoil = [&](Array& a) {
    a.values[a.size() / 2] += 20.0;
    a.values[a.size() / 3] += 5.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      a.values[i] += 1e-3 * replay::normal_noise(5, i);
    }
  };
  std::map<std::string, Fault> faults = {{"r", spoil}};
  if (faulty) {
    faults["y"] = [](Array& a) { a.values[200] += 3.0; };
  }
  net.run(style, style, faults);
  net.hide(w, RunSide::golden);
  JudgeOptions options;
  options.strongest = strongest;
  return net.of(net.judge(options), "y");
}

TEST(ShapeSample, WhatTheInputsBringIsInherited) {
  for (const bool conv : {true, false}) {
    for (const bool faulty : {false, true}) {
      const Judgement sampled = behind_an_error(conv, faulty, Tier::sampled);
      const Judgement whole = behind_an_error(conv, faulty, Tier::replay);
      EXPECT_EQ(sampled.tier, Tier::shape);
      EXPECT_GT(sampled.sampled, 0U);
      EXPECT_EQ(sampled.label, whole.label) << conv << faulty << sampled.sentence;
      EXPECT_EQ(sampled.label == Label::culprit, faulty) << conv << sampled.sentence;
      EXPECT_NEAR(sampled.z, whole.z, 0.35 * whole.z) << conv << faulty;
      EXPECT_EQ(sampled.worst == 200U, faulty);
    }
  }
}

// 2^80 taps, padded so that the result has the shape it has: nobody may count them.
TEST(ShapeSample, AnAbsurdKernelIsNotFollowed) {
  MemoryNetwork net;
  const std::int64_t huge = std::int64_t{1} << 40;
  const ValueId x = net.input("x", N::noise({1, 2, 8, 8}, 1));
  const ValueId w = net.parameter("w", N::noise({2, 2, 1, 1}, 2));
  net.op("y", "Conv", {x, w});
  net.run({.storage = DType::f32}, {.storage = DType::f16});
  net.hide(w, RunSide::golden);
  graph::Operator absurd = *net.problem.operators[0].op;
  absurd.attributes["kernel_shape"] = N::ints({huge, huge});
  absurd.attributes["pads"] = N::ints({huge / 2, huge / 2, huge / 2 - 1, huge / 2 - 1});
  net.problem.operators[0].op = &absurd;
  EXPECT_EQ(net.of(net.judge(), "y").tier, Tier::shape);
}

// Group convolutions read only the channels of their group, whatever the layout of the input.
TEST(ShapeSample, GroupsInheritFromTheirOwnChannels) {
  for (const bool faulty : {false, true}) {
    MemoryNetwork net;
    const ValueId x = net.input("x", N::noise({2, 48, 20, 20}, 1));
    const ValueId w = net.parameter("w", N::noise({48, 24, 3, 3}, 2, 0.1));
    const ValueId r = net.op("r", "Relu", {x});
    net.op("y", "Conv", {r, w},
           {{"pads", N::ints({1, 1, 1, 1})},
            {"kernel_shape", N::ints({3, 3})},
            {"group", N::ints({2})}});
    // Only channels 24 and above of the second picture are off: the first group gets nothing.
    const auto spoil = [](Array& a) {
      for (std::size_t i = 48 * 400 + 24 * 400; i < a.size(); ++i) {
        a.values[i] += (i % 400 == 210 ? 10.0 : 1e-3) * replay::normal_noise(5, i);
      }
    };
    std::map<std::string, Fault> faults = {{"r", spoil}};
    if (faulty) {
      faults["y"] = [](Array& a) { a.values[210] += 10.0; };
    }
    net.run({.storage = DType::f32}, {.storage = DType::f32}, faults);
    net.hide(w, RunSide::golden);
    const Judgement y = net.of(net.judge(), "y");
    EXPECT_GT(y.sampled, 0U);
    EXPECT_EQ(y.label == Label::culprit, faulty) << y.sentence;
  }
}

// Position by position: [place][channel] of {2, 3, 4, 5} by hand.
TEST(Grid, HoldsEveryPlaceWithEveryChannel) {
  const Array g = N::noise({2, 3, 4, 5}, 1);
  const auto tensor = tensor_of(g, DType::f64);
  const judging::Reader reader(*tensor::stored_view(tensor));
  const judging::Grid grid = judging::read_grid(reader, reader, {.axis = 1});
  ASSERT_TRUE(grid.whole());
  EXPECT_EQ(grid.drawn_places, 40U);
  EXPECT_EQ(grid.drawn_channels, 3U);
  EXPECT_EQ(grid.position(0), 0U);
  EXPECT_EQ(grid.position(1), 20U);
  EXPECT_EQ(grid.position(3 * 21 + 2), 60U + 40U + 1U);
  for (std::size_t i = 0; i < grid.size(); ++i) {
    EXPECT_EQ(grid.golden[i], g.values[grid.position(i)]);
  }
}

// 40 channels in blocks of 16, the last one padded with 99.
TEST(Grid, FindsElementsInABlockedLayout) {
  const Shape shape = {2, 40, 6, 7};
  const Array g = N::noise(shape, 1);
  Array blocked{{2, 3, 6, 7, 16}, std::vector<double>(2 * 3 * 42 * 16, 99.0), DType::f32};
  for (std::size_t i = 0; i < g.size(); ++i) {
    const std::size_t channel = i / 42 % 40;
    const std::size_t block = i / 1680 * 3 + channel / 16;
    blocked.values[(block * 42 + i % 42) * 16 + channel % 16] = g.values[i];
  }
  tensor::Tensor tensor = tensor_of(blocked, DType::f16);
  tensor.desc.format = tensor::Format::nc1hwc0;
  const auto unfolded = tensor::convert_layout(tensor, tensor::Format::nchw, shape);
  ASSERT_TRUE(unfolded.has_value());
  const judging::Reader reader(*tensor::crop(*unfolded, shape));
  const judging::Grid grid = judging::read_grid(reader, reader, {.axis = 1});
  ASSERT_EQ(grid.size(), g.size());
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    EXPECT_EQ(grid.golden[i], replay::round_to(g.values[grid.position(i)], DType::f16));
    offsets.push_back(static_cast<std::int64_t>(grid.position(i)));
  }
  std::vector<double> scattered(offsets.size());
  reader.read(0, offsets, scattered.data());
  EXPECT_EQ(scattered, grid.golden);
}

TEST(Grid, OfALargeTensorHoldsWhatStandsOutWithItsRowAndColumn) {
  const Array g = N::noise({1, 500, 30, 30}, 1);
  const auto tensor = tensor_of(g, DType::f32);
  const judging::Reader reader(*tensor::stored_view(tensor));
  const std::vector<std::uint64_t> wanted = {7, 449999, 200000};
  const judging::Grid grid =
      judging::read_grid(reader, reader, {.axis = 1, .seed = 9, .standing_out = wanted});
  EXPECT_FALSE(grid.whole());
  EXPECT_LE(grid.drawn_channels, 64U);
  EXPECT_LT(grid.size(), 20000U);
  std::vector<std::uint64_t> positions;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    positions.push_back(grid.position(i));
    EXPECT_EQ(grid.golden[i], replay::round_to(g.values[grid.position(i)], DType::f32));
  }
  for (const std::uint64_t position : wanted) {
    EXPECT_THAT(positions, testing::Contains(position));
  }
}

}  // namespace
}  // namespace opdrift::verdict::test
