#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/numpy/npy_header.hpp"
#include "opdrift/io/numpy/npz_reader.hpp"
#include "opdrift/io/numpy/npz_writer.hpp"

namespace opdrift::io {
namespace {

using tensor::DType;
using testing::corpus_file;
using testing::elements_of;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::text_of;
using testing::view_of;

TEST(Npz, EveryTypeAndRankReadsBackAsWritten) {
  const TempFolder folder;
  Result<NpzWriter> writer = NpzWriter::create(folder / "a.npz");
  ASSERT_TRUE(writer);
  std::vector<std::string> expected;
  for (const tensor::DTypeInfo& row : tensor::all_dtypes()) {
    tensor::Shape shape;
    for (std::size_t rank = 0; rank <= 8 && !row.npy_descr.empty(); ++rank) {
      const std::uint64_t count = tensor::element_count(shape).value();
      expected.emplace_back(count * row.bits / 8, static_cast<char>(rank));
      const std::string name = std::string(row.name) + "/" + std::to_string(rank);
      ASSERT_TRUE(writer->add(name, view_of(row.dtype, shape, expected.back())));
      shape.push_back(1 + rank % 2);
    }
  }
  ASSERT_TRUE(writer->finish());
  const Result<FileDump> dump = open_npz(folder / "a.npz");
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->tensors.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(elements_of(dump->tensors[i]), expected[i]) << dump->tensors[i].name;
    EXPECT_EQ(dump->tensors[i].index, i);
  }
  EXPECT_EQ(dump->tensors[0].name, "float64/0");
}

// Made by numpy 1.24.2: savez(a=[0 1 2 3] as float32, b=three int16 zeros).
TEST(Npz, ReadsWhatNumpyStores) {
  const Result<FileDump> dump = open_npz(corpus_file("zip/stored.npz"));
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->tensors.size(), 2U);
  EXPECT_EQ(dump->tensors[0].name, "a");
  EXPECT_EQ(elements_of(dump->tensors[0]), text_of<float>({0, 1, 2, 3}));
  EXPECT_EQ(elements_of(dump->tensors[1]), text_of<std::int16_t>({0, 0, 0}));
}

// savez_compressed(a=500 float32 zeros, s=2.0).
TEST(Npz, ReadsWhatNumpyDeflates) {
  const Result<FileDump> dump = open_npz(corpus_file("zip/deflated.npz"));
  ASSERT_TRUE(dump);
  EXPECT_EQ(elements_of(dump->tensors[0]), std::string(2000, '\0'));
  EXPECT_EQ(elements_of(dump->tensors[1]), text_of<double>({2.0}));
}

TEST(Npz, DuplicateNamesAreAmbiguous) {
  const Result<FileDump> dump = open_npz(corpus_file("zip/duplicate-names.npz"));
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->tensors.size(), 2U);
  EXPECT_EQ(dump->tensors[0].problem->code, ErrorCode::ambiguous);
  EXPECT_EQ(dump->tensors[1].problem->code, ErrorCode::ambiguous);
}

TEST(Npz, DamagedMemberDoesNotHideTheOthers) {
  const Result<FileDump> dump = open_npz(corpus_file("zip/bad-checksum.npz"));
  ASSERT_TRUE(dump);
  EXPECT_THAT(elements_of(dump->tensors[0]), HasSubstr("wrong checksum"));
  EXPECT_EQ(elements_of(dump->tensors[1]), text_of<std::int16_t>({0, 0, 0}));
}

TEST(Npz, MemberThatIsNoArrayIsItsOwnProblem) {
  const TempFolder folder;
  Result<ZipWriter> zip = ZipWriter::create(folder / "a.npz", ZipStyle::numpy);
  const std::string good = format_npy_header("|u1", false, {1}) + "x";
  ASSERT_TRUE(zip && zip->begin("bad.npy", 3) && zip->write("abc") && zip->end());
  ASSERT_TRUE(zip->begin("good.npy", good.size()) && zip->write(good) && zip->end());
  ASSERT_TRUE(zip->begin("readme", 1) && zip->write("r") && zip->end() && zip->finish());
  const Result<FileDump> dump = open_npz(folder / "a.npz");
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->tensors.size(), 2U);
  EXPECT_EQ(dump->tensors[0].problem->code, ErrorCode::malformed);
  EXPECT_EQ(dump->tensors[0].problem->path, folder / "a.npz");
  EXPECT_EQ(elements_of(dump->tensors[1]), "x");
  EXPECT_EQ(dump->warnings.size(), 1U);
}

TEST(Npz, NamesAreOnlyNames) {
  const Result<FileDump> dump = open_npz(corpus_file("zip/bomb-and-traversal-name.npz"));
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->tensors[0].name, "../../etc/x");
  EXPECT_TRUE(dump->tensors[0].problem);
}

TEST(Npz, NameThatIsNotUtf8IsMadePrintable) {
  const TempFolder folder;
  Result<ZipWriter> zip = ZipWriter::create(folder / "a.npz", ZipStyle::numpy);
  const std::string array = format_npy_header("|u1", false, {0});
  ASSERT_TRUE(zip->begin("\xFF.npy", array.size()) && zip->write(array) && zip->end() &&
              zip->finish());
  EXPECT_EQ(open_npz(folder / "a.npz")->tensors[0].name, "\\xff");
}

TEST(NpzWriter, NameUsedBeforeIsRefused) {
  const TempFolder folder;
  Result<NpzWriter> writer = NpzWriter::create(folder / "a.npz");
  ASSERT_TRUE(writer->add("a", view_of(DType::u8, {1}, "x")));
  EXPECT_EQ(writer->add("a", view_of(DType::u8, {1}, "x")).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace opdrift::io
