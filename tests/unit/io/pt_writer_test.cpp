#include "opdrift/io/torch/pt_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/torch/torch_reader.hpp"

namespace opdrift::io {
namespace {

using tensor::DType;
using testing::content_of;
using testing::elements_of;
using ::testing::IsEmpty;
using testing::TempFolder;
using testing::view_of;

// The files beside the repository were written by torch.save.
TEST(PtWriter, WritesWhatTorchWritesByteForByte) {
  const std::string root = testing::shared_folder() + "/fixtures/ascend-dump/p01_pt/expected/pt";
  if (!std::filesystem::exists(root)) {
    GTEST_SKIP() << "no folder " << root;
  }
  const TempFolder folder;
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    const Result<FileDump> dump = open_torch(entry.path().string());
    ASSERT_TRUE(dump) << entry.path();
    const tensor::Tensor loaded = load_tensor(dump->tensors[0]).value();
    const std::string copy = folder / entry.path().filename().string();
    ASSERT_TRUE(write_pt(copy, tensor::stored_view(loaded).value()));
    EXPECT_EQ(content_of(copy), content_of(entry.path().string())) << entry.path();
    ++compared;
  }
  EXPECT_EQ(compared, 8U);
}

TEST(PtWriter, EveryTypeAndRankReadsBackAsWritten) {
  const TempFolder folder;
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16,
        DType::i8, DType::u8, DType::boolean, DType::c64, DType::c128}) {
    tensor::Shape shape;
    for (std::size_t rank = 0; rank <= 8; ++rank) {
      const std::uint64_t count = tensor::element_count(shape).value();
      const std::string data(count * tensor::info(dtype).bits / 8, static_cast<char>(rank % 2));
      ASSERT_TRUE(write_pt(folder / "a.b.pt", view_of(dtype, shape, data)));
      const Result<FileDump> dump = open_torch(folder / "a.b.pt");
      ASSERT_TRUE(dump) << tensor::name_of(dtype) << rank << dump.error().to_string();
      EXPECT_EQ(dump->tensors[0].desc.dtype, dtype);
      EXPECT_EQ(dump->tensors[0].desc.shape, shape);
      EXPECT_EQ(elements_of(dump->tensors[0]), data);
      shape.push_back(rank == 4 ? 300 : 1 + rank % 2);
    }
  }
}

TEST(PtWriter, TypesThatTorchLacksAreRefusedBeforeAFileIsMade) {
  const TempFolder folder;
  for (const DType dtype :
       {DType::u16, DType::u32, DType::u64, DType::e5m2, DType::i4, DType::string, DType::raw}) {
    EXPECT_EQ(PtWriter::create(folder / "a.pt", dtype, {1}).error().code,
              ErrorCode::unsupported_dtype);
  }
  EXPECT_THAT(folder.names(), IsEmpty());
}

// LONG1 with the fewest bytes: 0x80000000 needs a fifth, zero one for the sign (pickletools).
TEST(PtWriter, CountsOf2To31UseAFiveByteNumber) {
  const TempFolder folder;
  Result<PtWriter> writer = PtWriter::create(folder / "a.pt", DType::u8, {0, 0x80000000});
  ASSERT_TRUE(writer && writer->finish());
  const std::string content = content_of(folder / "a.pt");
  EXPECT_NE(content.find(std::string("\x8A\x05\x00\x00\x00\x80\x00", 7)), std::string::npos);
}

}  // namespace
}  // namespace opdrift::io
