#include "opdrift/metrics/resident.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "unit/metrics/oracle.hpp"

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/temporary_folder.hpp"
#include "opdrift/metrics/measure.hpp"

namespace opdrift::metrics {
namespace {

using tensor::DType;
using tensor::View;

class ResidentTest : public ::testing::Test {
 protected:
  /// Floats that follow from `seed`, 12 bytes into a mapped file.
  View mapped(const std::string& name, std::size_t count, std::uint64_t seed) const {
    testing::Random random(seed);
    std::vector<float> values(count + 3);
    for (float& value : values) {
      value = static_cast<float>(random.uniform());
    }
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    tensor::Tensor tensor;
    tensor.desc.dtype = DType::f32;
    tensor.desc.shape = {count};
    tensor.bytes = std::move(map_file(path)).value().part(12, count * sizeof(float));
    return std::move(tensor::stored_view(tensor)).value();
  }

  static View in_memory(const View& view) {
    View copy = view;
    const ByteSpan span = view.tensor.bytes.span;
    copy.tensor.bytes = own_bytes(std::vector<std::byte>(span.begin(), span.end()));
    return copy;
  }

  TemporaryFolder temporary_ = TemporaryFolder::create().value();
  std::filesystem::path folder_ = temporary_.path();
};

// 100,000 elements are read as a whole, 7 million shard by shard: 56 MB are above the bound.
TEST_F(ResidentTest, MappedTensorsMeasureLikeMemory) {
  for (const std::size_t count : {std::size_t{100000}, std::size_t{7000000}}) {
    const View golden = mapped("golden", count, 1);
    const View target = mapped("target", count, 2);
    MeasureOptions options;
    options.kl_divergence = true;
    options.jobs = 2;
    const auto read = measure(golden, target, options);
    const auto plain = measure(in_memory(golden), in_memory(target), options);
    ASSERT_TRUE(read.has_value() && plain.has_value());
    testing::expect_identical(*read, *plain);
  }
}

TEST_F(ResidentTest, OnlyWhatIsWorthItIsRead) {
  const View large = mapped("large", 100000, 1);
  const View small = mapped("small", 100, 1);
  const auto data = [](const View& view) { return view.tensor.bytes.span.data(); };
  EXPECT_NE(data(resident_views(large, {&large}, 0).front()), data(large));
  EXPECT_EQ(data(resident_views(large, {&large}, 1000).front()), data(large));
  EXPECT_EQ(data(resident_views(small, {&small}, 0).front()), data(small));
}

}  // namespace
}  // namespace opdrift::metrics
