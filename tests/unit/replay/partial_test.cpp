#include "opdrift/replay/partial.hpp"

#include "bench.hpp"

// A part of an operator gives what the whole gives at the same positions.

namespace opdrift::replay::test {
namespace {

std::vector<double> gather(const Call& whole, const PartialInput& input) {
  if (!input.literal.empty()) {
    return input.literal;
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < input.positions.size(); ++i) {
    const std::size_t source = input.sources.empty() ? input.source : input.sources[i];
    const std::uint64_t at = input.positions[i];
    values.push_back(at == kFiller ? input.filler : whole.inputs[source]->values.at(at));
  }
  return values;
}

/// Random positions of an output, and some at its corners.
std::vector<std::uint64_t> some_positions(const Array& y) {
  std::vector<std::uint64_t> positions = {0, y.size() - 1};
  for (std::uint64_t i = 0; positions.size() < 20; ++i) {
    positions.push_back(random_bits(7, i) % y.size());
  }
  return positions;
}

void expect_part_agrees(const Bench& bench) {
  const Array y = bench.first();
  ASSERT_GT(y.size(), 48U) << "the case is too small to be planned";
  const std::vector<std::uint64_t> random = some_positions(y);
  const std::vector<std::uint64_t> chosen = {1, y.size() / 2};
  const Call whole = bench.call();
  const auto partial = plan_partial(bench.kind(), whole, y.shape, random, chosen);
  ASSERT_TRUE(partial.has_value());
  std::vector<Array> arrays;
  std::vector<const Array*> inputs;
  arrays.reserve(partial->inputs.size());
  for (const PartialInput& input : partial->inputs) {
    arrays.push_back({input.shape, gather(whole, input), y.dtype});
    inputs.push_back(input.present ? &arrays.back() : nullptr);
  }
  const Call part{partial->op, inputs, {}, {}};
  const Result<Outputs> outputs = evaluate(*partial->kind, part);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  const Array& z = outputs->front();
  ASSERT_EQ(z.size(), partial->positions.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    EXPECT_NEAR(z.values[i], y.values[partial->positions[i]], 1e-13) << partial->positions[i];
  }
  const Terms all = bench.terms_of();
  const Result<Terms> own = terms(*partial->kind, part, 0, z);
  ASSERT_TRUE(own.has_value());
  ASSERT_EQ(own->a2.empty(), all.a2.empty());
  EXPECT_EQ(own->n, all.n);
  for (std::size_t i = 0; i < own->a2.size(); ++i) {
    EXPECT_NEAR(own->a2[i], all.a2[partial->positions[i]], 1e-13);
  }
  const bool resized = bench.call().op.type == "Resize" && !all.extra.empty();
  ASSERT_EQ(own->extra.size(), resized ? z.size() : own->extra.size());
  for (std::size_t i = 0; resized && i < z.size(); ++i) {
    EXPECT_NEAR(own->extra[i], all.extra[partial->positions[i]], 1e-8);
  }
}

TEST(Partial, CopiesOfElements) {
  expect_part_agrees(Bench("Transpose").in(noise({4, 5, 6}, 1)).ints("perm", {2, 0, 1}));
  expect_part_agrees(
      Bench("Concat").in(noise({3, 4, 7}, 1)).in(noise({3, 9, 7}, 2)).ints("axis", {1}));
  expect_part_agrees(Bench("Expand").in(noise({3, 1, 4}, 1)).in(integers({2, 3, 5, 4})));
  expect_part_agrees(Bench("Tile").in(noise({3, 4}, 1)).in(integers({3, 5})));
  expect_part_agrees(Bench("Reshape").in(noise({8, 9}, 1)).in(integers({9, 8})));
}

TEST(Partial, Slices) {
  expect_part_agrees(Bench("Slice")
                         .in(noise({6, 11, 13}, 1))
                         .in(integers({-2, 1}))
                         .in(integers({-100, 12}))
                         .in(integers({1, 2}))
                         .in(integers({-2, 1})));
  expect_part_agrees(
      Bench("Slice", 9).in(noise({12, 13}, 1)).ints("starts", {3, -9}).ints("ends", {1000, -1}));
}

TEST(Partial, PadsOfEveryMode) {
  for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
    expect_part_agrees(Bench("Pad")
                           .in(noise({2, 5, 6}, 1))
                           .in(integers({0, 2, 3, 1, 4, 0}))
                           .in(vector_array({0.5}, tensor::DType::f32))
                           .text("mode", mode));
  }
  expect_part_agrees(Bench("Pad").in(noise({9, 10}, 1)).in(integers({-1, 2, 0, -3})));
}

TEST(Partial, BlocksAndChannels) {
  for (const char* mode : {"DCR", "CRD"}) {
    expect_part_agrees(Bench("DepthToSpace")
                           .in(noise({2, 12, 3, 4}, 1))
                           .ints("blocksize", {2})
                           .text("mode", mode));
  }
  expect_part_agrees(Bench("SpaceToDepth").in(noise({2, 3, 6, 4}, 1)).ints("blocksize", {2}));
}

TEST(Partial, PoolsWithBorders) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    for (const std::int64_t include : {0, 1}) {
      Bench bench(type);
      bench.in(noise({2, 3, 9, 8}, 1)).ints("kernel_shape", {3, 2}).ints("strides", {2, 1});
      bench.ints("pads", {1, 1, 1, 0}).ints("ceil_mode", {1});
      bench.ints("count_include_pad", {include});
      expect_part_agrees(bench);
    }
  }
  expect_part_agrees(Bench("AveragePool").in(noise({4, 5, 30}, 1)).ints("kernel_shape", {4}));
}

TEST(Partial, ResizesOfEveryKind) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* kind : {"half_pixel", "asymmetric", "align_corners"}) {
      expect_part_agrees(Bench("Resize", 13)
                             .in(noise({2, 3, 5, 4}, 1))
                             .absent()
                             .in(vector_array({1, 1, 2.0, 1.5}, tensor::DType::f32))
                             .text("mode", mode)
                             .text("coordinate_transformation_mode", kind));
    }
  }
}

TEST(Partial, WhatIsNotPlannedIsLeft) {
  const Bench crop = Bench("Resize", 13)
                         .in(noise({1, 1, 8, 8}, 1))
                         .in(vector_array({0, 0, -0.5, 0, 1, 1, 1.5, 1}, tensor::DType::f32))
                         .in(vector_array({1, 1, 2, 2}, tensor::DType::f32))
                         .text("mode", "linear")
                         .text("coordinate_transformation_mode", "tf_crop_and_resize");
  const std::vector<std::uint64_t> positions = {0, 1};
  EXPECT_FALSE(plan_partial(crop.kind(), crop.call(), {1, 1, 16, 16}, positions, {}).has_value());
  const Bench relu = Bench("Relu").in(noise({3}, 1));
  EXPECT_FALSE(plan_partial(relu.kind(), relu.call(), {3}, positions, {}).has_value());
}

TEST(Partial, RowsAndReductions) {
  expect_part_agrees(Bench("ReduceMean", 13).in(noise({6, 7, 12}, 1)).ints("axes", {1}));
  expect_part_agrees(Bench("Add").in(noise({6, 7, 12}, 1)).in(noise({7, 1}, 2)));
}

}  // namespace
}  // namespace opdrift::replay::test
