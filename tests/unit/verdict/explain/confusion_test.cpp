#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/verdict/explain/explaining.hpp"

namespace opdrift::verdict {
namespace {

using tensor::DType;
using tensor::Shape;
using testing::activations;
using testing::explained;
using ::testing::HasSubstr;
using testing::index_along;
using testing::inner_of;
using testing::kinds_of;
using testing::mapped;
using testing::permuted;
using testing::shapes;
using testing::stored;
using testing::taken;
using testing::Values;
using testing::with_range;

/// A fault as it is planted, and what must be said first about it.
struct Fault {
  ExplanationKind kind;
  std::string words;  ///< of the sentence
  std::function<Values(Values, const Shape&)> plant;
  std::function<bool(const Shape&)> fits = [](const Shape&) { return true; };
};

std::size_t channel_axis(const Shape& shape) {
  return shape.size() >= 4 ? 1 : shape.size() - 1;
}

bool has_rank4(const Shape& shape) {
  return shape.size() == 4;
}

bool has_channels(const Shape& shape) {
  return shape.size() >= 2;
}

std::vector<Fault> value_faults() {
  using Kind = ExplanationKind;
  return {
      {Kind::zero, "is 0",
       [](Values v, const Shape&) { return mapped(v, [](double) { return 0.0; }); }},
      {Kind::constant, "is 0.25",
       [](Values v, const Shape&) { return mapped(v, [](double) { return 0.25; }); }},
      {Kind::clamped, "clamped at +-1;",
       [](Values v, const Shape&) {
         return mapped(v, [](double x) { return std::clamp(x, -1.0, 1.0); });
       }},
      {Kind::clamped, "from below, as Relu does",
       [](Values v, const Shape&) { return mapped(v, [](double x) { return std::max(x, 0.0); }); }},
      {Kind::rounded, "float8_e4m3fn",
       [](Values v, const Shape&) { return stored(v, DType::e4m3fn); }},
      {Kind::truncated, "float8_e5m2",
       [](Values v, const Shape&) {
         return mapped(v, [](double x) {
           const double step = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 2);
           return x == 0.0 ? 0.0 : std::trunc(x / step) * step;
         });
       }},
      {Kind::scaled, "target = 1.02 * golden",
       [](Values v, const Shape&) { return mapped(v, [](double x) { return 1.02 * x; }); }},
      {Kind::scaled, "(1/255)",
       [](Values v, const Shape&) { return mapped(v, [](double x) { return x / 255.0; }); }},
      {Kind::offset, "golden - 0.5",
       [](Values v, const Shape&) { return mapped(v, [](double x) { return x - 0.5; }); }},
      {Kind::affine, "1.5 * golden + 0.5",
       [](Values v, const Shape&) { return mapped(v, [](double x) { return 1.5 * x + 0.5; }); }},
      {Kind::channel_affine, "scaled by 1.2",
       [](Values v, const Shape& s) {
         for (std::uint64_t i = 0; i < v.size(); ++i) {
           v[i] *= index_along(i, s, channel_axis(s)) == 2 ? 1.2 : 1.0;
         }
         return v;
       },
       has_channels},
      {Kind::channel_affine, "has an offset of its own",
       [](Values v, const Shape& s) {
         for (std::uint64_t i = 0; i < v.size(); ++i) {
           v[i] += 0.1 * static_cast<double>(index_along(i, s, channel_axis(s))) - 0.25;
         }
         return v;
       },
       has_channels},
  };
}

std::vector<Fault> order_faults() {
  using Kind = ExplanationKind;
  return {
      {Kind::permuted, "N,H,W,C where N,C,H,W",
       [](const Values& v, const Shape& s) {
         return permuted(v, s, {0, 2, 3, 1});
       },
       [](const Shape& s) { return has_rank4(s) && s[0] > 1; }},
      {Kind::permuted, "last two axes transposed",
       [](const Values& v, const Shape& s) {
         std::vector<std::size_t> order(s.size());
         std::iota(order.begin(), order.end(), std::size_t{0});
         std::swap(order[s.size() - 1], order[s.size() - 2]);
         return permuted(v, s, order);
       },
       [](const Shape& s) { return s.size() >= 2; }},
      {Kind::reversed_channels, "backwards",
       [](const Values& v, const Shape& s) {
         const std::size_t axis = channel_axis(s);
         return taken(v, s, axis, [&](std::uint64_t c) { return s[axis] - 1 - c; });
       }},
      {Kind::swapped_channels, "1 and 4 (of",
       [](const Values& v, const Shape& s) {
         return taken(v, s, channel_axis(s), [](std::uint64_t c) {
           return c == 1 ? 4U : c == 4 ? 1U : c;
         });
       },
       has_channels},
      {Kind::swapped_rows, "0 to 2 and 5 to 7",
       [](const Values& v, const Shape& s) {
         return taken(v, s, s.size() - 2, [](std::uint64_t c) {
           return c < 3 ? c + 5 : c >= 5 && c < 8 ? c - 5 : c;
         });
       },
       [](const Shape& s) { return s.size() >= 2; }},
      {Kind::shifted, "shifted by 1 along axis",
       [](const Values& v, const Shape& s) {
         return taken(v, s, s.size() - 1,
                      [&](std::uint64_t c) { return (c + s.back() - 1) % s.back(); });
       }},
      {Kind::shifted, "shifted by (2, -3)",
       [](const Values& v, const Shape& s) {
         Values out(v.size(), 0.0);
         const auto h = static_cast<std::int64_t>(s[2]);
         const auto w = static_cast<std::int64_t>(s[3]);
         for (std::int64_t i = 0; i < static_cast<std::int64_t>(v.size()); ++i) {
           const std::int64_t y = i / w % h - 2;
           const std::int64_t x = i % w + 3;
           if (y >= 0 && x < w) {
             out[static_cast<std::size_t>(i)] = v[static_cast<std::size_t>(i - 2 * w + 3)];
           }
         }
         return out;
       },
       has_rank4},
  };
}

std::vector<Fault> part_faults() {
  using Kind = ExplanationKind;
  return {
      {Kind::padding_only, "they hold zeros",
       [](Values v, const Shape&) {
         return with_range(v, v.size() - v.size() / 16, v.size(),
                           [](std::uint64_t) { return 0.0; });
       }},
      {Kind::padding_only, "only the last 3 of",
       [](Values v, const Shape& s) {
         for (std::uint64_t i = 0; i < v.size(); ++i) {
           const bool padding = index_along(i, s, s.size() - 1) + 3 >= s.back();
           v[i] = padding ? std::sin(static_cast<double>(i * i)) : v[i];
         }
         return v;
       },
       [](const Shape& s) { return s.size() >= 2; }},
      {Kind::overwritten, "hold other data",
       [](Values v, const Shape&) {
         return with_range(v, v.size() / 3 + 5, v.size() / 2 + 3,
                           [](std::uint64_t i) { return std::cos(static_cast<double>(i * i)); });
       }},
      {Kind::swapped_rows, "holds the golden's part",
       [](Values v, const Shape& s) {
         const std::uint64_t row = s.back();
         const Values original = v;
         return with_range(v, 3 * row, 4 * row,
                           [&](std::uint64_t i) { return original[i + 2 * row]; });
       },
       [](const Shape& s) { return s.size() >= 2; }},
  };
}

std::vector<Fault> all_faults() {
  std::vector<Fault> faults = value_faults();
  for (const auto& more : {order_faults(), part_faults()}) {
    faults.insert(faults.end(), more.begin(), more.end());
  }
  return faults;
}

// Every fault is said to be itself before anything else, in every type and shape, on a target that
// rounds as its type does.
TEST(Confusion, EveryFaultIsNamedFirst) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const Shape& shape : shapes()) {
      const Values golden = activations(shape, 7);
      for (const Fault& fault : all_faults()) {
        if (!fault.fits(shape)) {
          continue;
        }
        const Values target = fault.plant(golden, shape);
        const auto found = explained(golden, target, shape, dtype);
        const std::string where = std::string(to_string(fault.kind)) + " '" + fault.words +
                                  "' in " + std::string(tensor::name_of(dtype)) + " [" +
                                  tensor::to_string(shape) + "], found\n" + kinds_of(found);
        ASSERT_FALSE(found.empty()) << where;
        EXPECT_EQ(found.front().kind, fault.kind) << where;
        EXPECT_THAT(found.front().sentence, HasSubstr(fault.words)) << where;
        EXPECT_GE(found.front().explained, 0.75) << where;
        EXPECT_LE(found.size(), 3U) << where;
      }
    }
  }
}

// The same on top of an inherited error of 0.1 % of every element, which no fit removes.
TEST(Confusion, FaultsAreNamedThroughInheritedNoise) {
  const Shape shape = {2, 8, 17, 19};
  const Values golden = activations(shape, 11);
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const Fault& fault : all_faults()) {
    const bool needs_exact_values =
        fault.kind == ExplanationKind::rounded || fault.kind == ExplanationKind::truncated;
    if (!fault.fits(shape) || needs_exact_values) {
      continue;
    }
    const Values noisy =
        mapped(golden, [&](double x) { return x * (1.0 + 1e-3 * normal(random)); });
    const auto found = explained(golden, fault.plant(noisy, shape), shape, DType::f16);
    ASSERT_FALSE(found.empty()) << to_string(fault.kind) << " " << fault.words;
    EXPECT_EQ(found.front().kind, fault.kind) << fault.words << "\n" << kinds_of(found);
  }
}

}  // namespace
}  // namespace opdrift::verdict
