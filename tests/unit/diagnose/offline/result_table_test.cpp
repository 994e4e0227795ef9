#include "opdrift/diagnose/offline/result_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "unit/compat/fixture_case.hpp"

#include "opdrift/diagnose/offline/added_columns.hpp"
#include "opdrift/diagnose/offline/analyser.hpp"

namespace opdrift::diagnose {
namespace {

using testing::TemporaryFolder;

std::string write_csv(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = (folder.path() / "result.csv").string();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// OpType, cosine and the other four monitors; golden "g" unless told.
std::vector<std::string> row(std::string type, std::vector<std::string> numbers,
                             std::string golden = "g") {
  std::vector<std::string> cells = {"3", std::move(type), "op", "float32", std::move(golden)};
  cells.insert(cells.end(), numbers.begin(), numbers.end());
  return cells;
}

ResultTable table_of(std::vector<std::vector<std::string>> rows) {
  ResultTable table{{"Index", "OpType", "NPUDump", "DataType", "GroundTruth"}, std::move(rows)};
  for (const Monitor& monitor : kMonitors) {
    table.header.emplace_back(monitor.column);
  }
  return table;
}

TEST(ResultTable, RowsAreBroughtToTheLengthOfTheHeader) {
  const TemporaryFolder folder;
  const std::string path = write_csv(folder,
                                     "Index,NPUDump,OverFlow,CosineSimilarity,Reason\r\n"
                                     "0,a,NO,1.000000,\r\n"
                                     "1,b,0.9,no OverFlow cell\r\n"
                                     "2,c,NO,0.5,one,two,three\r\n"
                                     "3,d\r\n");
  const auto table = read_result_table(path);
  ASSERT_TRUE(table) << table.error().to_string();
  ASSERT_EQ(table->rows.size(), 4U);
  EXPECT_EQ(table->rows[1][2], "NaN");
  EXPECT_EQ(table->rows[1][3], "0.9");
  EXPECT_EQ(table->rows[2][4], "one,two,three");
  EXPECT_EQ(table->rows[3], (std::vector<std::string>{"3", "d", "NaN", "NaN", "NaN"}));
}

TEST(ResultTable, OtherFilesAreRefusedByTheirSin) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_result_table("a.txt").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(read_result_table((folder.path() / "no.csv").string()).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(read_result_table(write_csv(folder, "")).error().code, ErrorCode::malformed);
  EXPECT_EQ(read_result_table(write_csv(folder, "Index,b\n1,2\n")).error().code,
            ErrorCode::malformed);
}

TEST(ResultTable, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  ResultTable table{{"Index", "NPUDump"}, {{"0", "a,b"}, {"1", "层\"1\""}}};
  const std::string path = (folder.path() / "t.csv").string();
  ASSERT_TRUE(write_result_table(path, table));
  EXPECT_EQ(read_result_table(path)->rows, table.rows);
}

TEST(AddedColumns, EveryLimitMakesAPrecisionErrorOnItsOwn) {
  ResultTable table =
      table_of({row("Add", {"0.99", "0.05", "0.005", "1.0", "1.0"}),
                row("Add", {"0.98", "0", "0", "0", "0"}), row("Add", {"1", "0.051", "0", "0", "0"}),
                row("Add", {"1", "0", "0.0051", "0", "0"}),
                row("Add", {"1", "0", "0", "1.01", "0"}), row("Add", {"1", "0", "0", "0", "inf"})});
  add_columns(table, {});
  EXPECT_EQ(table.rows[0].back(), "NO");
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    EXPECT_EQ(table.rows[i].back(), "YES") << i;
  }
}

TEST(AddedColumns, RowsWithoutACosineAndInsertedOperatorsAreNone) {
  ResultTable table =
      table_of({row("Add", {"NaN", "9", "9", "9", "9"}), row("Add", {"oops", "9", "9", "9", "9"}),
                row("Data", {"0", "9", "9", "9", "9"}), row("TransData", {"0", "9", "9", "9", "9"}),
                row("PartitionCall", {"0", "9", "9", "9", "9"})});
  add_columns(table, {});
  for (const auto& cells : table.rows) {
    EXPECT_EQ(cells.back(), "NO");
    EXPECT_EQ(cells.size(), table.header.size());
  }
}

TEST(AddedColumns, TellDeviceOperatorsAndOutputsAndAreFilledAnew) {
  ResultTable table = table_of({row("Cast", {"1", "0", "0", "0", "0"}, "*"),
                                row("Softmax", {"1", "0", "0", "0", "0"}, " prob ")});
  add_columns(table, {"prob"});
  add_columns(table, {"prob"});
  ASSERT_EQ(table.header.size(), 13U);
  const ResultRows rows(table);
  EXPECT_EQ(rows.cell(0, "IsNpuOps"), "YES");
  EXPECT_EQ(rows.cell(0, "IsOutputNode"), "NO");
  EXPECT_EQ(rows.cell(1, "IsNpuOps"), "NO");
  EXPECT_EQ(rows.cell(1, "IsOutputNode"), "YES");
}

/// Rows 2 and 4 break limits: row 2 the second and fifth, row 4 the first and second.
ResultTable two_bad_rows() {
  return table_of(
      {row("TransData", {"0", "9", "9", "9", "9"}), row("Cast", {"0", "9", "9", "9", "9"}, "*"),
       row("Conv", {"0.995", "0.25", "NaN", "0", "3"}), row("Add", {"1", "inf", "0", "0", "nan"}),
       row("Mul", {"0.5", "0.3", "0", "0", "0"})});
}

TEST(Analyser, EachStrategyHasItsRows) {
  const ResultTable table = two_bad_rows();
  const auto first = analyse(table, Strategy::first_overall);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].monitor, "RelativeEuclideanDistance");
  EXPECT_EQ(first[0].row, 2U);
  EXPECT_EQ(first[1].monitor, "MeanRelativeError");
  const auto each = analyse(table, Strategy::first_each);
  ASSERT_EQ(each.size(), 3U);
  EXPECT_EQ(each[0].monitor, "CosineSimilarity");
  EXPECT_EQ(each[0].row, 4U);
  EXPECT_EQ(each[1].row, 2U);
  EXPECT_EQ(analyse(table, Strategy::all).size(), 4U);
}

TEST(Analyser, TheTableIsRightAlignedAndCutsLongCells) {
  EXPECT_EQ(alarm_text({}), "None operator with accuracy issue reported\n");
  Alarm alarm;
  alarm.monitor = "CosineSimilarity";
  alarm.value = 0.12345678;
  alarm.index = "7";
  alarm.op_type = "Conv2D";
  alarm.target = std::string(40, 'x');
  alarm.golden = "层";
  EXPECT_EQ(alarm_text({alarm}),
            "Operators may lead to inaccuracy:\n"
            "|          Monitor |    Value | Index | OpType |                       NPUDump |"
            " GroundTruth |\n"
            "| ----------------:| --------:| -----:| ------:| -----------------------------:|"
            " -----------:|\n"
            "| CosineSimilarity | 0.123457 |     7 | Conv2D | xxxxxxxxxxxxxxxxxxxxxxxxxx... |"
            "          层 |\n");
}

}  // namespace
}  // namespace opdrift::diagnose
