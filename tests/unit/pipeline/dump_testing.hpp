#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "opdrift/io/ascend/writer.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::testing {

/// A temporary folder that goes with the test.
class FolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("opdrift_" + std::to_string(::getpid()) + "_" + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

inline std::vector<std::byte> encoded(tensor::DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(tensor::storage_bytes(dtype, values.size()).value());
  tensor::encode(dtype, values.data(), values.size(), bytes.data());
  return bytes;
}

inline void write_npy_file(const std::string& path, tensor::DType dtype, const tensor::Shape& shape,
                           const std::vector<double>& values) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  auto writer = io::NpyWriter::create(path, dtype, shape, {.raw_extension_types = true});
  ASSERT_TRUE(writer) << writer.error().to_string();
  ASSERT_TRUE(writer->write(encoded(dtype, values)));
  ASSERT_TRUE(writer->finish());
}

/// One output of an operator as a device would dump it.
inline void write_device_file(const std::string& path, const std::string& op_name,
                              tensor::DType dtype, tensor::Format format,
                              const tensor::Shape& shape, const tensor::Shape& original,
                              const std::vector<double>& values) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const std::vector<std::byte> bytes = encoded(dtype, values);
  io::AscendTensor tensor;
  tensor.desc.dtype = dtype;
  tensor.desc.format = format;
  tensor.desc.shape = shape;
  tensor.desc.original_shape = original;
  tensor.bytes = bytes;
  io::AscendContent content;
  content.op_name = op_name;
  content.tensors = {tensor};
  ASSERT_TRUE(io::write_ascend_dump(path, content));
}

}  // namespace opdrift::testing
