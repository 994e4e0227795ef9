#include "opdrift/report/cell_block.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "opdrift/report/xlsx_parts.hpp"

namespace opdrift::report {

namespace {

CellBlock example() {
  CellBlock block(4);
  block.text("a,\"b\"");
  block.number(1.5);
  block.boolean(true);
  block.blank();
  block.text("x");
  block.number(-std::numeric_limits<double>::infinity());
  block.number(3.0, "3");
  block.text(" <&\n\x01");
  return block;
}

}  // namespace

// The blank before the infinity is the reference's.
TEST(CellBlock, CsvQuotesWhereNeeded) {
  std::string csv;
  append_csv(example(), csv);
  EXPECT_EQ(csv, "\"a,\"\"b\"\"\",1.5,True,\nx, -inf,3,\" <&\n\x01\"\n");
}

TEST(CellBlock, FormulasAreFound) {
  CellBlock block(1);
  block.text("-1");
  EXPECT_FALSE(block.malicious_text());
  block.text("=A1");
  EXPECT_EQ(block.malicious_text(), "=A1");
}

TEST(XlsxParts, CellsHaveTheirTypes) {
  std::string xml;
  append_sheet_rows(example(), 2, xml);
  EXPECT_EQ(xml,
            "<row r=\"2\"><c r=\"A2\" t=\"inlineStr\"><is><t>a,&quot;b&quot;</t></is></c>"
            "<c r=\"B2\"><v>1.5</v></c><c r=\"C2\" t=\"b\"><v>1</v></c></row>"
            "<row r=\"3\"><c r=\"A3\" t=\"inlineStr\"><is><t>x</t></is></c>"
            "<c r=\"B3\" t=\"inlineStr\"><is><t>-inf</t></is></c><c r=\"C3\"><v>3</v></c>"
            "<c r=\"D3\" t=\"inlineStr\"><is><t xml:space=\"preserve\"> &lt;&amp;\n_x0001_</t></is>"
            "</c></row>");
}

TEST(XlsxParts, ColoursFillWholeRows) {
  CellBlock block(2);
  block.colour(RowColour::red);
  block.text("a");
  block.blank();
  block.text("b");
  block.text("c");
  std::string xml;
  append_sheet_rows(block, 2, xml);
  EXPECT_NE(xml.find("<c r=\"B2\" s=\"2\"/>"), std::string::npos);
  EXPECT_EQ(xml.find("A3\" s="), std::string::npos);
}

TEST(XlsxParts, ColumnsBeyondZHaveTwoLetters) {
  const std::vector<std::string> columns(28, "x");
  std::string xml;
  append_sheet_header(columns, xml);
  EXPECT_NE(xml.find("r=\"AB1\""), std::string::npos);
}

TEST(XlsxParts, LongTextsAreCutBetweenCharacters) {
  CellBlock block(1);
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += "é";
  }
  block.text(text);
  std::string xml;
  append_sheet_rows(block, 1, xml);
  EXPECT_LT(xml.size(), 33000U);
  EXPECT_NE(xml.find("é</t>"), std::string::npos);
}

}  // namespace opdrift::report
