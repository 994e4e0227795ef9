#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::io {
namespace {

using tensor::DType;
using testing::bytes_of;
using testing::content_of;
using testing::elements_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::little_endian;
using testing::TempFolder;
using testing::text_of;
using testing::view_of;

std::string npy(std::string_view descr, bool fortran, const tensor::Shape& shape,
                std::string_view data) {
  return format_npy_header(descr, fortran, shape) + std::string(data);
}

/// Bytes 0, 1, 2 ... of the needed length.
std::string counting(std::uint64_t size) {
  std::string text;
  for (std::uint64_t i = 0; i < size; ++i) {
    text += static_cast<char>(static_cast<unsigned char>(i & 0xFF));
  }
  return text;
}

TEST(Npy, EveryTypeAndRankReadsBackAsWritten) {
  const TempFolder folder;
  for (const tensor::DTypeInfo& row : tensor::all_dtypes()) {
    if (row.npy_descr.empty() || row.dtype == DType::undefined || row.dtype == DType::resource) {
      continue;
    }
    tensor::Shape shape;
    for (std::size_t rank = 0; rank <= 8; ++rank) {
      const std::uint64_t count = tensor::element_count(shape).value();
      const std::string data = counting(count * row.bits / 8);
      const std::string path = folder / "a.npy";
      ASSERT_TRUE(write_npy(path, view_of(row.dtype, shape, data))) << row.name << rank;
      const Result<FileDump> dump = open_npy(path);
      ASSERT_TRUE(dump) << row.name << rank;
      ASSERT_EQ(dump->tensors.size(), 1U);
      EXPECT_EQ(dump->tensors[0].desc.dtype, row.dtype);
      EXPECT_EQ(dump->tensors[0].desc.shape, shape);
      EXPECT_EQ(dump->tensors[0].size_bytes, data.size());
      EXPECT_EQ(elements_of(dump->tensors[0]), data);
      EXPECT_THAT(dump->warnings, IsEmpty());
      shape.push_back(1 + rank % 3);
    }
  }
}

TEST(Npy, ExtensionTypesGoThroughRawBytesWhenAsked) {
  const TempFolder folder;
  const std::string data = text_of<std::uint16_t>({0x3F80, 0xC000});
  const tensor::View view = view_of(DType::bf16, {2}, data);
  EXPECT_EQ(write_npy(folder / "a.npy", view).error().code, ErrorCode::unsupported_dtype);
  EXPECT_THAT(folder.names(), IsEmpty());
  ASSERT_TRUE(write_npy(folder / "x.bf16.npy", view, {.raw_extension_types = true}));
  const Result<FileDump> dump = open_npy(folder / "x.bf16.npy");
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->tensors[0].desc.dtype, DType::bf16);
  EXPECT_EQ(elements_of(dump->tensors[0]), data);
}

TEST(Npy, RawElementsAreReadAsTheNameSays) {
  const TempFolder folder;
  const auto dtype_of = [&](std::string_view name, std::string_view descr) {
    return open_npy(folder.file(name, npy(descr, false, {0}, "")))->tensors[0].desc.dtype;
  };
  EXPECT_EQ(dtype_of("op.0.1.BFloat16.npy", "|V2"), DType::bf16);
  EXPECT_EQ(dtype_of("op_e5m2.npy", "|V1"), DType::e5m2);
  EXPECT_EQ(dtype_of("op-float8_e4m3fn.npy", "<V1"), DType::e4m3fn);
  EXPECT_EQ(dtype_of("xbf16x.npy", "|V2"), DType::raw);
  EXPECT_EQ(dtype_of("e5m2_to_e4m3.npy", "|V1"), DType::raw);
  EXPECT_EQ(dtype_of("bf16.npy", "<f2"), DType::f16);
  EXPECT_EQ(dtype_of("bf16.npy", "|V1"), DType::raw);
}

TEST(Npy, HalfIsReadAsBfloat16WhenToldOnly) {
  const TempFolder folder;
  const std::string path = folder.file("a.npy", npy("<f2", false, {1}, "\x80\x3F"));
  EXPECT_EQ(open_npy(path)->tensors[0].desc.dtype, DType::f16);
  EXPECT_EQ(open_npy(path, {.dtype = DType::bf16})->tensors[0].desc.dtype, DType::bf16);
  folder.file("a.npy.json", R"({"dtype": "bfloat16"})");
  EXPECT_EQ(open_npy(path)->tensors[0].desc.dtype, DType::bf16);
  folder.file("a.npy.json", R"({"dtype": "float32"})");
  const Result<FileDump> wrong_size = open_npy(path);
  EXPECT_EQ(wrong_size->tensors[0].desc.dtype, DType::f16);
  EXPECT_EQ(wrong_size->warnings.size(), 1U);
}

// Columns of [[0 1 2] [3 4 5]] one after the other: 0 3 1 4 2 5.
TEST(Npy, FortranOrderIsReadInLogicalOrder) {
  const TempFolder folder;
  const std::string path =
      folder.file("f.npy", npy("<i2", true, {2, 3}, text_of<std::int16_t>({0, 3, 1, 4, 2, 5})));
  const Result<FileDump> dump = open_npy(path);
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->tensors[0].desc.strides, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(elements_of(dump->tensors[0]), text_of<std::int16_t>({0, 1, 2, 3, 4, 5}));
}

TEST(Npy, BigEndianElementsAreSwapped) {
  const TempFolder folder;
  const Result<FileDump> dump =
      open_npy(folder.file("b.npy", npy(">i4", false, {2}, std::string("\0\0\0\1\0\0\1\0", 8))));
  ASSERT_TRUE(dump);
  EXPECT_TRUE(dump->tensors[0].desc.big_endian);
  EXPECT_EQ(elements_of(dump->tensors[0]), text_of<std::int32_t>({1, 256}));
}

TEST(Npy, DataThatEndEarlyAreTheTensorsProblem) {
  const TempFolder folder;
  const Result<FileDump> dump = open_npy(folder.file("a.npy", npy("<f4", false, {4}, "123456789")));
  ASSERT_TRUE(dump);
  ASSERT_TRUE(dump->tensors[0].problem);
  EXPECT_EQ(dump->tensors[0].problem->code, ErrorCode::truncated);
  EXPECT_EQ(dump->tensors[0].problem->path, folder / "a.npy");
  EXPECT_EQ(dump->tensors[0].problem->offset, 128U);
}

TEST(Npy, ShapeOf2To60NeedsNoMemory) {
  const TempFolder folder;
  const Result<FileDump> dump =
      open_npy(folder.file("a.npy", npy("<f8", false, {std::uint64_t{1} << 60}, "12345678")));
  ASSERT_TRUE(dump);
  EXPECT_EQ(load_tensor(dump->tensors[0]).error().code, ErrorCode::truncated);
}

TEST(Npy, SurplusBytesAreAWarning) {
  const TempFolder folder;
  const Result<FileDump> dump = open_npy(folder.file("a.npy", npy("|u1", false, {2}, "abcd")));
  ASSERT_TRUE(dump);
  EXPECT_EQ(elements_of(dump->tensors[0]), "ab");
  EXPECT_EQ(dump->warnings.size(), 1U);
}

TEST(Npy, ObjectArraysAreRefusedByName) {
  const Result<FileDump> dump = open_npy(testing::corpus_file("npy_header/objects.npy"));
  ASSERT_TRUE(dump);
  ASSERT_TRUE(dump->tensors[0].problem);
  EXPECT_EQ(dump->tensors[0].problem->code, ErrorCode::unsupported_dtype);
  EXPECT_THAT(dump->tensors[0].problem->message, HasSubstr("pickled Python objects"));
}

TEST(Npy, WhatIsNoFileIsNamed) {
  const TempFolder folder;
  EXPECT_EQ(open_npy(folder / "none.npy").error().code, ErrorCode::not_found);
  EXPECT_EQ(open_npy(folder.path()).error().code, ErrorCode::wrong_kind);
  ASSERT_EQ(::mkfifo((folder / "fifo.npy").c_str(), 0600), 0);
  EXPECT_EQ(open_npy(folder / "fifo.npy").error().code, ErrorCode::wrong_kind);
  std::filesystem::create_symlink("loop.npy", folder / "loop.npy");
  EXPECT_EQ(open_npy(folder / "loop.npy").error().code, ErrorCode::not_found);
  EXPECT_EQ(open_npy(folder.file("empty.npy", "")).error().code, ErrorCode::malformed);
}

TEST(Npy, UnreadableFileIsAPermissionError) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  const TempFolder folder;
  const std::string path = folder.file("a.npy", npy("<f4", false, {0}, ""));
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  EXPECT_EQ(open_npy(path).error().code, ErrorCode::permission);
}

TEST(NpyWriter, WritesInBlocksAndChecksTheirSum) {
  const TempFolder folder;
  Result<NpyWriter> writer = NpyWriter::create(folder / "张量.npy", DType::i16, {2, 2});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->write(as_bytes("abc")));
  EXPECT_EQ(writer->finish().error().code, ErrorCode::mismatch);
  ASSERT_TRUE(writer->write(as_bytes("defgh")));
  EXPECT_EQ(writer->write(as_bytes("i")).error().code, ErrorCode::mismatch);
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(content_of(folder / "张量.npy"), npy("<i2", false, {2, 2}, "abcdefgh"));
}

TEST(NpyWriter, FortranFlagIsForTwoAxesAndMore) {
  const TempFolder folder;
  const auto header_of = [&](const tensor::Shape& shape) {
    NpyWriter writer =
        std::move(NpyWriter::create(folder / "a.npy", DType::u8, shape, {.fortran_order = true}))
            .value();
    EXPECT_TRUE(writer.write(as_bytes("abcd")) && writer.finish());
    return content_of(folder / "a.npy");
  };
  EXPECT_EQ(header_of({2, 2}), npy("|u1", true, {2, 2}, "abcd"));
  EXPECT_EQ(header_of({4}), npy("|u1", false, {4}, "abcd"));
}

// The arrays kept beside the repository were written by the reference tool through NumPy.
TEST(NpyWriter, CopiesReferenceFilesByteForByte) {
  const std::string root = testing::shared_folder() + "/fixtures/ascend-dump";
  if (!std::filesystem::exists(root)) {
    GTEST_SKIP() << "no folder " << root;
  }
  const TempFolder folder;
  std::size_t copied = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".npy" || !entry.is_regular_file()) {
      continue;
    }
    const std::string path = entry.path().string();
    const Result<FileDump> dump = open_npy(path);
    if (!dump || dump->tensors[0].problem || dump->tensors[0].desc.big_endian ||
        !dump->tensors[0].desc.strides.empty()) {
      continue;
    }
    const tensor::Tensor loaded = load_tensor(dump->tensors[0]).value();
    ASSERT_TRUE(write_npy(folder / "copy.npy", tensor::stored_view(loaded).value())) << path;
    EXPECT_EQ(content_of(folder / "copy.npy"), content_of(path)) << path;
    ++copied;
  }
  EXPECT_GT(copied, 100U);
}

}  // namespace
}  // namespace opdrift::io
