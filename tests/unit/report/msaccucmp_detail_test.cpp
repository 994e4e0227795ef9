#include "opdrift/report/msaccucmp_detail.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace opdrift::report {
namespace {

template <typename T>
tensor::View view_of(const std::vector<T>& values, tensor::DType dtype, tensor::Shape shape) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  tensor::Tensor tensor;
  tensor.desc.dtype = dtype;
  tensor.desc.shape = std::move(shape);
  tensor.bytes = own_bytes(std::move(bytes));
  return *tensor::stored_view(tensor);
}

struct Listing {
  std::vector<std::uint64_t> files;
  std::string text;

  DetailSink sink() {
    return {[this](std::uint64_t first) {
              files.push_back(first);
              return Status(Unit{});
            },
            [this](std::string_view part) {
              text += part;
              return Status(Unit{});
            }};
  }
};

Result<Detail> list(const std::vector<float>& target, const std::vector<float>& golden,
                    const DetailOptions& options, Listing& listing) {
  const tensor::Shape shape = {1, target.size()};
  return list_detail(view_of(target, tensor::DType::f32, shape),
                     view_of(golden, tensor::DType::f32, shape), shape, options, listing.sink());
}

TEST(Detail, ListsCoordinatesAndErrors) {
  Listing listing;
  const auto detail = list({1.0F, 3.0F}, {2.0F, 0.0F}, {}, listing);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(listing.text,
            "Index,N C H W,NPUDump,GroundTruth,AbsoluteError,RelativeError\n"
            "0,0 0 0 0,1.000000\t,2.000000\t,1.000000\t,0.500000\t\n"
            "1,0 1 0 0,3.000000\t,0.000000\t,3.000000\t,-\n");
  EXPECT_EQ(detail->max_absolute, "3.000000");
}

TEST(Detail, MeaninglessRelativeErrorsAreFirstOrAsTheReferenceCounts) {
  for (const bool reference : {false, true}) {
    Listing listing;
    DetailOptions options;
    options.reference = reference;
    const auto detail = list({1.0F, 3.0F, 4.0F}, {2.0F, 0.0F, 5.0F}, options, listing);
    ASSERT_TRUE(detail.has_value());
    ASSERT_EQ(detail->worst_relative.size(), 3u);
    EXPECT_EQ(detail->worst_relative[0].front(), reference ? '0' : '1');
    EXPECT_EQ(detail->max_relative, reference ? "0.500000" : "inf");
    EXPECT_EQ(detail->min_relative, reference ? "0.000000" : "0.200000");
  }
}

// 60000 - (-60000) leaves the range of the stored type, not that of the sums.
TEST(Detail, DifferencesAreTakenInDouble) {
  Listing listing;
  const std::vector<std::uint16_t> target = {0x7B53};  // 60000 in float16
  const std::vector<std::uint16_t> golden = {0xFB53};
  const auto detail =
      list_detail(view_of(target, tensor::DType::f16, {1}),
                  view_of(golden, tensor::DType::f16, {1}), {1}, {}, listing.sink());
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->max_absolute, "120000.000000");
  EXPECT_EQ(detail->max_relative, "2.000000");
}

TEST(Detail, WorstRowsAreCutAndTiesTakeTheLargerIndex) {
  Listing listing;
  DetailOptions options;
  options.worst_rows = 2;
  options.listing = false;
  const auto detail = list({1, 5, 3, 5}, {0, 0, 0, 0}, options, listing);
  ASSERT_TRUE(detail.has_value());
  ASSERT_EQ(detail->worst_absolute.size(), 2u);
  EXPECT_EQ(detail->worst_absolute[0].front(), '3');
  EXPECT_EQ(detail->worst_absolute[1].front(), '1');
  EXPECT_TRUE(listing.text.empty());
}

TEST(Detail, ListingStartsANewFilePerLimit) {
  Listing listing;
  DetailOptions options;
  options.lines_per_file = 2;
  const std::vector<float> values(5, 1.0F);
  ASSERT_TRUE(list(values, values, options, listing).has_value());
  EXPECT_EQ(listing.files, (std::vector<std::uint64_t>{0, 2, 4}));
}

TEST(Detail, BoolTensorsShowWords) {
  Listing listing;
  const std::vector<std::uint8_t> target = {1, 0};
  const std::vector<std::uint8_t> golden = {0, 0};
  const auto detail =
      list_detail(view_of(target, tensor::DType::boolean, {2}),
                  view_of(golden, tensor::DType::boolean, {2}), {2}, {}, listing.sink());
  ASSERT_TRUE(detail.has_value());
  EXPECT_NE(listing.text.find("0,0 0 0 0,True\t,False\t,-\t,-\n"), std::string::npos);
  EXPECT_EQ(detail->max_absolute, "-");
  EXPECT_EQ(detail->worst_absolute[0], "0,0 0 0 0,True\t,False\t,-\t,-\t");
}

TEST(Detail, UnequalCountsAreRefused) {
  Listing listing;
  const auto detail = list_detail(view_of(std::vector<float>{1}, tensor::DType::f32, {1}),
                                  view_of(std::vector<float>{1, 2}, tensor::DType::f32, {2}), {1},
                                  {}, listing.sink());
  ASSERT_FALSE(detail.has_value());
  EXPECT_EQ(detail.error().code, ErrorCode::mismatch);
}

TEST(Detail, SummaryAndFormats) {
  EXPECT_EQ(detail_format("NCDHW", 5), "N C D H W");
  EXPECT_EQ(detail_format("NCHW", 0), "ID");
  Detail detail;
  detail.count = 2;
  const std::string text = render_detail_summary(detail, "a,b", "c", {});
  EXPECT_NE(text.find("TotalCount:2\nNPUDump:a b\nGroundTruth:c\nFormat:N C H W\n"),
            std::string::npos);
}

}  // namespace
}  // namespace opdrift::report
