#include "opdrift/report/msaccucmp_csv.hpp"

#include <gtest/gtest.h>

namespace opdrift::report {
namespace {

MsaccucmpColumns two_algorithms() {
  MsaccucmpColumns columns;
  columns.algorithms = {"CosineSimilarity", "MaxAbsoluteError"};
  return columns;
}

TEST(MsaccucmpCsv, OptionalColumnsComeAndGo) {
  MsaccucmpColumns columns = two_algorithms();
  EXPECT_EQ(msaccucmp_line(msaccucmp_header(columns)),
            "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,"
            "CosineSimilarity,MaxAbsoluteError,CompareFailReason\r\n");
  columns.sequence = true;
  columns.overflow = true;
  columns.target_address = false;
  columns.golden_address = false;
  EXPECT_EQ(msaccucmp_line(msaccucmp_header(columns)),
            "Index,OpSequence,OpType,NPUDump,DataType,GroundTruth,DataType,TensorIndex,Shape,"
            "OverFlow,CosineSimilarity,MaxAbsoluteError,CompareFailReason\r\n");
}

TEST(MsaccucmpCsv, EmptyRowsAreNaNExceptNamesAndReason) {
  MsaccucmpRow row;
  row.index = 3;
  row.op_type = "Add";
  row.target = "a,b";
  row.golden = "*";
  row.reason = "no \"file\"";
  const MsaccucmpColumns columns = two_algorithms();
  EXPECT_EQ(msaccucmp_line(msaccucmp_cells(columns, row)),
            "3,Add,\"a,b\",NaN,NaN,*,NaN,NaN,NaN,NaN,NaN,NaN,\"no \"\"file\"\"\"\r\n");
}

TEST(MsaccucmpCsv, RowsOfTheReferenceMayLackTheOverflowCell) {
  MsaccucmpColumns columns = two_algorithms();
  columns.overflow = true;
  MsaccucmpRow row;
  const std::size_t whole = msaccucmp_cells(columns, row).size();
  row.lacks_overflow = true;
  EXPECT_EQ(msaccucmp_cells(columns, row).size(), whole - 1);
}

TEST(MsaccucmpCsv, CellsASpreadsheetWouldRunAreQuoted) {
  EXPECT_EQ(msaccucmp_cell("=1+1"), "\"=1+1\"");
  EXPECT_EQ(msaccucmp_cell("@x"), "\"@x\"");
  EXPECT_EQ(msaccucmp_cell("a;=b"), "\"a;=b\"");
  EXPECT_EQ(msaccucmp_cell("-1.5"), "-1.5");
  EXPECT_EQ(msaccucmp_cell("plain-name"), "plain-name");
  EXPECT_EQ(msaccucmp_cell("=a,b"), "\"=a,b\"");
}

TEST(MsaccucmpCsv, MappingTorchAndFileResults) {
  MsaccucmpMapping mapping;
  mapping.target = "a";
  mapping.golden = "b";
  EXPECT_EQ(render_msaccucmp_mapping(false, std::vector{mapping}),
            "Index,OpType,NPUDump,GroundTruth,TensorIndex,NPUDumpPath,GroundTruthPath\r\n"
            "0,NaN,a,b,NaN,NaN,NaN\r\n");
  MsaccucmpTorchRow torch;
  torch.index = 8;
  torch.values = {"1.0"};
  EXPECT_EQ(
      render_msaccucmp_torch(std::vector<std::string>{"CosineSimilarity"}, std::vector{torch}),
      "Index,NPUDump,NPUDumpPath,GroundTruthPath,DataType,Shape,CosineSimilarity,"
      "CompareFailReason\r\n8,NaN,NaN,NaN,NaN,NaN,1.0,\r\n");
  EXPECT_EQ(render_file_result(std::vector<std::string>{"A"}, std::vector<std::string>{"0.5"}),
            "A: 0.5\n");
}

}  // namespace
}  // namespace opdrift::report
