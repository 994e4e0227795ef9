#include "opdrift/metrics/measure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "unit/metrics/oracle.hpp"

#include "opdrift/metrics/kernels/levels.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::metrics {
namespace {

using tensor::DType;
using testing::expect_close;
using testing::oracle;
using testing::Random;
using testing::stored_values;
using testing::view_of;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// What a tensor is made of.
enum class Mix { ordinary, zeros, wild, overflowed, close, tiny, constant, relu };

constexpr Mix kMixes[] = {Mix::ordinary, Mix::zeros, Mix::wild,     Mix::overflowed,
                          Mix::close,    Mix::tiny,  Mix::constant, Mix::relu};

/// `kinds`: the first so many of those below.
double wild_value(Random& random, DType dtype, std::uint64_t kinds = 12) {
  const tensor::DTypeInfo& row = tensor::info(dtype);
  const bool floating = row.kind == tensor::DTypeKind::floating;
  switch (random.below(kinds)) {
    case 0: return floating ? kNan : 0.0;
    case 1: return floating ? kInf : 1.0;
    case 2: return floating ? -kInf : -1.0;
    case 3: return 0.0;
    case 4: return floating ? -0.0 : 0.0;
    case 5: return dtype == DType::f64 ? 1e150 : row.max_finite;  // squares must fit
    case 6: return dtype == DType::f64 ? -1e150 : -row.max_finite;
    case 7: return row.min_normal * 0.5;
    case 8: return -row.min_normal * random.uniform();
    default: return random.uniform() * std::ldexp(1.0, static_cast<int>(random.below(40)) - 20);
  }
}

double value_of(Mix mix, Random& random, DType dtype) {
  const double scale = tensor::is_floating(dtype) ? 1.0 : 100.0;
  switch (mix) {
    case Mix::ordinary: return random.uniform() * scale;
    case Mix::zeros: return random.below(3) == 0 ? random.uniform() * scale : 0.0;
    case Mix::wild:
    case Mix::overflowed: return wild_value(random, dtype);
    case Mix::close: return 1.0 + random.uniform() * 1e-4;
    case Mix::tiny: return random.uniform() * std::ldexp(1.0, -static_cast<int>(random.below(60)));
    case Mix::constant: return -1.5;
    case Mix::relu: return std::max(0.0, random.uniform() * scale);
  }
  return 0.0;
}

struct Sides {
  std::vector<double> golden;
  std::vector<double> target;
};

/// Pairs of which most have a value that is not finite on either side or both.
void add_overflowed(Random& random, DType golden, DType target, Sides& sides) {
  const auto lost = [&](DType dtype) { return wild_value(random, dtype, 3); };
  const std::uint64_t which = random.below(4);
  const double value = random.uniform() * (random.below(8) == 0 ? 0x1p-60 : 1.0);
  sides.golden.push_back(which == 2 || which == 3 ? lost(golden) : value);
  sides.target.push_back(which == 1 || which == 3 ? lost(target) : value * 1.001);
}

Sides make_sides(Mix mix, std::size_t count, DType golden, DType target, std::uint64_t seed) {
  Random random(seed);
  Sides sides;
  for (std::size_t i = 0; i < count; ++i) {
    if (mix == Mix::overflowed) {
      add_overflowed(random, golden, target, sides);
      continue;
    }
    const double g = value_of(mix, random, golden);
    const bool broken = random.below(64) == 0;
    const double t = broken ? value_of(mix, random, target) : g * (1.0 + random.uniform() * 2e-3);
    sides.golden.push_back(g);
    sides.target.push_back(t);
  }
  return {stored_values(golden, sides.golden), stored_values(target, sides.target)};
}

std::string describe(const kernels::Level& level, DType golden, DType target, Mix mix,
                     std::size_t count) {
  return std::string(level.name) + " " + std::string(tensor::name_of(golden)) + " against " +
         std::string(tensor::name_of(target)) + ", mix " + std::to_string(static_cast<int>(mix)) +
         ", " + std::to_string(count) + " elements";
}

void check(const kernels::Level& level, DType golden, DType target, Mix mix, std::size_t count,
           std::size_t golden_shift = 0, std::size_t target_shift = 0) {
  SCOPED_TRACE(describe(level, golden, target, mix, count));
  const Sides sides = make_sides(mix, count, golden, target, count * 31 + golden_shift);
  MeasureOptions options;
  options.cpu_level = level.name;
  options.kl_divergence = true;
  const auto measured = measure(view_of(golden, sides.golden, golden_shift),
                                view_of(target, sides.target, target_shift), options);
  ASSERT_TRUE(measured.has_value());
  expect_close(*measured, oracle(golden, sides.golden, target, sides.target, {true, true}));
}

constexpr DType kHot[] = {DType::f32, DType::f16, DType::bf16};

// Lengths about a grain of 64, a block of 2048, and 4 and 8 blocks.
TEST(Measure, EveryLevelAgreesWithTheOracleAtEveryLength) {
  for (const kernels::Level& level : kernels::available_levels()) {
    for (const std::size_t count :
         {0U, 1U, 2U, 63U, 64U, 65U, 127U, 259U, 514U, 2047U, 2048U, 2049U, 8195U, 16386U}) {
      check(level, DType::f32, DType::f16, Mix::ordinary, count);
      check(level, DType::f32, DType::f32, Mix::relu, count);
    }
  }
}

TEST(Measure, EveryLevelAgreesForEveryHotPairAndMix) {
  for (const kernels::Level& level : kernels::available_levels()) {
    for (const DType golden : kHot) {
      for (const DType target : kHot) {
        for (const Mix mix : kMixes) {
          check(level, golden, target, mix, 5000);
        }
      }
    }
  }
}

TEST(Measure, OddAddressesChangeNothing) {
  for (const kernels::Level& level : kernels::available_levels()) {
    for (const std::size_t shift : {1U, 2U, 3U, 5U, 7U}) {
      check(level, DType::f32, DType::f16, Mix::ordinary, 2300, shift, 0);
      check(level, DType::bf16, DType::f32, Mix::zeros, 2300, 0, shift);
      check(level, DType::f64, DType::i32, Mix::ordinary, 2300, shift, shift);
    }
  }
}

TEST(Measure, EveryPairOfDtypesAgreesWithTheOracle) {
  const kernels::Level& level = kernels::available_levels().back();
  for (const tensor::DTypeInfo& golden : tensor::all_dtypes()) {
    for (const tensor::DTypeInfo& target : tensor::all_dtypes()) {
      const auto plain = [](const tensor::DTypeInfo& row) {
        return row.decodable && row.kind != tensor::DTypeKind::complex;
      };
      if (plain(golden) && plain(target)) {
        check(level, golden.dtype, target.dtype, Mix::ordinary, 200);
        check(level, golden.dtype, target.dtype, Mix::wild, 200);
      }
    }
  }
}

// By hand: the only differing pair is (2, 2.5) at index 3.
TEST(Measure, PointsAtTheWorstPair) {
  std::vector<double> golden(300, 2.0);
  std::vector<double> target = golden;
  target[3] = 2.5;
  const auto m = measure(view_of(DType::f32, golden), view_of(DType::f16, target));
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->max_abs.index, 3U);
  EXPECT_EQ(m->max_abs.value, 0.5);
  EXPECT_EQ(m->max_abs.golden, 2.0);
  EXPECT_EQ(m->max_abs.target, 2.5);
  EXPECT_EQ(m->max_scaled.index, 3U);
  EXPECT_EQ(m->max_scaled.value, 0.25);
  EXPECT_EQ(m->equal_bits, 299U);
}

// Two shards and a bit.
TEST(Measure, ThreadsDoNotChangeABit) {
  const std::size_t count = (std::size_t{1} << 23) + 12345;
  std::vector<double> golden(count);
  std::vector<double> target(count);
  Random random(7);
  for (std::size_t i = 0; i < count; ++i) {
    golden[i] = random.uniform() * 3.0;
    target[i] = golden[i] + random.uniform() * 1e-3;
  }
  const tensor::View golden_view = view_of(DType::f32, golden);
  const tensor::View target_view = view_of(DType::f16, target);
  MeasureOptions options;
  options.kl_divergence = true;
  options.jobs = 1;
  const auto single = measure(golden_view, target_view, options);
  options.jobs = 3;
  const auto several = measure(golden_view, target_view, options);
  ASSERT_TRUE(single.has_value() && several.has_value());
  EXPECT_EQ(single->count, count);
  testing::expect_identical(*single, *several);
}

TEST(Measure, AGroupGivesWhatSinglePairsGive) {
  Random random(3);
  std::vector<double> golden;
  for (int i = 0; i < 10000; ++i) {
    golden.push_back(random.uniform());
  }
  const tensor::View golden_view = view_of(DType::f32, golden);
  std::vector<double> shorter(golden.begin(), golden.end() - 1);
  const std::vector<tensor::View> targets = {
      view_of(DType::f16, golden), view_of(DType::f32, shorter), view_of(DType::bf16, golden, 1),
      view_of(DType::f64, golden), view_of(DType::i8, golden)};
  const auto together = measure_group(golden_view, targets);
  ASSERT_EQ(together.size(), targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto alone = measure(golden_view, targets[i]);
    ASSERT_EQ(alone.has_value(), together[i].has_value());
    if (alone.has_value()) {
      testing::expect_identical(*alone, *together[i]);
    } else {
      EXPECT_EQ(together[i].error().code, ErrorCode::mismatch);
    }
  }
}

TEST(Measure, AnEmptyGroupHasNoResults) {
  EXPECT_TRUE(measure_group(view_of(DType::f32, {1.0}), {}).empty());
}

tensor::View transposed(DType dtype, const std::vector<double>& values, std::uint64_t rows,
                        std::uint64_t columns) {
  tensor::View view = view_of(dtype, values);
  view.axes = {{columns, 1, 1, 0}, {rows, 1, static_cast<std::int64_t>(columns), 0}};
  return view;
}

std::vector<double> transpose(const std::vector<double>& values, std::size_t rows,
                              std::size_t columns) {
  std::vector<double> result;
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) {
      result.push_back(values[r * columns + c]);
    }
  }
  return result;
}

/// Sums may be added in another order than in a flat walk, the worst elements must be the same.
void expect_same_measurement(const Measurement& actual, const Measurement& expected) {
  Measurement copy = actual;
  copy.max_scaled = expected.max_scaled;  // its scale depends on the tiles
  expect_close(copy, expected);
  EXPECT_EQ(actual.max_abs.index, expected.max_abs.index);
}

TEST(Measure, TransposedSidesAreComparedInLogicalOrder) {
  constexpr std::size_t kRows = 150;
  constexpr std::size_t kColumns = 77;
  const Sides sides = make_sides(Mix::ordinary, kRows * kColumns, DType::f32, DType::f16, 5);
  const std::vector<double> golden_flat = transpose(sides.golden, kRows, kColumns);
  const std::vector<double> target_flat = transpose(sides.target, kRows, kColumns);
  const Measurement expected = oracle(DType::f32, golden_flat, DType::f16, target_flat);
  const tensor::View golden_tiled = transposed(DType::f32, sides.golden, kRows, kColumns);
  const tensor::View target_tiled = transposed(DType::f16, sides.target, kRows, kColumns);
  for (const auto& [golden, target] : {std::pair{golden_tiled, view_of(DType::f16, target_flat)},
                                       std::pair{view_of(DType::f32, golden_flat), target_tiled},
                                       std::pair{golden_tiled, target_tiled}}) {
    const auto measured = measure(golden, target);
    ASSERT_TRUE(measured.has_value());
    expect_same_measurement(*measured, expected);
  }
}

TEST(Measure, BigEndianBytesAreTurned) {
  const std::vector<double> values = {1.0, -2.5, 3.0, 1e10};
  tensor::View golden = view_of(DType::f32, values);
  std::vector<std::byte> turned;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      turned.push_back(golden.tensor.bytes.span[4 * i + 3 - k]);
    }
  }
  tensor::View target = golden;
  target.tensor.bytes = own_bytes(std::move(turned));
  target.tensor.desc.big_endian = true;
  const auto measured = measure(golden, target);
  ASSERT_TRUE(measured.has_value());
  EXPECT_EQ(measured->equal_bits, 4U);
}

TEST(Measure, MaxElementsCutsBothSides) {
  const std::vector<double> golden = {1.0, 2.0, 3.0, 4.0};
  const std::vector<double> target = {1.0, 2.0, 9.0, 9.0};
  MeasureOptions options;
  options.max_elements = 2;
  const auto measured = measure(view_of(DType::f32, golden), view_of(DType::f32, target), options);
  ASSERT_TRUE(measured.has_value());
  EXPECT_EQ(measured->count, 2U);
  EXPECT_EQ(measured->sum_abs_d, 0.0);
}

// c64 elements (1+2i, 3+4i) against (1+2i, 3+5i): four reals, one differs, in element 1.
TEST(Measure, ComplexElementsAreTwoReals) {
  const std::vector<double> golden_parts = {1, 2, 3, 4};
  const std::vector<double> target_parts = {1, 2, 3, 5};
  tensor::View golden = view_of(DType::f32, golden_parts);
  tensor::View target = view_of(DType::f32, target_parts);
  for (tensor::View* view : {&golden, &target}) {
    view->tensor.desc.dtype = DType::c64;
    view->tensor.desc.shape = {2};
    view->axes = {{2, 1, 1, 0}};
  }
  const auto measured = measure(golden, target);
  ASSERT_TRUE(measured.has_value());
  EXPECT_EQ(measured->count, 4U);
  EXPECT_EQ(measured->max_abs.index, 1U);
  EXPECT_EQ(measured->max_abs.value, 1.0);
  EXPECT_EQ(measured->ulp_dtype, DType::f32);
  const auto mixed = measure(golden, view_of(DType::f32, {1.0, 2.0}));
  ASSERT_FALSE(mixed.has_value());
  EXPECT_EQ(mixed.error().code, ErrorCode::mismatch);
}

// 2^53 + 1 and 2^53 are one double, but not one integer.
TEST(Measure, WideIntegersAreEqualOnlyBitByBit) {
  tensor::View golden = view_of(DType::i64, {9007199254740992.0, 5.0});
  tensor::View target = view_of(DType::i64, {9007199254740992.0, 5.0});
  std::vector<std::byte> bytes(target.tensor.bytes.span.begin(), target.tensor.bytes.span.end());
  bytes[0] = std::byte{1};
  target.tensor.bytes = own_bytes(std::move(bytes));
  const auto measured = measure(golden, target);
  ASSERT_TRUE(measured.has_value());
  EXPECT_EQ(measured->equal_bits, 1U);
}

TEST(Measure, RoundingToFloat32LosesWhatTheReferenceLoses) {
  MeasureOptions options;
  options.round_to_float32 = true;
  const auto close =
      measure(view_of(DType::i64, {16777217.0}), view_of(DType::i64, {16777216.0}), options);
  ASSERT_TRUE(close.has_value());
  EXPECT_EQ(close->max_abs.value, 0.0);
  const auto huge = measure(view_of(DType::f64, {1e39}), view_of(DType::f64, {1.0}), options);
  ASSERT_TRUE(huge.has_value());
  EXPECT_EQ(huge->golden.classes.positive_inf, 1U);
}

TEST(Measure, OpaqueElementsAreRefused) {
  tensor::View view = view_of(DType::u8, {1.0, 2.0});
  tensor::View opaque = view;
  opaque.tensor.desc.dtype = DType::raw;
  const auto measured = measure(view, opaque);
  ASSERT_FALSE(measured.has_value());
  EXPECT_EQ(measured.error().code, ErrorCode::unsupported_dtype);
}

TEST(Measure, CancelledRunsFail) {
  CancelFlag cancel;
  cancel.cancel();
  MeasureOptions options;
  options.cancel = &cancel;
  const auto measured = measure(view_of(DType::f32, {1.0}), view_of(DType::f32, {1.0}), options);
  ASSERT_FALSE(measured.has_value());
  EXPECT_EQ(measured.error().code, ErrorCode::cancelled);
}

// A NaN hidden among thousands of good elements shows in every count it belongs to.
TEST(Measure, OneNanIsNeverSwallowed) {
  for (const kernels::Level& level : kernels::available_levels()) {
    for (const std::size_t place : {0U, 63U, 64U, 2047U, 2048U, 4999U}) {
      std::vector<double> golden(5000, 0.5);
      std::vector<double> target = golden;
      target[place] = kNan;
      MeasureOptions options;
      options.cpu_level = level.name;
      options.kl_divergence = true;
      const auto m = measure(view_of(DType::f32, golden), view_of(DType::f16, target), options);
      ASSERT_TRUE(m.has_value());
      EXPECT_EQ(m->target.classes.nan, 1U);
      EXPECT_EQ(m->class_mismatches, 1U);
      EXPECT_EQ(m->finite_pairs, 4999U);
      EXPECT_EQ(m->golden.finite, 5000U);
      EXPECT_TRUE(std::isnan(m->kl_divergence));
    }
  }
}

// Variance of n values alternating between 1e4 and 1e4 + 2^-10 is 2^-22; squares of f32 values
// of that size cancel to noise when the mean is not taken off first.
TEST(Measure, VarianceDoesNotCancel) {
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) {
    values.push_back(16384.0 + (i % 2) * 0x1p-9);
  }
  for (const kernels::Level& level : kernels::available_levels()) {
    MeasureOptions options;
    options.cpu_level = level.name;
    const auto stats = measure_side(view_of(DType::f32, values), options);
    ASSERT_TRUE(stats.has_value());
    EXPECT_NEAR(stats->standard_deviation(), 0x1p-10, 1e-9 * 0x1p-10);
  }
}

// 1 - cos of (1, 1e-9 e) turned by an angle of 1e-9 is 5e-19: far below the last bit of 1.
TEST(Measure, OneMinusCosineKeepsItsDigits) {
  const std::vector<double> golden = {1.0, 0.0};
  const std::vector<double> target = {1.0, 1e-9};
  const auto m = measure(view_of(DType::f64, golden), view_of(DType::f64, target));
  ASSERT_TRUE(m.has_value());
  EXPECT_NEAR(m->one_minus_cosine(), 5e-19, 1e-24);
}

// Every tile of 2048 has its own largest scaled error, whatever the length.
TEST(Peaks, AreTheLargestScaledErrorsOfTheTiles) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2047}, std::size_t{2049},
                                  std::size_t{9000}, std::size_t{70000}}) {
    const Sides sides = make_sides(Mix::ordinary, count, DType::f32, DType::f16, count);
    std::vector<Peaks> found;
    const Measurement whole = measure(view_of(DType::f32, sides.golden),
                                      view_of(DType::f16, sides.target), {.peaks = &found})
                                  .value();
    ASSERT_EQ(found.size(), 1U);
    const Peaks& peaks = found.front();
    ASSERT_EQ(peaks.size(), (count + kTileElements - 1) / kTileElements);
    double largest = 0.0;
    for (std::size_t tile = 0; tile < peaks.size(); ++tile) {
      const std::size_t first = tile * kTileElements;
      const std::size_t end = std::min(count, first + kTileElements);
      const std::vector<double> g(sides.golden.begin() + static_cast<std::ptrdiff_t>(first),
                                  sides.golden.begin() + static_cast<std::ptrdiff_t>(end));
      const std::vector<double> t(sides.target.begin() + static_cast<std::ptrdiff_t>(first),
                                  sides.target.begin() + static_cast<std::ptrdiff_t>(end));
      const double expected = oracle(DType::f32, g, DType::f16, t).max_scaled.value;
      // A tile that is no multiple of 64 is measured in two parts, each with a scale of its own.
      const bool parts = (end - first) % 64 != 0;
      EXPECT_NEAR(peaks[tile], expected, (parts ? 0.5 : 1e-5) * expected) << count << " " << tile;
      largest = std::max(largest, static_cast<double>(peaks[tile]));
    }
    EXPECT_NEAR(largest, whole.max_scaled.value, 1e-5 * largest);
  }
}

TEST(Peaks, OfAViewOutOfOrderAreNoSmallerThanTheErrorsOfTheTile) {
  constexpr std::uint64_t kRows = 96;
  constexpr std::uint64_t kColumns = 70;
  const Sides sides = make_sides(Mix::ordinary, kRows * kColumns, DType::f32, DType::f32, 5);
  const tensor::View golden = view_of(DType::f32, sides.golden);
  tensor::View target = view_of(DType::f32, sides.target);
  tensor::View turned = target;
  turned.axes = {{kColumns, 1, 1, 0}, {kRows, 1, static_cast<std::int64_t>(kColumns), 0}};
  std::vector<Peaks> found;
  const Measurement measured = measure(golden, turned, {.peaks = &found}).value();
  ASSERT_EQ(found.size(), 1U);
  const Peaks& peaks = found.front();
  ASSERT_EQ(peaks.size(), (kRows * kColumns + kTileElements - 1) / kTileElements);
  EXPECT_GE(peaks[measured.max_scaled.index / kTileElements],
            static_cast<float>(measured.max_scaled.value) * 0.9999F);
}

}  // namespace
}  // namespace opdrift::metrics
