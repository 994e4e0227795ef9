#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/temporary_folder.hpp"
#include "opdrift/io/archive/zip_archive.hpp"
#include "opdrift/io/msprobe/xlsx_reader.hpp"
#include "opdrift/report/report.hpp"

namespace opdrift::report {
namespace {

verdict::TensorResult tensor_of(const std::string& name, verdict::Label label, double ratio) {
  verdict::TensorResult tensor;
  tensor.operator_name = name;
  tensor.operator_type = "Conv";
  tensor.role = "output";
  tensor.order = 7;
  tensor.passed = label != verdict::Label::culprit;
  metrics::Measurement m;
  m.count = m.finite_pairs = 4;
  m.golden.dtype = m.target.dtype = tensor::DType::f16;
  m.sum_golden2 = 1.0;
  m.sum_d2 = 0.0625;
  tensor.measurement = m;
  tensor.judgement = verdict::Judgement{};
  tensor.judgement->label = label;
  tensor.judgement->q_own = ratio;
  tensor.judgement->z = ratio / 2;
  tensor.judgement->sentence = tensor.passed ? "" : "adds error & more";
  return tensor;
}

class XlsxReport : public ::testing::Test {
 protected:
  /// A part of the workbook as text.
  std::string part(const std::string& name) const {
    auto file = map_file(path_);
    EXPECT_TRUE(file);
    const auto archive = io::ZipArchive::open(std::move(*file));
    EXPECT_TRUE(archive) << archive.error().to_string();
    for (std::size_t i = 0; i < (*archive)->members().size(); ++i) {
      if ((*archive)->members()[i].name == name) {
        const auto bytes = (*archive)->load(i);
        EXPECT_TRUE(bytes) << bytes.error().to_string();
        return std::string(as_text(bytes->span));
      }
    }
    ADD_FAILURE() << "no part " << name;
    return {};
  }

  TemporaryFolder temporary_ = TemporaryFolder::create().value();
  std::filesystem::path folder_ = temporary_.path();
  std::string path_ = folder_ / "result.xlsx";
};

TEST_F(XlsxReport, TheSummaryTellsOfOverflowAndHeadroom) {
  verdict::RunResult result;
  result.overflow.sentence = "Div \"x\" makes 3 Inf";
  result.overflow.headroom = {{"y", 60000.0, 1.09, "y: nearly at the limit"}};
  result.overflow.constants = {{"mask", -1e9, 0.0, "constant mask becomes -Inf"}};
  ASSERT_TRUE(write_xlsx(result, path_));
  const std::string sheet = part("xl/worksheets/sheet1.xml");
  for (const char* text :
       {"Div &quot;x&quot; makes 3 Inf", "y: nearly at the limit", "constant mask becomes -Inf"}) {
    EXPECT_NE(sheet.find(text), std::string::npos) << text;
  }
}

TEST_F(XlsxReport, TheFirstSheetIsTheSummary) {
  verdict::RunResult result;
  result.tensors = {tensor_of("卷积", verdict::Label::culprit, 600.0)};
  result.verdict = verdict::RunVerdict{};
  result.verdict->outcome = verdict::Outcome::fail;
  result.verdict->sentence = "first divergence at \"卷积\" <1>";
  result.verdict->first_divergence = {0};
  ASSERT_TRUE(write_xlsx(result, path_));
  std::vector<std::string> cells;
  ASSERT_TRUE(io::read_xlsx(path_, [&](const io::XlsxRow& row) -> Status {
    for (const io::XlsxCell& cell : row) {
      cells.push_back(cell.text);
    }
    return Unit{};
  }));
  ASSERT_GE(cells.size(), 3U);
  EXPECT_EQ(cells[0], "opdrift: fail");
  EXPECT_EQ(cells[1], "Verdict");
  EXPECT_EQ(cells[2], "first divergence at \"卷积\" <1>");
}

TEST_F(XlsxReport, OperatorsHaveAFrozenHeaderFiltersColoursAndNumbers) {
  verdict::RunResult result;
  result.tensors = {
      tensor_of("=cmd|' /C calc'!A0", verdict::Label::culprit, 600.0),
      tensor_of("b", verdict::Label::healthy, std::numeric_limits<double>::quiet_NaN())};
  result.verdict = verdict::RunVerdict{};
  ASSERT_TRUE(write_xlsx(result, path_));
  const std::string sheet = part("xl/worksheets/sheet2.xml");
  EXPECT_NE(sheet.find("state=\"frozen\""), std::string::npos);
  EXPECT_NE(sheet.find("<autoFilter ref=\"A1:"), std::string::npos);
  EXPECT_NE(sheet.find("<c r=\"A2\" s=\"5\"><v>7</v></c>"), std::string::npos) << sheet;
  EXPECT_NE(sheet.find("<c r=\"G2\" s=\"3\"><v>0.25</v></c>"), std::string::npos) << sheet;
  EXPECT_NE(sheet.find("<c r=\"J2\" s=\"4\"><v>600</v></c>"), std::string::npos) << sheet;
  EXPECT_EQ(sheet.find("<c r=\"J3\""), std::string::npos) << "NaN is an empty cell";
  // Text, whatever it looks like: no cell is a formula.
  EXPECT_EQ(sheet.find("<f>"), std::string::npos);
  EXPECT_NE(sheet.find("<is><t>=cmd|' /C calc'!A0</t></is>"), std::string::npos);
  EXPECT_NE(sheet.find("adds error &amp; more"), std::string::npos);
}

TEST_F(XlsxReport, EveryLookHasAFormat) {
  ASSERT_TRUE(write_xlsx({}, path_));
  const std::string styles = part("xl/styles.xml");
  EXPECT_NE(styles.find("<cellXfs count=\"12\">"), std::string::npos);
  EXPECT_NE(styles.find("numFmtId=\"11\""), std::string::npos);
  EXPECT_NE(part("xl/workbook.xml").find("name=\"Ledger\""), std::string::npos);
}

TEST_F(XlsxReport, TheLedgerIsTheThirdSheet) {
  verdict::RunResult result;
  result.ledger = {
      {verdict::RunSide::target, "a.npy", "", verdict::LedgerState::unreadable, "truncated"}};
  ASSERT_TRUE(write_xlsx(result, path_));
  const std::string sheet = part("xl/worksheets/sheet3.xml");
  EXPECT_NE(sheet.find("unreadable"), std::string::npos);
  EXPECT_NE(sheet.find("truncated"), std::string::npos);
}

// Excel would compute a cell that begins with one of = + - @ if it were a formula, read "_x0041_"
// as "A", and refuse control characters, broken UTF-8 and more than 32,767 characters.
TEST_F(XlsxReport, HostileNamesAreTextsThatEveryReaderTakes) {
  const std::string names[] = {"=1+1",
                               "+cmd|' /C calc'!A0",
                               "@SUM(A1)",
                               "-2",
                               "bell\x07"
                               "end",
                               "_x0041_",
                               "a\xff"
                               "b",
                               "no\xEF\xBF\xBF"
                               "character",
                               std::string(40'000, 'x'),
                               "<b>&\"图"};
  verdict::RunResult result;
  for (const std::string& name : names) {
    result.tensors.push_back(tensor_of(name, verdict::Label::healthy, 0.5));
  }
  ASSERT_TRUE(write_xlsx(result, path_));
  const std::string sheet = part("xl/worksheets/sheet2.xml");
  EXPECT_EQ(sheet.find("<f>"), std::string::npos);
  for (const char* text :
       {"<is><t>=1+1</t>", "<is><t>+cmd|' /C calc'!A0</t>", "<is><t>@SUM(A1)</t>", "<is><t>-2</t>",
        "bell_x0007_end", "<is><t>_x005F_x0041_</t>", "<is><t>ab</t>",
        "no\xEF\xBF\xBD"
        "character",
        "<is><t>&lt;b&gt;&amp;&quot;图</t>"}) {
    EXPECT_NE(sheet.find(text), std::string::npos) << text;
  }
  EXPECT_NE(sheet.find(std::string(32'767, 'x')), std::string::npos);
  EXPECT_EQ(sheet.find(std::string(32'768, 'x')), std::string::npos);
}

TEST_F(XlsxReport, AFolderThatIsNotThereIsNamed) {
  const Status written = write_xlsx({}, (folder_ / "no" / "x.xlsx").string());
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().to_string().find("x.xlsx"), std::string::npos);
}

}  // namespace
}  // namespace opdrift::report
