#include "opdrift/io/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/numpy/npy_header.hpp"

namespace opdrift::io {
namespace {

using testing::content_of;
using testing::corpus_file;
using testing::TempFolder;

std::string reader_of(const std::string& path) {
  const Result<const Reader*> reader = find_reader(path);
  return reader ? std::string((*reader)->name) : "error: " + reader.error().to_string();
}

TEST(Registry, NamesAreUniqueAndRowsComplete) {
  std::set<std::string_view> names;
  for (const Reader& reader : readers()) {
    EXPECT_TRUE(names.insert(reader.name).second) << reader.name;
    EXPECT_FALSE(reader.summary.empty());
    EXPECT_TRUE(reader.example.starts_with("opdrift info ")) << reader.name;
  }
}

TEST(Registry, ContentBeatsTheName) {
  const TempFolder folder;
  const std::string npy = format_npy_header("<f4", false, {0});
  EXPECT_EQ(reader_of(folder.file("1234567890", npy)), "npy");
  EXPECT_EQ(reader_of(folder.file("a.bin", npy)), "npy");
  EXPECT_EQ(reader_of(folder.file("b.npy", content_of(corpus_file("zip/stored.npz")))), "npz");
  EXPECT_EQ(reader_of(folder.file("c", content_of(corpus_file("hdf5/torch.h5")))), "hdf5");
  EXPECT_EQ(reader_of(folder.file("d", content_of(corpus_file("safetensors/two.safetensors")))),
            "safetensors");
  EXPECT_EQ(reader_of(folder.file("e.pt", content_of(corpus_file("zip/torch.pt")))), "torch");
}

TEST(Registry, NameDecidesWhereBytesHaveNoMark) {
  const TempFolder folder;
  EXPECT_EQ(reader_of(folder.file("a.npy", "broken")), "npy");
  EXPECT_EQ(reader_of(folder.file("a.txt", "1 2 3")), "text");
  EXPECT_EQ(reader_of(folder.file("a.bin", std::string(16, '\0'))), "raw");
  EXPECT_EQ(reader_of(folder.file("a.pb", content_of(corpus_file("protobuf/raw.pb")))), "onnx");
  // int64 numbers 10, 10 look like an Ascend dump, but the name says otherwise.
  const std::string tens = testing::text_of<std::int64_t>({10, 10, 10});
  EXPECT_EQ(reader_of(folder.file("F.output.0.3.int64.ND.bin", tens)), "raw");
  EXPECT_EQ(reader_of(folder.file("Add.add.1.2.1614717262233160", "broken dump")), "ascend");
}

TEST(Registry, FilesOfTheCorpusAreFound) {
  EXPECT_EQ(reader_of(corpus_file("protobuf/c01_basic.ascend")), "ascend");
  EXPECT_EQ(reader_of(corpus_file("readers/a01_nano_basic-ncatv2_0_0_550288648")), "nano");
}

TEST(Registry, WhatNobodyTakesIsAnError) {
  const TempFolder folder;
  EXPECT_EQ(find_reader(folder / "none").error().code, ErrorCode::not_found);
  EXPECT_EQ(find_reader(folder.path()).error().code, ErrorCode::wrong_kind);
  EXPECT_EQ(find_reader(folder.file("empty", "")).error().code, ErrorCode::unsupported);
  EXPECT_EQ(find_reader(folder.file("文件", "hello, world")).error().code, ErrorCode::unsupported);
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(find_reader(folder / "fifo").error().code, ErrorCode::wrong_kind);
}

TEST(Registry, OpenFileFindsAndOpens) {
  const Result<FileDump> dump = open_file(corpus_file("npy_header/f4.npy"));
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->format, "npy");
  EXPECT_EQ(dump->tensors[0].desc.shape, (tensor::Shape{3, 4}));
}

}  // namespace
}  // namespace opdrift::io
