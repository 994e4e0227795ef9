#include "opdrift/io/hdf5_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "unit/io/io_testing.hpp"

namespace opdrift::io {
namespace {

using tensor::DType;
using testing::bytes_of;
using testing::content_of;
using testing::corpus_file;
using testing::elements_of;
using ::testing::HasSubstr;
using testing::text_of;

// The files in the corpus were written by h5py 3.7.

const FileTensor* find(const FileDump& dump, std::string_view name) {
  for (const FileTensor& one : dump.tensors) {
    if (one.name == name) {
      return &one;
    }
  }
  return nullptr;
}

TEST(Hdf5, DumpOfTheTorchAdapterIsMapped) {
  for (const char* name : {"hdf5/torch.h5", "hdf5/latest.h5"}) {
    const Result<FileDump> dump = open_hdf5(corpus_file(name));
    ASSERT_TRUE(dump) << name << dump.error().to_string();
    ASSERT_EQ(dump->tensors.size(), 1U);
    const FileTensor& one = dump->tensors[0];
    EXPECT_EQ(one.name, "/Add/7/input/x");
    EXPECT_EQ(one.role, TensorRole::input);
    EXPECT_EQ(one.desc.dtype, DType::f32);
    EXPECT_EQ(one.desc.strides, std::vector<std::int64_t>{1});
    EXPECT_EQ(attribute_number(one, "Type"), 0);
    EXPECT_EQ(attribute_number(one, "DeviceType"), 1);
    EXPECT_EQ(attribute_number(one, "FormatType"), std::nullopt);
    EXPECT_FALSE(one.loader);
    EXPECT_EQ(elements_of(one), text_of<float>({0, 1, 2, 3}));
  }
}

// int16 0 ... 59 as 6 x 10, chunks of 4 x 4, shuffled, deflated, with checksums.
TEST(Hdf5, ChunkedDataAreUnpacked) {
  const Result<FileDump> dump = open_hdf5(corpus_file("hdf5/chunked.h5"));
  ASSERT_TRUE(dump);
  std::vector<std::int16_t> expected(60);
  std::iota(expected.begin(), expected.end(), std::int16_t{0});
  EXPECT_EQ(dump->tensors[0].desc.shape, (tensor::Shape{6, 10}));
  EXPECT_EQ(elements_of(dump->tensors[0]), text_of(expected));
}

TEST(Hdf5, SingleChunkOfNewerLibrariesIsUnpacked) {
  const Result<FileDump> dump = open_hdf5(corpus_file("hdf5/single-chunk-latest.h5"));
  ASSERT_TRUE(dump);
  std::vector<float> expected(16);
  std::iota(expected.begin(), expected.end(), 0.0F);
  EXPECT_EQ(elements_of(dump->tensors[0]), text_of(expected));
}

TEST(Hdf5, ComplexBoolTextAndUnwrittenData) {
  const Result<FileDump> dump = open_hdf5(corpus_file("hdf5/complex-bool-unwritten.h5"));
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->tensors.size(), 4U);
  EXPECT_EQ(find(*dump, "/z")->desc.dtype, DType::c64);
  EXPECT_EQ(find(*dump, "/b")->desc.dtype, DType::boolean);
  EXPECT_EQ(elements_of(*find(*dump, "/b")), "\1\1");
  EXPECT_EQ(elements_of(*find(*dump, "/u")), std::string(32, '\0'));
  EXPECT_EQ(find(*dump, "/s")->problem->code, ErrorCode::unsupported_dtype);
}

TEST(Hdf5, LinksThatLeadBackOrOutAreNotFollowed) {
  const Result<FileDump> dump = open_hdf5(corpus_file("hdf5/link-loop.h5"));
  ASSERT_TRUE(dump);
  EXPECT_TRUE(dump->tensors.empty());
  EXPECT_EQ(dump->warnings.size(), 2U);
}

TEST(Hdf5, CutAtEveryByteDoesNoHarm) {
  const std::string text = content_of(corpus_file("hdf5/torch.h5"));
  for (std::size_t size = 0; size < text.size(); size += 7) {
    const Result<FileDump> dump = parse_hdf5(bytes_of(text.substr(0, size)), "a.h5");
    if (dump && !dump->tensors.empty()) {
      EXPECT_TRUE(elements_of(dump->tensors[0]).starts_with("error: ")) << size;
    }
  }
}

TEST(Hdf5, BytesTurnedOverDoNoHarm) {
  for (const char* name : {"hdf5/torch.h5", "hdf5/latest.h5", "hdf5/chunked.h5"}) {
    const std::string text = content_of(corpus_file(name));
    for (std::size_t i = 0; i < text.size(); i += 3) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(~damaged[i]);
      const Result<FileDump> dump = parse_hdf5(bytes_of(damaged), "a.h5");
      for (std::size_t k = 0; dump && k < dump->tensors.size(); ++k) {
        if (dump->tensors[k].size_bytes < (1 << 20)) {
          elements_of(dump->tensors[k]);
        }
      }
    }
  }
}

TEST(Hdf5, TreeThatLeadsBackToItselfIsAnError) {
  EXPECT_FALSE(open_hdf5(corpus_file("hdf5/tree-loop.h5")));
}

TEST(Hdf5, OtherFilesAreRefused) {
  EXPECT_EQ(parse_hdf5(bytes_of("not HDF5"), "a.h5").error().code, ErrorCode::malformed);
  EXPECT_EQ(parse_hdf5(bytes_of(""), "a.h5").error().path, "a.h5");
  EXPECT_FALSE(open_hdf5(corpus_file("hdf5/signature-only.h5")));
}

TEST(TorchTensorName, PartsOfAPath) {
  const auto name = parse_torch_tensor_name("/Add/7/input/list/0");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->op, "Add");
  EXPECT_EQ(name->order, 7U);
  EXPECT_EQ(name->role, TensorRole::input);
  EXPECT_EQ(name->name, "list/0");
  for (const char* text :
       {"", "/Add", "/Add/x/input/y", "/Add/7/inout/y", "Add/7/input/y", "/Add/7/input"}) {
    EXPECT_FALSE(parse_torch_tensor_name(text)) << text;
  }
}

// Strides (1, 3) of a 3 x 4 tensor: stored column by column. Values listed with h5py.
TEST(Hdf5, StridesOfProcessorTensorsAreApplied) {
  const std::string path = testing::shared_folder() + "/fixtures/ascend-dump/h01_hdf5/in/gpu.h5";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "no file " << path;
  }
  const Result<FileDump> dump = open_hdf5(path);
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->tensors.size(), 9U);
  const FileTensor* result = find(*dump, "/CudnnConvolutionBackward/4/output/result");
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->desc.strides, (std::vector<std::int64_t>{1, 3}));
  const std::string stored(as_text(result->bytes.span));
  EXPECT_EQ(elements_of(*result).substr(4, 4), stored.substr(12, 4));
}

}  // namespace
}  // namespace opdrift::io
