#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "unit/engine/model_testing.hpp"
#include <nlohmann/json.hpp>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/atc_json.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/ascend/writer.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/encode.hpp"

/// A device that exists only in these tests: an offline model made of an ONNX one, operator by
/// operator, and its dumps made of golden ones.
namespace opdrift::diagnose::testing {

namespace fs = std::filesystem;
namespace onnx = io::onnx;
using engine::testing::TempFolder;
using io::testing::content_of;
using Json = nlohmann::ordered_json;

inline Json attribute(const std::string& key, const std::string& text) {
  return {{"key", key}, {"value", {{"s", text}}}};
}

inline Json attribute(const std::string& key, const std::vector<std::string>& texts) {
  return {{"key", key}, {"value", {{"list", {{"s", texts}}}}}};
}

inline Json description(const std::vector<std::int64_t>& dims, const char* dtype = "DT_FLOAT") {
  return {{"dtype", dtype}, {"layout", "ND"}, {"shape", {{"dim", dims}}}};
}

/// Graph JSON of the offline model that a model would be built to without any fusion.
struct DeviceGraph {
  Json json;

  DeviceGraph(const onnx::Graph& model, const std::vector<std::int64_t>& input_dims,
              const std::string& command = "atc --model=m.onnx --soc_version=Ascend310P3") {
    Json ops = Json::array();
    std::map<std::string, std::string> makers;
    for (const onnx::ValueInfo& input : model.inputs) {
      makers[input.name] = input.name + ":0";
      ops.push_back({{"name", input.name},
                     {"type", "Data"},
                     {"input_desc", {description(input_dims)}},
                     {"output_desc", {output(input.name, 0)}}});
    }
    const std::vector<std::string> names = onnx::node_names(model);
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      ops.push_back(node(model.nodes[i], names[i], makers));
      ops.back()["id"] = i + 1;
    }
    Json outputs = {{"name", "Node_Output"}, {"type", "NetOutput"}, {"input", Json::array()}};
    for (const onnx::ValueInfo& value : model.outputs) {
      outputs["input"].push_back(makers[value.name]);
      outputs["input_desc"].push_back(description({}));
    }
    ops.push_back(outputs);
    json = {{"name", "m"},
            {"attr", {attribute("atc_cmdline", command)}},
            {"graph", {{{"name", "g"}, {"op", ops}}}}};
  }

  std::string write(const std::string& path) const {
    std::ofstream(path) << json.dump();
    return path;
  }

  Json& op(const std::string& name) {
    for (Json& candidate : json["graph"][0]["op"]) {
      if (candidate["name"] == name) {
        return candidate;
      }
    }
    throw std::runtime_error("no operator " + name);
  }

 private:
  static Json output(const std::string& origin, std::size_t index) {
    Json desc = description({});
    desc["attr"] = {attribute("_datadump_origin_name", origin),
                    {{"key", "_datadump_origin_output_index"}, {"value", {{"i", index}}}},
                    attribute("origin_format", "ND")};
    return desc;
  }

  static Json node(const onnx::Node& from, const std::string& name,
                   std::map<std::string, std::string>& makers) {
    Json op = {{"name", name}, {"type", from.op_type}, {"input", Json::array()}};
    for (const std::string& value : from.inputs) {
      if (makers.contains(value)) {
        op["input"].push_back(makers[value]);
      }
    }
    for (std::size_t i = 0; i < from.outputs.size(); ++i) {
      makers[from.outputs[i]] = name + ":" + std::to_string(i);
      op["output_desc"].push_back(output(name, i));
    }
    op["attr"] = {attribute("_datadump_original_op_names", std::vector<std::string>{name})};
    return op;
  }
};

/// Values of an npy file.
inline std::vector<double> values_of(const std::string& path) {
  const auto dump = io::open_npy(path);
  EXPECT_TRUE(dump) << path;
  const auto tensor = io::load_tensor(dump->tensors.front());
  std::vector<double> values(tensor::stored_view(*tensor)->count());
  tensor::decode_to_double(tensor->desc.dtype, tensor->bytes.span.data(), 0, values.size(),
                           values.data());
  return values;
}

inline tensor::Shape shape_of(const std::string& path) {
  return io::open_npy(path)->tensors.front().desc.shape;
}

inline std::vector<std::byte> bytes_of(tensor::DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(tensor::storage_bytes(dtype, values.size()).value_or(0));
  tensor::encode(dtype, values.data(), values.size(), bytes.data());
  return bytes;
}

/// One output as a device would dump it.
inline void write_device_file(const std::string& path, tensor::DType dtype, tensor::Format format,
                              const tensor::Shape& shape, const std::vector<double>& values) {
  const std::vector<std::byte> bytes = bytes_of(dtype, values);
  io::AscendTensor output;
  output.desc.dtype = dtype;
  output.desc.format = format;
  output.desc.shape = shape;
  output.bytes = bytes;
  io::AscendContent content;
  content.tensors = {output};
  ASSERT_TRUE(io::write_ascend_dump(path, content));
}

/// Dumps in float16 of every file of a golden dump that a node or an input made. `damage` may
/// change the values of an operator.
using Damage = std::function<void(const std::string& name, std::vector<double>& values)>;

inline void dump_like_device(const std::string& golden, const std::string& folder,
                             const Damage& damage = {}) {
  fs::create_directories(folder);
  std::uint64_t time = 1700000000000000;
  const auto names = io::list_files(golden);
  ASSERT_TRUE(names);
  for (const std::string& name : *names) {
    const std::vector<std::string_view> parts = split(name, '.');
    if (!name.ends_with(".npy") || name.starts_with("input_") || parts.size() != 4 ||
        parts[1] != "0") {
      continue;
    }
    std::vector<double> values = values_of(golden + "/" + name);
    const std::string op(parts[0]);
    if (damage) {
      damage(op, values);
    }
    write_device_file(folder + "/Op." + op + ".1.2." + std::to_string(++time), tensor::DType::f16,
                      tensor::Format::nd, shape_of(golden + "/" + name), values);
  }
}

/// The real model the tests compare, "" where it is not installed.
inline std::string classifier() {
  const std::string path =
      OPDRIFT_SOURCE_DIR "/build/deps/ocr-models/ch_ppocr_mobile_v2.0_cls_infer.onnx";
  return fs::exists(path) ? path : "";
}

}  // namespace opdrift::diagnose::testing
