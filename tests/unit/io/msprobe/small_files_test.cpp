#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/archive/deflate_archive.hpp"
#include "opdrift/io/archive/zip_archive.hpp"
#include "opdrift/io/msprobe/call_stacks.hpp"
#include "opdrift/io/msprobe/xlsx_reader.hpp"
#include "opdrift/io/msprobe/yaml_tree.hpp"

namespace opdrift::io {

namespace {

using testing::TempFolder;

}  // namespace

TEST(CallStacks, OldAndNewFormsMeanTheSame) {
  const TempFolder folder;
  const auto old = read_call_stacks(folder.file("a", R"({"A.0.forward": ["x, line 1", "y"]})"));
  const auto fresh = read_call_stacks(
      folder.file("b", R"({"0": [["A.0.forward", "B.0.forward"], ["x, line 1", "y"]]})"));
  ASSERT_TRUE(old);
  ASSERT_TRUE(fresh);
  ASSERT_NE(old->find("A.0.forward"), nullptr);
  ASSERT_NE(fresh->find("B.0.forward"), nullptr);
  EXPECT_EQ(*old->find("A.0.forward"), *fresh->find("B.0.forward"));
  EXPECT_EQ(old->find("C.0.forward"), nullptr);
}

TEST(CallStacks, LinesForSpreadsheetsAreRefused) {
  const TempFolder folder;
  EXPECT_FALSE(read_call_stacks(folder.file("a", R"({"A": ["=1+1"]})")));
}

TEST(CallParents, NullAndStepsAreUnderstood) {
  const TempFolder folder;
  const auto parents = read_call_parents(
      folder.file("c", R"({"A": "P", "B": null, "C": ["Q", 3], "megatron_micro_step_number": 1})"));
  ASSERT_TRUE(parents);
  EXPECT_EQ(parents->parent_of.at("A"), "P");
  EXPECT_EQ(parents->parent_of.at("B"), "");
  EXPECT_EQ(parents->parent_of.at("C"), "Q");
  EXPECT_EQ(parents->parent_of.size(), 3U);
}

TEST(YamlTree, KeepsOrderAndText) {
  const TempFolder folder;
  const auto root = read_yaml(folder.file("m.yaml", "b: 1\na: [x, 'null', null]\nb: 2\n# end\n"));
  ASSERT_TRUE(root);
  ASSERT_EQ(root->members.size(), 2U);
  EXPECT_EQ(root->members[0].name, "b");
  EXPECT_EQ(root->members[0].value.text, "2");
  EXPECT_FALSE(root->members[1].value.items[1].is_null());
  EXPECT_TRUE(root->members[1].value.items[2].is_null());
}

TEST(YamlTree, RefusesWhatItCannotMean) {
  const TempFolder folder;
  EXPECT_FALSE(read_yaml(folder.file("a", "a: [1, 2\n")));
  EXPECT_FALSE(read_yaml(folder.file("b", "a: &x 1\nb: *x\n")));
  EXPECT_FALSE(read_yaml(folder.file("c", "? [a, b]\n: 1\n")));
  EXPECT_FALSE(read_yaml(folder.file("d", std::string(100, '[') + std::string(100, ']'))));
  EXPECT_TRUE(read_yaml(folder.file("e", "")));
}

TEST(DeflateArchive, PiecesMakeOneMember) {
  const TempFolder folder;
  const std::string path = folder / "a.zip";
  auto archive = DeflateArchive::create(path);
  ASSERT_TRUE(archive);
  ASSERT_TRUE(archive->begin("long"));
  std::string whole;
  for (int i = 0; i < 5; ++i) {
    const std::string part(10000, static_cast<char>('a' + i));
    whole += part;
    ASSERT_TRUE(archive->add(*deflate_piece(part)));
  }
  ASSERT_TRUE(archive->end());
  ASSERT_TRUE(archive->member("empty", ""));
  ASSERT_TRUE(archive->finish());
  const auto zip = ZipArchive::open(*map_file(path));
  ASSERT_TRUE(zip) << zip.error().to_string();
  EXPECT_EQ(as_text((*zip)->load(0)->span), whole);
  EXPECT_EQ((*zip)->load(1)->size(), 0U);
}

namespace {

std::string workbook(const TempFolder& folder, const std::string& sheet,
                     const std::string& shared) {
  const std::string path = folder / "w.xlsx";
  auto archive = DeflateArchive::create(path);
  EXPECT_TRUE(archive->member("xl/worksheets/sheet1.xml", sheet));
  EXPECT_TRUE(archive->member("xl/sharedStrings.xml", shared));
  EXPECT_TRUE(archive->finish());
  return path;
}

}  // namespace

TEST(XlsxReader, ReadsAllKindsOfCells) {
  const TempFolder folder;
  const std::string path = workbook(
      folder,
      R"(<worksheet><sheetData><row><c r="A1" t="s"><v>1</v></c><c r="C1"><v>1.5</v></c></row>)"
      R"(<row><c t="b"><v>1</v></c><c t="inlineStr"><is><t>a&lt;b</t></is></c></row></sheetData>)"
      "</worksheet>",
      "<sst><si><t>x</t></si><si><r><t>two</t></r><r><t> runs</t></r></si></sst>");
  std::vector<XlsxRow> rows;
  const Status status = read_xlsx(path, [&](const XlsxRow& row) -> Status {
    rows.push_back(row);
    return Unit{};
  });
  ASSERT_TRUE(status) << status.error().to_string();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][0].text, "two runs");
  EXPECT_EQ(rows[0][1].kind, XlsxCell::Kind::blank);
  EXPECT_EQ(rows[0][2].kind, XlsxCell::Kind::number);
  EXPECT_EQ(rows[1][0].kind, XlsxCell::Kind::boolean);
  EXPECT_EQ(rows[1][1].text, "a<b");
}

TEST(XlsxReader, RefusesBrokenWorkbooks) {
  const TempFolder folder;
  const auto ignore = [](const XlsxRow&) -> Status { return Unit{}; };
  EXPECT_FALSE(read_xlsx(folder.file("n.xlsx", "no zip"), ignore));
  EXPECT_FALSE(read_xlsx(workbook(folder, "<worksheet><row>", "<sst/>"), ignore));
  EXPECT_FALSE(
      read_xlsx(workbook(folder, R"(<w><row><c t="s"><v>9</v></c></row></w>)", "<sst/>"), ignore));
  EXPECT_FALSE(read_xlsx(
      workbook(folder, R"(<w><row><c r="ZZZ1"><v>9</v></c></row></w>)", "<sst/>"), ignore));
}

}  // namespace opdrift::io
