#include "opdrift/tensor/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "unit/tensor/random_view.hpp"

namespace opdrift::tensor {
namespace {

using testing::elements_of;
using testing::gathered;
using testing::pick;
using testing::random_tensor;
using testing::random_view;

constexpr DType kSizes[] = {DType::u8,  DType::f16, DType::f32, DType::f64, DType::c128,
                            DType::c64, DType::u1,  DType::i4,  DType::e3m2};

std::string describe(const View& view) {
  std::string text(name_of(view.tensor.desc.dtype));
  for (const AxisMap& axis : view.axes) {
    text += " (" + std::to_string(axis.extent) + "," + std::to_string(axis.inner) + "," +
            std::to_string(axis.outer_stride) + "," + std::to_string(axis.inner_stride) + ")";
  }
  return text + " +" + std::to_string(view.offset);
}

/// Reads all tiles; checks that each element comes once and equals the definition.
void expect_tiles_show_the_view(const View& view) {
  const auto wanted = elements_of(view);
  std::vector<int> seen(wanted.size(), 0);
  TileReader reader(view);
  for (std::uint64_t tile = 0; tile < reader.tile_count(); ++tile) {
    for (const Segment& segment : reader.read(tile)) {
      ASSERT_LE(segment.first + segment.count, wanted.size()) << describe(view);
      for (std::uint64_t i = 0; i < segment.count; ++i) {
        ++seen[segment.first + i];
        ASSERT_TRUE(testing::element(view.tensor.desc.dtype, segment.data, i) ==
                    wanted[segment.first + i])
            << describe(view) << " element " << segment.first + i;
      }
    }
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }))
      << describe(view);
}

TEST(TileReader, DeliversEveryElementOfRandomViewsOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 600; ++round) {
    View view = random_view(random, kSizes[round % 9], round % 3 == 0 ? 40 : 9);
    view.tensor.desc.big_endian = round % 4 == 1;
    expect_tiles_show_the_view(view);
  }
}

TEST(Gather, EqualsTheDefinitionForRandomViews) {
  std::mt19937 random(8);
  for (int round = 0; round < 600; ++round) {
    View view = random_view(random, kSizes[round % 9], 10);
    view.tensor.desc.big_endian = round % 4 == 1;
    ASSERT_EQ(gathered(view), elements_of(view)) << describe(view);
  }
}

TEST(Gather, TakesAnyPartOfAView) {
  std::mt19937 random(9);
  for (int round = 0; round < 600; ++round) {
    const DType dtype = kSizes[round % 9];
    const View view = random_view(random, dtype, 9);
    const auto wanted = elements_of(view);
    const std::uint64_t first = pick(random, 0, wanted.size());
    const std::uint64_t count = pick(random, 0, wanted.size() - first);
    std::vector<std::byte> out(*storage_bytes(dtype, count) + 1, std::byte{0x5a});
    gather(view, first, count, out.data());
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(testing::element(dtype, out.data(), i), wanted[first + i]) << describe(view);
    }
    EXPECT_EQ(out.back(), std::byte{0x5a});  // nothing written behind the end
  }
}

/// (n, c, hw) of stored (n, c1, hw, c0).
View blocked_channels(const Tensor& tensor, std::uint64_t n, std::uint64_t c, std::uint64_t c0,
                      std::uint64_t hw) {
  const std::uint64_t c1 = (c + c0 - 1) / c0;
  View view;
  view.tensor = tensor;
  const auto stride = [](std::uint64_t elements) { return static_cast<std::int64_t>(elements); };
  view.axes = {
      {n, 1, stride(c1 * hw * c0), 0}, {c, c0, stride(hw * c0), 1}, {hw, 1, stride(c0), 0}};
  return view;
}

TEST(TileReader, CoversBlockedChannelsOfAnyBlockAndElementSize) {
  std::mt19937 random(10);
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64, DType::c128}) {
    for (const std::uint64_t c0 : {1U, 2U, 3U, 4U, 8U, 15U, 16U, 17U, 32U, 64U, 100U}) {
      const std::uint64_t hw = pick(random, 1, 700);
      const std::uint64_t c = pick(random, 1, 2 * c0 + 3);
      const Tensor tensor = random_tensor(random, dtype, 2 * ((c + c0 - 1) / c0) * c0 * hw);
      const View view = blocked_channels(tensor, 2, c, c0, hw);
      expect_tiles_show_the_view(view);
      View rows = view;  // channels last
      std::swap(rows.axes[1], rows.axes[2]);
      expect_tiles_show_the_view(rows);
    }
  }
}

TEST(TileReader, HoldsAtMost256KiBOfScratch) {
  std::mt19937 random(11);
  const Tensor tensor = random_tensor(random, DType::c128, 4 * 64 * 4096);
  const View view = blocked_channels(tensor, 4, 60, 16, 4096);
  TileReader reader(view);
  for (std::uint64_t tile = 0; tile < reader.tile_count(); ++tile) {
    const auto& segments = reader.read(tile);
    const auto [low, high] =
        std::minmax_element(segments.begin(), segments.end(),
                            [](const Segment& x, const Segment& y) { return x.data < y.data; });
    ASSERT_LE(high->data + high->count * 16 - low->data, 256 * 1024);
  }
}

TEST(TileReader, PointsIntoTheBytesOfContiguousViews) {
  std::mt19937 random(12);
  for (const DType dtype : {DType::f16, DType::u1, DType::e3m2}) {
    const Tensor tensor = random_tensor(random, dtype, 40000);
    const View view = flat_view(tensor, 40000).value();
    TileReader reader(view);
    ASSERT_EQ(reader.tile_count(), 3U);
    const auto segments = reader.read(2);
    ASSERT_EQ(segments.size(), 1U);
    EXPECT_EQ(segments[0].first, 32768U);
    EXPECT_EQ(segments[0].count, 40000U - 32768U);
    EXPECT_EQ(segments[0].data, tensor.bytes.span.data() + *storage_bytes(dtype, 32768));
  }
}

TEST(TileReader, TilesDoNotDependOnTheElementSize) {
  std::mt19937 random(13);
  const auto tiles_of = [&](DType dtype) {
    const View view = blocked_channels(random_tensor(random, dtype, 2 * 48 * 900), 2, 40, 16, 900);
    TileReader reader(view);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> tiles;
    for (std::uint64_t i = 0; i < reader.tile_count(); ++i) {
      for (const Segment& segment : reader.read(i)) {
        tiles.emplace_back(segment.first, segment.count);
      }
    }
    return tiles;
  };
  EXPECT_EQ(tiles_of(DType::f16), tiles_of(DType::f32));
  EXPECT_EQ(tiles_of(DType::u8), tiles_of(DType::c128));
}

TEST(TileReader, EmptyViewsHaveNoTiles) {
  std::mt19937 random(14);
  const Tensor tensor = random_tensor(random, DType::f32, 4);
  for (const Shape& shape : {Shape{0}, Shape{3, 0, 5}, Shape{std::uint64_t{1} << 60, 0}}) {
    const View view = shaped_view(tensor, shape).value();
    EXPECT_EQ(TileReader(view).tile_count(), 0U);
    EXPECT_TRUE(view.contiguous());
    EXPECT_EQ(view.shape(), shape);
  }
}

TEST(TileReader, RepeatedElementsOfHugeShapesCostNoMemory) {
  std::mt19937 random(15);
  Tensor tensor = random_tensor(random, DType::f32, 1);
  tensor.desc.shape = {std::uint64_t{1} << 30, std::uint64_t{1} << 30};
  tensor.desc.strides = {0, 0};
  const View view = stored_view(tensor).value();
  TileReader reader(view);
  EXPECT_GE(reader.tile_count(), std::uint64_t{1} << 46);
  const auto segments = reader.read(reader.tile_count() - 1);
  EXPECT_EQ(segments.back().first + segments.back().count, std::uint64_t{1} << 60);
  EXPECT_EQ(materialise(view, Format::nd).error().code, ErrorCode::limit);
}

TEST(StoredView, HostileShapesAreRefused) {
  std::mt19937 random(16);
  Tensor tensor = random_tensor(random, DType::f16, 6);
  const std::uint64_t huge = std::uint64_t{1} << 31;
  const std::pair<Shape, ErrorCode> cases[] = {
      {{7}, ErrorCode::data_mismatch},
      {{huge, huge, 2}, ErrorCode::bad_shape},
      {{huge, huge / 4}, ErrorCode::data_mismatch},
      {{~std::uint64_t{0}}, ErrorCode::bad_shape},
      {{~std::uint64_t{0}, ~std::uint64_t{0}, 3}, ErrorCode::bad_shape},
  };
  for (const auto& [shape, code] : cases) {
    tensor.desc.shape = shape;
    EXPECT_EQ(stored_view(tensor).error().code, code) << to_string(shape);
  }
  tensor.desc.shape = {2, 3};
  EXPECT_TRUE(stored_view(tensor).has_value());
  tensor.desc.dtype = DType::string;
  EXPECT_EQ(stored_view(tensor).error().code, ErrorCode::unsupported_dtype);
}

TEST(StoredView, HostileStridesAreRefused) {
  std::mt19937 random(17);
  Tensor tensor = random_tensor(random, DType::f16, 6);
  tensor.desc.shape = {2, 3};
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<std::int64_t>& strides :
       {std::vector<std::int64_t>{4, 1}, {-3, 1}, {3, kMost}, {kMost, kMost}, {kMost, 1}}) {
    tensor.desc.strides = strides;
    EXPECT_EQ(stored_view(tensor).error().code, ErrorCode::data_mismatch) << strides[0];
  }
  tensor.desc.strides = {1};
  EXPECT_EQ(stored_view(tensor).error().code, ErrorCode::bad_shape);
  tensor.desc.strides = {1, 2};
  EXPECT_TRUE(stored_view(tensor).has_value());
}

TEST(StoredView, NoDimsMeanOneElementAndSurplusIsLeftOut) {
  std::mt19937 random(18);
  Tensor tensor = random_tensor(random, DType::f16, 6);
  tensor.desc.shape = {};
  EXPECT_EQ(stored_view(tensor).value().count(), 1U);
  tensor.desc.shape = {5};
  EXPECT_EQ(stored_view(tensor).value().count(), 5U);
}

TEST(ColumnMajor, IsFortranOrderWithoutRowMajor) {
  std::mt19937 random(19);
  Tensor tensor = random_tensor(random, DType::f16, 24);
  tensor.desc.shape = {2, 3, 4};
  EXPECT_FALSE(column_major(stored_view(tensor).value()));
  tensor.desc.strides = {1, 2, 6};
  EXPECT_TRUE(column_major(stored_view(tensor).value()));
  tensor.desc.strides = {2, 1, 6};
  EXPECT_FALSE(column_major(stored_view(tensor).value()));
  tensor.desc.shape = {1, 6, 1};
  tensor.desc.strides = {9, 1, 9};
  EXPECT_FALSE(column_major(stored_view(tensor).value()));  // both orders at once
}

TEST(Materialise, CopiesInLogicalOrder) {
  std::mt19937 random(20);
  for (int round = 0; round < 40; ++round) {
    View view = random_view(random, kSizes[round % 9], 8);
    view.tensor.desc.big_endian = round % 2 == 1;
    const Tensor copy = materialise(view, Format::nd).value();
    EXPECT_EQ(copy.desc.shape, view.shape());
    EXPECT_EQ(elements_of(stored_view(copy).value()), elements_of(view));
  }
}

}  // namespace
}  // namespace opdrift::tensor
