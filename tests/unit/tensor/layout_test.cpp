#include "opdrift/tensor/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "counting.hpp"

#include "opdrift/tensor/align.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::tensor {
namespace {

using Index = std::uint64_t;

using testing::values;

Tensor counting(Format format, const Shape& shape, int groups = 0) {
  Tensor tensor = testing::counting(format, shape);
  tensor.desc.sub_format = groups;
  return tensor;
}

/// Row-major position.
Index at(const Shape& shape, const std::vector<Index>& index) {
  Index position = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    position = position * shape[i] + index[i];
  }
  return position;
}

/// Values of an array of the given shape, element by element.
std::vector<std::uint32_t> filled(const Shape& shape,
                                  const std::function<Index(const std::vector<Index>&)>& stored) {
  std::vector<std::uint32_t> all;
  std::vector<Index> index(shape.size(), 0);
  for (Index i = 0; i < element_count(shape).value(); ++i) {
    Index rest = i;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      index[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    all.push_back(static_cast<std::uint32_t>(stored(index)));
  }
  return all;
}

/// Reads an index in layout `names` by its letters.
Index of(const char* names, char letter, const std::vector<Index>& index) {
  return index[static_cast<std::size_t>(std::strchr(names, letter) - names)];
}

struct Plain {
  Format format;
  const char* names;
};
constexpr Plain kPlain[] = {{Format::nchw, "NCHW"}, {Format::nhwc, "NHWC"}, {Format::hwcn, "HWCN"}};

class Layout : public ::testing::Test {
 protected:
  Index pick(Index low, Index high) {
    return std::uniform_int_distribution<Index>(low, high)(random_);
  }
  /// Sizes of N, C, H, W brought to the order of `names`.
  Shape ordered(const char* names, Index n, Index c, Index h, Index w) {
    Shape shape;
    for (const char* letter = names; *letter != '\0'; ++letter) {
      shape.push_back(*letter == 'N' ? n : *letter == 'C' ? c : *letter == 'H' ? h : w);
    }
    return shape;
  }

  std::mt19937 random_{21};
};

TEST_F(Layout, ThereAreEighteenPairs) {
  int pairs = 0;
  for (int from = 0; from < 60; ++from) {
    for (int to = 0; to < 60; ++to) {
      pairs += conversion_exists(static_cast<Format>(from), static_cast<Format>(to)) ? 1 : 0;
    }
  }
  EXPECT_EQ(pairs, 18);
  EXPECT_FALSE(conversion_exists(Format::nchw, Format::hwcn));
  EXPECT_FALSE(conversion_exists(Format::nd, Format::nchw));
}

TEST_F(Layout, PermutationsFollowTheirLetters) {
  for (const Plain& from : kPlain) {
    for (const Plain& to : kPlain) {
      if (!conversion_exists(from.format, to.format)) {
        continue;
      }
      const Index n = pick(1, 5), c = pick(1, 5), h = pick(1, 5), w = pick(1, 5);
      const Shape stored = ordered(from.names, n, c, h, w);
      const View view = convert_layout(counting(from.format, stored), to.format, {}).value();
      ASSERT_EQ(view.shape(), ordered(to.names, n, c, h, w));
      EXPECT_EQ(values(view), filled(view.shape(), [&](const std::vector<Index>& i) {
                  std::vector<Index> index;
                  for (const char* letter = from.names; *letter != '\0'; ++letter) {
                    index.push_back(of(to.names, *letter, i));
                  }
                  return at(stored, index);
                }));
    }
  }
}

TEST_F(Layout, ChannelBlocksUnfoldKeepingTheirPadding) {
  for (int round = 0; round < 30; ++round) {
    const Shape stored = {pick(1, 3), pick(1, 3), pick(1, 4), pick(1, 4), pick(1, 17)};
    for (const Plain& to : kPlain) {
      const View view = convert_layout(counting(Format::nc1hwc0, stored), to.format, {}).value();
      ASSERT_EQ(view.shape(),
                ordered(to.names, stored[0], stored[1] * stored[4], stored[2], stored[3]));
      EXPECT_EQ(values(view), filled(view.shape(), [&](const std::vector<Index>& i) {
                  const Index c = of(to.names, 'C', i);
                  return at(stored, {of(to.names, 'N', i), c / stored[4], of(to.names, 'H', i),
                                     of(to.names, 'W', i), c % stored[4]});
                }));
    }
  }
}

TEST_F(Layout, DepthUnfoldsAndIsCutToTheChannelsOfTheTarget) {
  for (int round = 0; round < 30; ++round) {
    const Shape s = {pick(1, 2), pick(1, 3), pick(1, 3), pick(1, 3), pick(1, 3), pick(1, 8)};
    const Index c = pick((s[2] - 1) * s[5] + 1, s[2] * s[5]);
    const Shape logical = {s[0], c, s[1], s[3], s[4]};
    const auto stored_at = [&](const std::vector<Index>& i) {
      return at(s, {i[0], i[2], i[1] / s[5], i[3], i[4], i[1] % s[5]});
    };
    const Tensor tensor = counting(Format::ndc1hwc0, s);
    for (const Format to : {Format::ncdhw, Format::nd}) {
      const View view = convert_layout(tensor, to, logical).value();
      ASSERT_EQ(view.shape(), logical);
      EXPECT_EQ(values(view), filled(logical, stored_at));
    }
    const View whole = convert_layout(tensor, Format::nd, {}).value();
    EXPECT_EQ(whole.shape(), (Shape{s[0], s[2] * s[5], s[1], s[3], s[4]}));
    EXPECT_EQ(values(whole), filled(whole.shape(), stored_at));
    EXPECT_EQ(convert_layout(tensor, Format::ncdhw, {}).error().code, ErrorCode::conversion_failed);
  }
}

TEST_F(Layout, FractalZUnfoldsToBothWeightLayouts) {
  for (int round = 0; round < 40; ++round) {
    const Index c1 = pick(1, 3), h = pick(1, 4), w = pick(1, 3), no = pick(1, 3), ni = pick(1, 17),
                c0 = pick(1, 17);
    const Shape stored = {c1 * h * w, no, ni, c0};
    const Index n = pick((no - 1) * ni + 1, no * ni);
    const Index c = pick((c1 - 1) * c0 + 1, c1 * c0);
    for (const Plain& to : {kPlain[0], kPlain[2]}) {
      const Shape target = ordered(to.names, n, c, h, w);
      const View view =
          convert_layout(counting(Format::fractal_z, stored), to.format, target).value();
      ASSERT_EQ(view.shape(), target);
      EXPECT_EQ(values(view), filled(target, [&](const std::vector<Index>& i) {
                  const Index ic = of(to.names, 'C', i);
                  const Index in = of(to.names, 'N', i);
                  const Index row = (ic / c0 * h + of(to.names, 'H', i)) * w + of(to.names, 'W', i);
                  return at(stored, {row, in / ni, in % ni, ic % c0});
                }));
    }
  }
}

TEST_F(Layout, FractalZRefusesTargetsThatDoNotFit) {
  const Tensor tensor = counting(Format::fractal_z, {6, 1, 16, 16});
  for (const Shape& target :
       {Shape{}, Shape{16, 16, 3}, Shape{16, 16, 5, 1}, Shape{17, 16, 3, 2}, Shape{16, 17, 3, 2},
        Shape{16, 16, 0, 2}, Shape{16, 16, Index{1} << 63, 2}}) {
    EXPECT_EQ(convert_layout(tensor, Format::nchw, target).error().code,
              ErrorCode::conversion_failed)
        << to_string(target);
  }
}

// An axis that is too short keeps its first (wanted - padded) elements: 18 - 16 = 2.
TEST_F(Layout, ReferenceKeepsTheExcessOfAShortAxis) {
  const Tensor tensor = counting(Format::fractal_z, {6, 1, 16, 16});
  LayoutRules rules;
  rules.reference = true;
  EXPECT_EQ(convert_layout(tensor, Format::nchw, {18, 16, 3, 2}, rules).value().shape(),
            (Shape{2, 16, 3, 2}));
}

TEST_F(Layout, FractalNzUnfoldsWithAnyLeadingDims) {
  for (int round = 0; round < 60; ++round) {
    Shape lead(pick(0, 3));
    std::generate(lead.begin(), lead.end(), [&] { return pick(1, 3); });
    const Index c1 = pick(1, 3), no = pick(1, 3), ni = pick(1, 17), c0 = pick(1, 33);
    const Index rows = pick((no - 1) * ni + 1, no * ni);
    const Index columns = pick((c1 - 1) * c0 + 1, c1 * c0);
    Shape stored = lead;
    stored.insert(stored.end(), {c1, no, ni, c0});
    Shape target = lead;
    target.insert(target.end(), {rows, columns});
    for (const Format to : {Format::nd, Format::nchw, Format::nhwc}) {
      const View view = convert_layout(counting(Format::fractal_nz, stored), to, target).value();
      ASSERT_EQ(view.shape(), target);
      EXPECT_EQ(values(view), filled(target, [&](const std::vector<Index>& i) {
                  const Index row = i[i.size() - 2], column = i.back();
                  std::vector<Index> index(i.begin(), i.end() - 2);
                  index.insert(index.end(), {column / c0, row / ni, row % ni, column % c0});
                  return at(stored, index);
                }));
    }
  }
}

TEST_F(Layout, FractalNzWindowIsOneFractal) {
  const Shape stored = {2, 3, 2, 16, 32};  // unfolded (2, 32, 96)
  for (const Shape& fine : {Shape{2, 32, 96}, Shape{2, 17, 65}, Shape{2, 32, 65}}) {
    EXPECT_TRUE(check_nz_window(stored, fine).has_value()) << to_string(fine);
  }
  for (const Shape& bad : {Shape{2, 16, 96}, Shape{2, 32, 64}, Shape{2, 33, 96}, Shape{1, 32, 96},
                           Shape{32, 96}, Shape{2, 1, 32, 96}, Shape{96}, Shape{}}) {
    EXPECT_EQ(check_nz_window(stored, bad).error().code, ErrorCode::bad_nz_shape) << to_string(bad);
  }
  LayoutRules reference;
  reference.reference = true;
  EXPECT_TRUE(check_nz_window(stored, {2, 17, 81}, reference).has_value());
  EXPECT_EQ(check_nz_window(stored, {2, 17, 80}, reference).error().code, ErrorCode::bad_nz_shape);
  EXPECT_EQ(check_nz_window(stored, {10}, reference).error().code, ErrorCode::internal);
}

TEST_F(Layout, FractalNzOfOneDimIsOneRow) {
  const Tensor tensor = counting(Format::fractal_nz, {1, 1, 16, 16});
  const View view = convert_layout(tensor, Format::nd, {10}).value();
  EXPECT_EQ(view.shape(), Shape{10});
  EXPECT_EQ(values(view), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(Layout, ReferenceJoinsTheLeadingDimsOfFractalNz) {
  LayoutRules rules;
  rules.reference = true;
  const Tensor tensor = counting(Format::fractal_nz, {2, 3, 1, 1, 16, 16});
  const Shape target = {2, 3, 10, 16};
  const View reference = convert_layout(tensor, Format::nd, target, rules).value();
  EXPECT_EQ(reference.shape(), (Shape{6, 10, 16}));
  EXPECT_EQ(values(reference), values(convert_layout(tensor, Format::nd, target).value()));
}

Index ceil_of(Index x, Index y) {
  return (x + y - 1) / y;
}

/// FRACTAL_Z of grouped weights, loop by loop; 0 is padding and element i holds i + 1.
std::vector<std::uint32_t> packed_by_loops(const Shape& nchw, const Shape& stored,
                                           const char* names, Index groups, bool reference) {
  const Index c_count = nchw[1], kh = nchw[2], kw = nchw[3], n = nchw[0] / groups;
  const Index e_count = std::min(
      std::lcm(std::lcm(c_count, Index{16}) / c_count, std::lcm(n, Index{16}) / n), groups);
  const Index blocks = ceil_of(e_count * c_count, 16);
  const Shape packed = {ceil_of(groups, e_count) * blocks * kh * kw, ceil_of(e_count * n, 16), 16,
                        16};
  std::vector<std::uint32_t> result(element_count(packed).value(), 0);
  for (Index g = 0; g < groups; ++g) {
    for (Index h = 0; h < kh; ++h) {
      for (Index w = 0; w < kw; ++w) {
        for (Index c = 0; c < c_count; ++c) {
          for (Index k = 0; k < n; ++k) {
            const Index dc = g % e_count * c_count + c;
            const Index dn = g % e_count * n + k;
            const Index row =
                (g / e_count * (reference ? dc / 16 : blocks) + dc / 16) * kh * kw + h * kw + w;
            const std::vector<Index> nchw_index = {g * n + k, c, h, w};
            std::vector<Index> index;
            for (const char* letter = names; *letter != '\0'; ++letter) {
              index.push_back(of("NCHW", *letter, nchw_index));
            }
            result[at(packed, {row, dn / 16, dn % 16, dc % 16})] =
                static_cast<std::uint32_t>(at(stored, index)) + 1;
          }
        }
      }
    }
  }
  return result;
}

TEST_F(Layout, WeightsPackToFractalZWithGroups) {
  for (int round = 0; round < 60; ++round) {
    const Index groups = pick(1, 5);
    const Index n = pick(1, 20), c = pick(1, 40), h = pick(1, 3), w = pick(1, 3);
    const Shape nchw = {n * groups, c, h, w};
    const Plain& from = kPlain[round % 3];
    const Shape stored = ordered(from.names, nchw[0], c, h, w);
    Tensor tensor = counting(from.format, stored, static_cast<int>(groups));
    std::vector<std::byte> plus_one(tensor.bytes.size());
    for (std::uint32_t i = 0; i < plus_one.size() / 4; ++i) {
      const std::uint32_t value = i + 1;
      std::memcpy(&plus_one[4 * i], &value, 4);
    }
    tensor.bytes = own_bytes(std::move(plus_one));
    for (const bool reference : {false, true}) {
      LayoutRules rules;
      rules.reference = reference;
      const View packed = convert_layout(tensor, Format::fractal_z, {}, rules).value();
      EXPECT_EQ(values(packed), packed_by_loops(nchw, stored, from.names, groups, reference));
    }
    const Tensor packed = to_fractal_z(tensor).value();
    const View back = convert_layout(packed, Format::nchw, nchw).value();
    ASSERT_EQ(back.shape(), nchw);
    const View wanted = from.format == Format::nchw
                            ? stored_view(tensor).value()
                            : convert_layout(tensor, Format::nchw, {}).value();
    EXPECT_EQ(values(back), values(wanted)) << to_string(nchw) << " groups " << groups;
  }
}

TEST_F(Layout, RoundTripsBetweenImageLayouts) {
  const Tensor tensor = counting(Format::nchw, {2, 3, 4, 5});
  const Tensor nhwc =
      materialise(convert_layout(tensor, Format::nhwc, {}).value(), Format::nhwc).value();
  const Tensor hwcn =
      materialise(convert_layout(nhwc, Format::hwcn, {}).value(), Format::hwcn).value();
  const View back = convert_layout(hwcn, Format::nchw, {}).value();
  EXPECT_EQ(back.shape(), tensor.desc.shape);
  EXPECT_EQ(values(back), values(stored_view(tensor).value()));
}

TEST_F(Layout, EveryElementSizeConverts) {
  for (const DType dtype : {DType::e4m3fn, DType::bf16, DType::f32, DType::i64, DType::c128}) {
    const Shape stored = {1, 2, 3, 2, 5};
    std::vector<double> numbers(60);
    std::iota(numbers.begin(), numbers.end(), 0.0);
    Tensor tensor;
    tensor.desc.dtype = dtype;
    tensor.desc.format = Format::nc1hwc0;
    tensor.desc.shape = stored;
    std::vector<std::byte> bytes(*storage_bytes(dtype, 60));
    encode(dtype, numbers.data(), 60, bytes.data());
    tensor.bytes = own_bytes(std::move(bytes));
    const Tensor logical =
        materialise(convert_layout(tensor, Format::nchw, {}).value(), Format::nchw).value();
    for (Index i = 0; i < 60; ++i) {
      const Index c = i / 6, hw = i % 6;
      EXPECT_EQ(decode_one(dtype, logical.bytes.span.data(), i),
                decode_one(dtype, tensor.bytes.span.data(), (c / 5 * 6 + hw) * 5 + c % 5));
    }
  }
}

TEST_F(Layout, RanksAndBytesThatDoNotFitAreRefused) {
  const auto code = [](const Tensor& tensor, Format to, const Shape& target = {}) {
    return convert_layout(tensor, to, target).error().code;
  };
  EXPECT_EQ(code(counting(Format::nc1hwc0, {1, 2, 3, 4}), Format::nchw),
            ErrorCode::conversion_failed);
  EXPECT_EQ(code(counting(Format::nchw, {2, 3, 4}), Format::nhwc), ErrorCode::conversion_failed);
  EXPECT_EQ(code(counting(Format::nchw, {2, 3, 4, 5, 2}), Format::nhwc),
            ErrorCode::conversion_failed);
  EXPECT_TRUE(
      convert_layout(counting(Format::nchw, {2, 3, 4, 5, 1}), Format::nhwc, {}).has_value());
  EXPECT_EQ(code(counting(Format::fractal_nz, {3, 16, 16}), Format::nd, {16, 48}),
            ErrorCode::conversion_failed);
  EXPECT_EQ(code(counting(Format::nd, {4}), Format::nchw), ErrorCode::unsupported_format);
  EXPECT_EQ(code(counting(static_cast<Format>(99), {4}), Format::nchw),
            ErrorCode::unsupported_format);
  Tensor short_bytes = counting(Format::nchw, {2, 3, 4, 5});
  short_bytes.desc.shape[0] = 3;
  EXPECT_EQ(code(short_bytes, Format::nhwc), ErrorCode::conversion_failed);
  EXPECT_EQ(code(short_bytes, Format::nchw), ErrorCode::malformed);
  short_bytes.desc.shape[0] = Index{1} << 60;
  EXPECT_EQ(code(short_bytes, Format::fractal_z), ErrorCode::conversion_failed);
}

TEST_F(Layout, HostileGroupsAreRefused) {
  Tensor tensor = counting(Format::nchw, {4, 5, 2, 1}, 1 << 30);
  EXPECT_EQ(to_fractal_z(tensor).error().code, ErrorCode::conversion_failed);  // no output left
  tensor.desc.sub_format = -7;
  EXPECT_TRUE(to_fractal_z(tensor).has_value());
  tensor.desc.shape = {0, 5, 2, 1};
  EXPECT_EQ(to_fractal_z(tensor).error().code, ErrorCode::conversion_failed);
  tensor = counting(Format::fractal_z, {2, 1, 16, 16}, 2);
  tensor.desc.shape = {2, 1, Index{1} << 40, 0};
  EXPECT_FALSE(from_grouped_fractal_z(tensor, {4, 5, 2, 1}).has_value());
}

TEST_F(Layout, GroupsMatterToTheReferenceOnly) {
  const Tensor tensor = counting(Format::nchw, {4, 5, 2, 1}, 2);
  LayoutRules rules;
  EXPECT_TRUE(convert_layout(tensor, Format::nhwc, {}, rules).has_value());
  rules.reference = true;
  EXPECT_EQ(convert_layout(tensor, Format::nhwc, {}, rules).error().code,
            ErrorCode::conversion_failed);
}

TEST_F(Layout, CropKeepsTheFirstElements) {
  const View view = stored_view(counting(Format::nd, {3, 4})).value();
  EXPECT_EQ(values(crop(view, {2, 3}).value()), (std::vector<std::uint32_t>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(crop(view, {4, 4}).error().code, ErrorCode::bad_shape);
  EXPECT_EQ(crop(view, {3}).error().code, ErrorCode::bad_shape);
  EXPECT_EQ(crop(view, {0, 4}).value().count(), 0U);
}

// (N,C,H,W) = (1,3,1,4) as NHWC lies as 4 columns of 3: column-major.
TEST_F(Layout, ColumnMajorResultsAreTold) {
  OutputRequest request;
  request.format = Format::nhwc;
  const auto order = [&](const Shape& shape) {
    return convert_for_output(counting(Format::nchw, shape), request).value().fortran_order;
  };
  EXPECT_TRUE(order({1, 3, 1, 4}));
  EXPECT_FALSE(order({1, 3, 2, 4}));
  EXPECT_FALSE(order({1, 1, 1, 4}));
}

}  // namespace
}  // namespace opdrift::tensor
