#include "opdrift/pipeline/convert/convert.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "unit/pipeline/dump_folders.hpp"

#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/ascend/writer.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/pipeline/convert/tensor_output.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {
namespace {

using tensor::DType;
using tensor::Format;

constexpr const char* kName = "Op.op_a.1.2.1614717262233160";

/// Dumps go into `in`, results into `out`.
class Convert : public ::testing::Test {
 protected:
  Convert() : in_(folder_.sub("in")), out_(folder_.sub("out")) { options_.output_folder = out_; }

  io::AscendTensor output(DType dtype, const tensor::Shape& shape, ByteSpan bytes) const {
    io::AscendTensor source;
    source.desc.dtype = dtype;
    source.desc.shape = shape;
    source.bytes = bytes;
    return source;
  }
  std::string dump(const std::string& name, const std::vector<io::AscendTensor>& tensors) const {
    io::AscendContent content;
    content.op_name = "net/op_b";
    content.tensors = tensors;
    const std::string path = in_ + "/" + name;
    EXPECT_TRUE(io::write_ascend_dump(path, content));
    return path;
  }
  io::FileTensor written(const std::string& name) const {
    return io::open_npy(out_ + "/" + name).value().tensors.front();
  }

  TestFolder folder_;
  std::string in_;
  std::string out_;
  ConvertOptions options_;
};

TEST_F(Convert, KeepsGoingPastATensorThatCannotBeDecoded) {
  const std::vector<std::byte> data(8, std::byte{1});
  const std::string path =
      dump(kName, {output(DType::string, {8}, data), output(DType::f32, {2}, data)});
  const FileConversion conversion = convert_file(path, options_);
  EXPECT_FALSE(conversion.error);
  EXPECT_EQ(conversion.failures.size(), 1U);
  EXPECT_EQ(conversion.written, (std::vector<std::string>{std::string(kName) + ".output.1.npy"}));
}

TEST_F(Convert, RefusesTheWholeFileLikeTheReference) {
  const std::vector<std::byte> data(8, std::byte{1});
  options_.reference = true;
  const FileConversion conversion = convert_file(
      dump(kName, {output(DType::e8m0, {8}, data), output(DType::f32, {2}, data)}), options_);
  ASSERT_TRUE(conversion.error);
  EXPECT_EQ(conversion.error->code, ErrorCode::unsupported_dtype);
  EXPECT_TRUE(conversion.written.empty());
}

// One byte 0x21 as uint4 is 1, 2 (low half first); e8m0 0x7f is 2^0.
TEST_F(Convert, DecodesTypesTheReferenceDoesNotKnow) {
  const std::vector<std::byte> nibbles = {std::byte{0x21}};
  const std::vector<std::byte> scales = {std::byte{0x7F}, std::byte{0x80}};
  convert_file(dump(kName, {output(DType::i4, {2}, nibbles), output(DType::e8m0, {2}, scales)}),
               options_);
  const io::FileTensor first = written(std::string(kName) + ".output.0.npy");
  EXPECT_EQ(first.desc.dtype, DType::i8);
  EXPECT_EQ(as_text(first.bytes.span), std::string("\x01\x02"));
  const io::FileTensor second = written(std::string(kName) + ".output.1.npy");
  EXPECT_EQ(second.desc.dtype, DType::f64);
  double value = 0.0;
  std::memcpy(&value, second.bytes.span.data() + 8, 8);
  EXPECT_EQ(value, 2.0);
}

TEST_F(Convert, MakesFilesOnlyTheUserCanRead) {
  const std::vector<std::byte> data(8, std::byte{1});
  convert_file(dump(kName, {output(DType::f32, {2}, data)}), options_);
  struct stat info {};
  ASSERT_EQ(::stat((out_ + "/" + kName + ".output.0.npy").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(Convert, ReplacesLinksInsteadOfWritingThroughThem) {
  const std::vector<std::byte> data(8, std::byte{1});
  const std::string target = folder_.file("precious", "keep");
  const std::string link = out_ + "/" + kName + ".output.0.npy";
  std::filesystem::create_symlink(target, link);
  convert_file(dump(kName, {output(DType::f32, {2}, data)}), options_);
  EXPECT_FALSE(std::filesystem::is_symlink(link));
  EXPECT_EQ(std::filesystem::file_size(target), 4U);
}

TEST_F(Convert, ShortensNamesTheFileSystemRefuses) {
  const std::vector<std::byte> data(4, std::byte{1});
  const std::string name = "Op." + std::string(220, 'x') + ".1.2.1614717262233160";
  const FileConversion conversion =
      convert_file(dump(name, {output(DType::f32, {1}, data)}), options_);
  ASSERT_EQ(conversion.written.size(), 1U);
  const io::NameMapping mapping = io::read_name_mapping(out_).value();
  EXPECT_EQ(mapping.lookup(conversion.written[0]), name + ".output.0.npy");
}

/// FRACTAL_NZ of (3 * 16 rows, 2 * 16 columns), element = its stored position.
TEST_F(Convert, UnfoldsFractalNzOnAnyNumberOfThreads) {
  constexpr std::uint64_t kColumnBlocks = 128;
  constexpr std::uint64_t kRowBlocks = 80;
  std::vector<std::uint32_t> values(kColumnBlocks * kRowBlocks * 256);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint32_t>(i);
  }
  io::AscendTensor source = output(DType::u32, {kColumnBlocks, kRowBlocks, 16, 16},
                                   std::as_bytes(std::span<const std::uint32_t>(values)));
  source.desc.format = Format::fractal_nz;
  source.desc.original_shape = {kRowBlocks * 16 - 3, kColumnBlocks * 16 - 5};
  const std::string path = dump(kName, {source});
  options_.format = Format::nd;
  for (const std::size_t threads : {1U, 3U}) {
    options_.threads = threads;
    const FileConversion conversion = convert_file(path, options_);
    ASSERT_EQ(conversion.written.size(), 1U);
    const io::FileTensor array = written(conversion.written[0]);
    ASSERT_EQ(array.desc.shape, source.desc.original_shape);
    const std::uint64_t columns = source.desc.original_shape[1];
    for (std::uint64_t i = 0; i < array.desc.shape[0] * columns; i += 997) {
      const std::uint64_t row = i / columns;
      const std::uint64_t column = i % columns;
      std::uint32_t value = 0;
      std::memcpy(&value, array.bytes.span.data() + 4 * i, 4);
      ASSERT_EQ(value, ((column / 16 * kRowBlocks * 16) + row) * 16 + column % 16) << i;
    }
  }
}

TEST_F(Convert, ListsFailedFilesInOrder) {
  const std::vector<std::byte> data(8, std::byte{1});
  const std::string good = dump("A.a.1.2.1614717262233160", {output(DType::f32, {2}, data)});
  const std::string bad = folder_.file("in/B.b.1.2.1614717262233160", std::string(20, '\xff'));
  const std::string none = folder_.file("in/C.c.1.2.1614717262233160", "");
  std::size_t told = 0;
  options_.jobs = 2;
  options_.progress = [&told](std::size_t done, std::size_t) { told = done; };
  const std::vector<std::string> paths = files_to_convert(in_).value();
  ASSERT_EQ(paths, (std::vector<std::string>{good, bad, none}));
  const std::vector<FileConversion> conversions = convert_files(paths, options_);
  ASSERT_TRUE(append_failed_list(out_, conversions, false));
  EXPECT_EQ(told, 3U);
  EXPECT_EQ(as_text(map_file(out_ + "/" + std::string(kFailedListName)).value().span),
            bad + "\n" + none + "\n");
}

TEST_F(Convert, ReadsHashedNpyFilesByTheirContent) {
  const std::vector<std::byte> data(8, std::byte{1});
  convert_file(dump(kName, {output(DType::f32, {2}, data)}), options_);
  const std::string hashed = in_ + "/1234567890";
  std::filesystem::rename(out_ + "/" + kName + ".output.0.npy", hashed);
  EXPECT_EQ(open_for_convert(hashed, true).value().format, "npy");
}

/// A transposed matrix of 4096 x 2048 numbers, element = its stored position.
OutputArray large_transposed() {
  constexpr std::uint64_t kRows = 4096;
  constexpr std::uint64_t kColumns = 2048;
  std::vector<std::byte> bytes(kRows * kColumns * 4);
  for (std::uint32_t i = 0; i < kRows * kColumns; ++i) {
    std::memcpy(bytes.data() + std::uint64_t{4} * i, &i, 4);
  }
  tensor::Tensor matrix;
  matrix.desc.dtype = DType::u32;
  matrix.desc.shape = {kColumns, kRows};
  matrix.desc.strides = {1, kColumns};
  matrix.bytes = own_bytes(std::move(bytes));
  return output_array(tensor::stored_view(matrix).value());
}

TEST(StreamElements, DeliversTheSameBytesOnAnyNumberOfThreads) {
  const OutputArray array = large_transposed();
  const auto streamed = [&array](std::size_t threads) {
    std::vector<std::byte> bytes;
    EXPECT_TRUE(stream_elements(
        array,
        [&bytes](ByteSpan block) {
          bytes.insert(bytes.end(), block.begin(), block.end());
          return Status(Unit{});
        },
        threads));
    return bytes;
  };
  const std::vector<std::byte> one = streamed(1);
  EXPECT_EQ(one.size(), std::size_t{4096} * 2048 * 4);
  EXPECT_EQ(streamed(2), one);
  EXPECT_EQ(streamed(5), one);
}

TEST(StreamElements, StopsAtTheFirstErrorOfTheSink) {
  const OutputArray array = large_transposed();
  for (const std::size_t threads : {1U, 4U}) {
    std::size_t calls = 0;
    const Status status = stream_elements(
        array,
        [&calls](ByteSpan) {
          ++calls;
          return calls < 3 ? Status(Unit{}) : Status(Error{ErrorCode::write_failed, "disk full"});
        },
        threads);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::write_failed);
    EXPECT_EQ(calls, 3U);
  }
}

TEST(OutputArray, WritesAnEmptyTensorAsFloat64) {
  tensor::TensorDesc desc;
  desc.dtype = DType::f16;
  desc.shape = {2, 0};
  EXPECT_EQ(empty_array(desc).dtype, DType::f64);
  desc.shape = {0};
  desc.has_shape = false;
  EXPECT_EQ(empty_array(desc).dtype, DType::f16);
}

}  // namespace
}  // namespace opdrift::pipeline
