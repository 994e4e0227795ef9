#include "opdrift/io/torch/torch_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/archive/deflate_archive.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/io/torch/torch_pickle.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::io {

namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

/// Writes pickles by hand, in the order torch does.
class Pickle {
 public:
  Pickle() { out_ = std::string("\x80\x02", 2); }
  Pickle& op(std::string_view bytes) {
    out_ += bytes;
    return *this;
  }
  Pickle& global(std::string_view module, std::string_view name) {
    return op("c").op(module).op("\n").op(name).op("\n");
  }
  Pickle& text(std::string_view value) {
    const auto size = static_cast<std::uint32_t>(value.size());
    std::string length(4, '\0');
    std::memcpy(length.data(), &size, 4);
    return op("X").op(length).op(value);
  }
  Pickle& number(unsigned value) { return op("K").op(std::string(1, static_cast<char>(value))); }
  Pickle& tuple(const std::vector<unsigned>& values) {
    op("(");
    for (const unsigned value : values) {
      number(value);
    }
    return op("t");
  }
  Pickle& storage(std::string_view type, unsigned count) {
    return op("(")
        .text("storage")
        .global("torch", type)
        .text("0")
        .text("cpu")
        .number(count)
        .op("tQ");
  }
  /// _rebuild_tensor_v2(storage, offset, size, stride, False, OrderedDict())
  Pickle& tensor(std::string_view type, unsigned count, unsigned offset,
                 const std::vector<unsigned>& size, const std::vector<unsigned>& stride) {
    global("torch._utils", "_rebuild_tensor_v2").op("(").storage(type, count).number(offset);
    tuple(size).tuple(stride).op("\x89").global("collections", "OrderedDict").op(")R");
    return op("tR");
  }
  std::string stop() { return out_ + "."; }

 private:
  std::string out_;
};

/// A deflated archive, which torch does not write but people make.
std::string write_pt(const TempFolder& folder, const std::string& pickle,
                     const std::string& storage,
                     const std::vector<std::pair<std::string, std::string>>& more = {}) {
  const std::string path = folder / "t.pt";
  auto archive = DeflateArchive::create(path);
  EXPECT_TRUE(archive);
  EXPECT_TRUE(archive->member("top/data.pkl", pickle));
  EXPECT_TRUE(archive->member("top/data/0", storage));
  for (const auto& [name, content] : more) {
    EXPECT_TRUE(archive->member(name, content));
  }
  EXPECT_TRUE(archive->finish());
  return path;
}

std::string floats(const std::vector<float>& values) {
  std::string bytes(values.size() * 4, '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> values_of(const FileDump& dump) {
  const auto tensor = load_tensor(dump.tensors.front());
  EXPECT_TRUE(tensor);
  const auto view = tensor::stored_view(*tensor);
  EXPECT_TRUE(view);
  std::vector<float> values(static_cast<std::size_t>(view->count()));
  tensor::gather(*view, 0, view->count(), reinterpret_cast<std::byte*>(values.data()));
  return values;
}

fs::path shared_pt() {
  const char* set = std::getenv("OPDRIFT_SHARED");
  const fs::path shared =
      set != nullptr ? fs::path(set) : fs::path(OPDRIFT_SOURCE_DIR "/../shared");
  return shared / "fixtures" / "msprobe" / "pt_reader";
}

std::string all_bytes(const FileDump& dump) {
  const auto tensor = load_tensor(dump.tensors.front());
  const auto view = tensor ? tensor::stored_view(*tensor) : Result<tensor::View>(tensor.error());
  if (!view) {
    return "unreadable: " + view.error().to_string();
  }
  const unsigned bits = tensor::info(tensor->desc.dtype).bits;
  std::string bytes(static_cast<std::size_t>(view->count() * bits / 8), '\0');
  tensor::gather(*view, 0, view->count(), reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

}  // namespace

// Files and arrays written by torch 1.13 and NumPy; bfloat16 is stored as float32 there.
TEST(TorchReader, ReadsWhatTorchWrote) {
  if (!fs::exists(shared_pt())) {
    GTEST_SKIP() << "no recorded files in " << shared_pt();
  }
  std::size_t compared = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(shared_pt())) {
    const fs::path npy = fs::path(entry.path()).replace_extension(".npy");
    if (entry.path().extension() != ".pt" || !fs::exists(npy)) {
      continue;
    }
    const auto dump = open_torch(entry.path().string());
    ASSERT_TRUE(dump) << dump.error().to_string();
    const auto expected = open_npy(npy.string());
    ASSERT_TRUE(expected);
    EXPECT_EQ(dump->tensors[0].desc.shape, expected->tensors[0].desc.shape) << npy;
    if (dump->tensors[0].desc.dtype == tensor::DType::bf16) {
      continue;
    }
    EXPECT_EQ(dump->tensors[0].desc.dtype, expected->tensors[0].desc.dtype) << npy;
    EXPECT_EQ(all_bytes(*dump), all_bytes(*expected)) << npy;
    ++compared;
  }
  EXPECT_GE(compared, 20U);
}

TEST(TorchReader, RefusesAnythingButOneTensor) {
  if (!fs::exists(shared_pt())) {
    GTEST_SKIP() << "no recorded files in " << shared_pt();
  }
  for (const char* name : {"bad_list.pt", "bad_dict.pt", "bad_truncated.pt"}) {
    EXPECT_FALSE(open_torch((shared_pt() / name).string())) << name;
  }
  EXPECT_TRUE(open_torch((shared_pt() / "legacy.pt").string()));
}

TEST(TorchReader, ReadsDeflatedMembersAndViews) {
  const TempFolder folder;
  const std::string pickle = Pickle().tensor("FloatStorage", 6, 1, {2, 2}, {1, 2}).stop();
  const auto dump = open_torch(write_pt(folder, pickle, floats({0, 1, 2, 3, 4, 5})));
  ASSERT_TRUE(dump) << dump.error().to_string();
  // Element (i, j) lies at 1 + i + 2 j.
  EXPECT_EQ(values_of(*dump), (std::vector<float>{1, 3, 2, 4}));
}

TEST(TorchReader, ExpandedAxesRepeatTheirElement) {
  const TempFolder folder;
  const std::string pickle = Pickle().tensor("FloatStorage", 2, 0, {3, 2}, {0, 1}).stop();
  const auto dump = open_torch(write_pt(folder, pickle, floats({7, 8})));
  ASSERT_TRUE(dump);
  EXPECT_EQ(values_of(*dump), (std::vector<float>{7, 8, 7, 8, 7, 8}));
}

TEST(TorchReader, BigEndianFilesAreSwapped) {
  const TempFolder folder;
  const std::string pickle = Pickle().tensor("FloatStorage", 1, 0, {1}, {1}).stop();
  const std::string one("\x3f\x80\x00\x00", 4);
  const auto dump = open_torch(write_pt(folder, pickle, one, {{"top/byteorder", "big"}}));
  ASSERT_TRUE(dump);
  EXPECT_EQ(values_of(*dump), (std::vector<float>{1}));
}

// _rebuild_tensor_v3 names the element type beside an untyped storage, which counts bytes.
TEST(TorchReader, ReadsFloat8OfUntypedStorage) {
  const TempFolder folder;
  Pickle pickle;
  pickle.global("torch._utils", "_rebuild_tensor_v3")
      .op("(")
      .storage("UntypedStorage", 2)
      .number(0);
  pickle.tuple({2}).tuple({1}).op("\x89").global("collections", "OrderedDict").op(")R");
  pickle.global("torch", "float8_e4m3fn").op("tR");
  const auto dump = open_torch(write_pt(folder, pickle.stop(), std::string("\x38\xb8", 2)));
  ASSERT_TRUE(dump) << dump.error().to_string();
  EXPECT_EQ(dump->tensors[0].desc.dtype, tensor::DType::e4m3fn);
  EXPECT_EQ(dump->tensors[0].desc.shape, (tensor::Shape{2}));
}

TEST(TorchReader, CodeIsNamedAndNeverRun) {
  const TempFolder folder;
  const std::string pickle =
      Pickle().global("posix", "system").op("(").text("touch /tmp/x").op("tR").stop();
  const auto dump = open_torch(write_pt(folder, pickle, ""));
  ASSERT_FALSE(dump);
  EXPECT_EQ(dump.error().code, ErrorCode::unsupported);
  EXPECT_NE(dump.error().message.find("posix system"), std::string::npos);
}

TEST(TorchReader, CodeInsideATensorIsRefused) {
  const TempFolder folder;
  Pickle pickle;
  pickle.global("torch._utils", "_rebuild_tensor_v2")
      .op("(")
      .global("os", "system")
      .op("(")
      .text("x");
  pickle.op("tR").number(0).tuple({1}).tuple({1}).op("\x89NtR");
  EXPECT_FALSE(open_torch(write_pt(folder, pickle.stop(), floats({1}))));
}

TEST(TorchReader, AViewBeyondItsStorageIsRefused) {
  const TempFolder folder;
  const std::string pickle = Pickle().tensor("FloatStorage", 200, 0, {200}, {1}).stop();
  const auto dump = open_torch(write_pt(folder, pickle, floats({1, 2})));
  ASSERT_FALSE(dump);
  EXPECT_EQ(dump.error().code, ErrorCode::data_mismatch);
}

TEST(TorchReader, EveryPrefixOfAFileIsRefused) {
  const TempFolder folder;
  const std::string pickle = Pickle().tensor("FloatStorage", 2, 0, {2}, {1}).stop();
  const std::string whole = testing::content_of(write_pt(folder, pickle, floats({1, 2})));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(open_torch(folder.file("cut.pt", whole.substr(0, size)))) << size;
  }
}

TEST(TorchReader, StrangeStorageTypesAreRefusedByName) {
  const TempFolder folder;
  const std::string pickle = Pickle().tensor("QInt8Storage", 1, 0, {1}, {1}).stop();
  const auto dump = open_torch(write_pt(folder, pickle, "x"));
  ASSERT_FALSE(dump);
  EXPECT_EQ(dump.error().code, ErrorCode::unsupported_dtype);
  EXPECT_NE(dump.error().message.find("QInt8Storage"), std::string::npos);
}

TEST(TorchPickle, UnknownOpcodesAreNamed) {
  const std::string pickle("\x80\x02i", 3);
  const auto tree = read_pickle(as_bytes(pickle));
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().code, ErrorCode::unsupported);
  EXPECT_NE(tree.error().message.find("0x69"), std::string::npos);
}

// A tuple of the tuple before, twice, sixty times: 2^60 values when written out.
TEST(TorchPickle, SharedValuesAreStoredOnce) {
  std::string pickle("\x80\x02)q\x00", 5);
  for (int i = 0; i < 60; ++i) {
    pickle += std::string("(h\x00h\x00tq\x00", 8);
  }
  const auto tree = read_pickle(as_bytes(pickle + "."));
  ASSERT_TRUE(tree) << tree.error().to_string();
  EXPECT_LT(tree->nodes.size(), 100U);
}

TEST(TorchPickle, MarksAndValuesHaveALimit) {
  const std::string head("\x80\x02", 2);
  for (const char opcode : {'(', 'N'}) {
    const auto tree = read_pickle(as_bytes(head + std::string(2U << 20U, opcode) + "."));
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().code, ErrorCode::limit);
  }
}

TEST(TorchPickle, DeepNestingNeedsNoStack) {
  std::string pickle("\x80\x02", 2);
  pickle.append(100000, ']');
  for (int i = 0; i < 99999; ++i) {
    pickle += 'a';
  }
  EXPECT_TRUE(read_pickle(as_bytes(pickle + ".")));
}

// -1 as LONG1 of one byte, and 2^31 of five.
TEST(TorchPickle, LongIntegersAreTwosComplement) {
  const std::string minus("\x80\x02\x8a\x01\xff.", 6);
  EXPECT_EQ(read_pickle(as_bytes(minus))->nodes[0].integer, -1);
  const std::string large("\x80\x02\x8a\x05\x00\x00\x00\x80\x00.", 10);
  EXPECT_EQ(read_pickle(as_bytes(large))->nodes[0].integer, std::int64_t{1} << 31);
}

}  // namespace opdrift::io
