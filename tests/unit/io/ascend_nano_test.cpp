#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "opdrift/io/ascend/nano.hpp"
#include "opdrift/io/ascend/tensor.hpp"

namespace opdrift::io {
namespace {

/// Builds files of the grammar in the header.
class NanoFile {
 public:
  NanoFile& u32(std::uint64_t value) { return put(value, 4); }
  NanoFile& u64(std::uint64_t value) { return put(value, 8); }
  NanoFile& shape(std::uint32_t tag, const std::vector<std::uint64_t>& dims) {
    u32(tag).u32(8 * dims.size());
    for (const std::uint64_t dim : dims) {
      u64(dim);
    }
    return *this;
  }
  /// An output with one shape of one dim and `size` bytes.
  NanoFile& output(std::uint64_t dtype, std::uint64_t dim, std::uint64_t size) {
    u32(dtype).u32(2).u32(0).u32(0).u32(0).u32(0).u64(0x10).u64(0).u64(size).u32(16);
    return shape(0, {dim});
  }
  std::vector<std::byte> file(std::size_t payload_bytes) const {
    NanoFile whole;
    whole.u64(bytes_.size());
    whole.bytes_.insert(whole.bytes_.end(), bytes_.begin(), bytes_.end());
    whole.bytes_.resize(whole.bytes_.size() + payload_bytes, std::byte{1});
    return whole.bytes_;
  }

 private:
  NanoFile& put(std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
    return *this;
  }
  std::vector<std::byte> bytes_;
};

NanoFile begun() {
  NanoFile head;
  head.u32(0x5A5A5A5A).u32(1);
  return head;
}

Result<FileDump> parsed(std::vector<std::byte> bytes) {
  return parse_ascend_nano(own_bytes(std::move(bytes)), "Conv.conv1.0.0.123");
}

TEST(AscendNano, ReadsAnOutput) {
  NanoFile head = begun();
  head.u32(5).u32(0).u32(1).output(1, 3, 6);
  const std::vector<std::byte> file = head.file(6);
  ASSERT_TRUE(probe_ascend_nano(file, file.size(), "x"));
  const Result<FileDump> dump = parsed(file);
  ASSERT_TRUE(dump) << dump.error().to_string();
  ASSERT_EQ(dump->tensors.size(), 1U);
  EXPECT_EQ(dump->op_name, "conv1");
  EXPECT_EQ(dump->tensors[0].desc.dtype, tensor::DType::f16);
  EXPECT_EQ(dump->tensors[0].desc.ascend_dtype, 2);
  EXPECT_EQ(dump->tensors[0].desc.shape, (tensor::Shape{3}));
  EXPECT_EQ(dump->tensors[0].desc.address, 0x10U);
}

TEST(AscendNano, FailsCleanlyWhereverItIsCut) {
  NanoFile head = begun();
  head.u32(5).u32(0).u32(2).output(1, 3, 6).output(0, 1, 4);
  const std::vector<std::byte> whole = head.file(10);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parsed({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}))
        << length;
  }
  EXPECT_TRUE(parsed(whole));
}

TEST(AscendNano, RefusesHugeCountsAndSizes) {
  NanoFile many = begun();
  many.u32(5).u32(0).u32(0xFFFFFFFF).output(1, 3, 6);
  EXPECT_EQ(parsed(many.file(6)).error().code, ErrorCode::bad_nano);
  NanoFile large = begun();
  large.u32(5).u32(0).u32(2).output(2, 3, ~std::uint64_t{0}).output(2, 3, 7);
  EXPECT_EQ(parsed(large.file(6)).error().code, ErrorCode::bad_header);
}

// Tag 9 instead of 4: the block is absent and nothing is consumed, so outputs are lost too.
TEST(AscendNano, LosesBothBlocksBehindAWrongTag) {
  NanoFile head = begun();
  head.u32(9).u32(0).u32(0).u32(5).u32(0).u32(1).output(1, 3, 6);
  EXPECT_TRUE(parsed(head.file(0))->tensors.empty());
}

// The item's length is not whole: 20 bytes hold two u64, and the next read begins behind them.
TEST(AscendNano, CutsItemsToWholeElements) {
  NanoFile head = begun();
  head.u32(5).u32(0).u32(1);
  head.u32(2).u32(2).u32(0).u32(0).u32(0).u32(0).u64(0).u64(0).u64(6).u32(28);
  head.u32(0).u32(20).u64(2).u64(3);
  const Result<FileDump> dump = parsed(head.file(6));
  ASSERT_TRUE(dump) << dump.error().to_string();
  EXPECT_EQ(dump->tensors[0].desc.shape, (tensor::Shape{2, 3}));
}

TEST(AscendNano, KnowsItsOwnNumbersOfTypes) {
  EXPECT_EQ(dtype_by_nano_number(11), tensor::DType::f64);
  EXPECT_EQ(dtype_by_nano_number(30), tensor::DType::u1);
  EXPECT_EQ(dtype_by_nano_number(5), std::nullopt);
  EXPECT_EQ(dtype_by_nano_number(29), std::nullopt);
}

TEST(AscendNano, NeedsFivePartsInTheNameForTheReference) {
  const Result<FileDump> dump =
      parse_ascend_nano(own_bytes(begun().u32(5).u32(0).u32(0).file(0)), "a.b.c.d");
  ASSERT_TRUE(dump);
  EXPECT_EQ(first_problem(*dump)->code, ErrorCode::malformed);
}

}  // namespace
}  // namespace opdrift::io
