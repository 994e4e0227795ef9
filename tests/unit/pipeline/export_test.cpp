#include "opdrift/pipeline/convert/export.hpp"

#include <gtest/gtest.h>

#include "dump_testing.hpp"

#include "opdrift/pipeline/compare.hpp"

namespace opdrift::pipeline {
namespace {

using tensor::DType;
using testing::write_npy_file;

class Export : public testing::FolderTest {
 protected:
  Result<std::vector<ExportedTensor>> convert(ExportType type, const std::string& output) const {
    OPDRIFT_TRY(const DumpIndex index, index_dump(path("in"), verdict::RunSide::target, 1));
    ExportOptions options;
    options.type = type;
    options.output_folder = path(output);
    return export_dump(index, options);
  }
};

// Whatever a dump is converted to and read back from: every bit is the same.
TEST_F(Export, EveryTypeReadsBackEqual) {
  write_npy_file(path("in/a.npy"), DType::f32, {2, 3}, {1, -2, 3.5, 0, 1e30, -1e-30});
  write_npy_file(path("in/块/b.npy"), DType::f16, {4}, {1, 2, 65504, 6e-8});
  for (const ExportType type : {ExportType::npy, ExportType::npz, ExportType::pt}) {
    const std::string output = "out" + std::to_string(static_cast<int>(type));
    const auto lines = convert(type, output);
    ASSERT_TRUE(lines) << lines.error().to_string();
    ASSERT_EQ(lines->size(), 2U);
    for (const ExportedTensor& line : *lines) {
      EXPECT_FALSE(line.path.empty()) << line.problem;
    }
  }
  const auto compared = compare_dumps(path("out0"), path("in/a.npy"), CompareOptions{});
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->totals(verdict::RunSide::golden).equal, 1U);
}

TEST_F(Export, NamesThatCollideGetANumberAndNothingIsOverwritten) {
  write_npy_file(path("in/a b.npy"), DType::f32, {1}, {1});
  write_npy_file(path("in/a_b.npy"), DType::f32, {1}, {2});
  const auto lines = convert(ExportType::npy, "out");
  ASSERT_TRUE(lines);
  EXPECT_NE((*lines)[0].path, (*lines)[1].path);
}

TEST_F(Export, StatisticsAreWrittenWithoutTheTensors) {
  write_npy_file(path("in/a.npy"), DType::f32, {4}, {1, 2, 3, 4});
  const auto lines = convert(ExportType::stats, "out");
  ASSERT_TRUE(lines);
  ASSERT_TRUE((*lines)[0].stats);
  EXPECT_DOUBLE_EQ((*lines)[0].stats->max, 4.0);
  EXPECT_TRUE(std::filesystem::exists(path("out/stats.json")));
}

TEST(ExportType, IsFoundByName) {
  EXPECT_EQ(export_type_by_name("npz"), ExportType::npz);
  EXPECT_FALSE(export_type_by_name("docx"));
}

}  // namespace
}  // namespace opdrift::pipeline
