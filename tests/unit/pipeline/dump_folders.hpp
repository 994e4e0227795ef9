#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/io/ascend/writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {

/// A folder for one test, removed with the object.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "opdrift-network-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TestFolder(TestFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    if (!path_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }
  }

  std::string sub(const std::string& name) const {
    const std::filesystem::path folder = path_ / name;
    std::filesystem::create_directories(folder);
    return folder.string();
  }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

/// One float32 tensor of a device dump.
struct DumpTensor {
  bool output = true;
  std::vector<float> values;
  tensor::Shape shape;
};

inline tensor::TensorDesc plain_desc(const tensor::Shape& shape) {
  tensor::TensorDesc desc;
  desc.dtype = tensor::DType::f32;
  desc.format = tensor::Format::nd;
  desc.shape = shape;
  return desc;
}

/// Writes `<folder>/<name>`, a device dump.
inline void write_device_dump(const std::string& folder, const std::string& name,
                              const std::vector<DumpTensor>& tensors,
                              const std::string& slices = "") {
  io::AscendContent content;
  content.op_name = name;
  if (!slices.empty()) {
    content.attributes = {{"ffts", slices}};
  }
  for (const DumpTensor& source : tensors) {
    io::AscendTensor tensor;
    tensor.role = source.output ? io::TensorRole::output : io::TensorRole::input;
    tensor.desc =
        plain_desc(source.shape.empty() ? tensor::Shape{source.values.size()} : source.shape);
    tensor.bytes = std::as_bytes(std::span(source.values));
    content.tensors.push_back(std::move(tensor));
  }
  ASSERT_TRUE(io::write_ascend_dump(folder + "/" + name, content).has_value());
}

inline void write_array(const std::string& folder, const std::string& name,
                        const std::vector<float>& values, const tensor::Shape& shape = {}) {
  tensor::Tensor array;
  array.desc = plain_desc(shape.empty() ? tensor::Shape{values.size()} : shape);
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  array.bytes = own_bytes(std::move(bytes));
  ASSERT_TRUE(io::write_npy(folder + "/" + name, *tensor::stored_view(array)).has_value());
}

/// Operators of a graph json, one after the other.
class GraphJson {
 public:
  GraphJson& op(const std::string& name, const std::string& type,
                const std::vector<std::string>& inputs, const std::string& originals,
                const std::string& origin, const std::string& more_attributes = "") {
    text_ += ops_ == 0 ? "" : ",";
    text_ += R"({"name":")" + name + R"(","type":")" + type + R"(","id":)" + std::to_string(++ops_);
    text_ += R"(,"input":[)";
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      text_ += (i == 0 ? "\"" : ",\"") + inputs[i] + "\"";
    }
    text_ += R"(],"attr":[{"key":"_datadump_original_op_names","value":{"list":{"s":[)" +
             originals + "]}}}" + more_attributes + "]";
    text_ += R"(,"output_desc":[{"dtype":"DT_FLOAT","attr":[{"key":"_datadump_origin_name",)";
    text_ += R"("value":{"s":")" + origin + R"("}},{"key":"origin_format","value":{"s":"ND"}}]}]})";
    return *this;
  }

  GraphJson& plain(const std::string& name, const std::vector<std::string>& inputs,
                   const std::string& type = "Add") {
    return op(name, type, inputs, "\"" + name + "\"", name);
  }

  std::string text(const std::string& graph = "g") const {
    return R"({"graph":[{"name":")" + graph + R"(","op":[)" + text_ + "]}]}";
  }

 private:
  std::string text_;
  int ops_ = 0;
};

}  // namespace opdrift::pipeline
