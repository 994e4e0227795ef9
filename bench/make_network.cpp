// Makes the dumps the benchmarks read: a chain of operators, device dumps in fp16 beside a golden
// in fp32 npy and the graph json that joins them. Seeded; the same bytes on every machine.
//
//   make_network FOLDER OPERATORS large|tiny
//
// large: 2.6 M elements an operator; half NC1HWC0, a quarter ND, a quarter FRACTAL_NZ.
// tiny:  64 elements, ND.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/io/ascend/writer.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/tensor/bulk_convert.hpp"

namespace {

using opdrift::ByteSpan;
using opdrift::Result;
using opdrift::Status;
using opdrift::Unit;
using opdrift::tensor::DType;
using opdrift::tensor::Format;
using opdrift::tensor::Shape;

constexpr std::uint64_t kFirstTime = 1700000000000000;

/// splitmix64 (public domain, S. Vigna): one number per position, whatever the thread.
std::uint64_t mixed(std::uint64_t seed) {
  seed += 0x9e3779b97f4a7c15ULL;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebULL;
  return seed ^ (seed >> 31);
}

float uniform(std::uint64_t seed) {
  return static_cast<float>(mixed(seed) >> 40) * 0x1p-23F - 1.0F;
}

struct Layout {
  Format format;
  const char* origin;  ///< layout of the golden
  Shape original;
  Shape stored;
};

Layout layout_of(std::size_t position, bool tiny) {
  if (tiny) {
    return {Format::nd, "ND", {8, 8}, {8, 8}};
  }
  switch (position % 4) {
    case 0: return {Format::nd, "ND", {1280, 2040}, {1280, 2040}};
    case 1: return {Format::fractal_nz, "ND", {1280, 2040}, {128, 80, 16, 16}};
    default: return {Format::nc1hwc0, "NCHW", {1, 64, 200, 204}, {1, 4, 200, 204, 16}};
  }
}

std::size_t count_of(const Shape& shape) {
  std::size_t count = 1;
  for (const std::uint64_t extent : shape) {
    count *= extent;
  }
  return count;
}

/// Position of logical element i in the stored data.
std::size_t stored_position(const Layout& layout, std::size_t i) {
  if (layout.format == Format::nc1hwc0) {
    const std::size_t plane = layout.original[2] * layout.original[3];
    const std::size_t channel = i / plane;
    return ((channel / 16) * plane + i % plane) * 16 + channel % 16;
  }
  if (layout.format == Format::fractal_nz) {
    const std::size_t row = i / layout.original[1];
    const std::size_t column = i % layout.original[1];
    return ((column / 16) * layout.stored[1] * 16 + row) * 16 + column % 16;
  }
  return i;
}

std::string name_of(std::size_t position) {
  return "op_" + std::to_string(position);
}

std::string type_of(std::size_t position) {
  return position % 3 == 0 ? "Conv2D" : "Relu";
}

template <typename T>
ByteSpan bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}

std::vector<float> golden_values(std::size_t position, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = uniform(position * 0x100000000ULL + i) * 4.0F;
  }
  return values;
}

/// What a device would have dumped: the golden with a little noise, rounded to fp16, in its layout.
std::vector<std::uint16_t> device_values(const std::vector<float>& golden, const Layout& layout,
                                         std::size_t position) {
  std::vector<float> stored(count_of(layout.stored), 0.0F);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const float noise = uniform((position + 7777) * 0x100000000ULL + i) * 0x1p-11F;
    stored[stored_position(layout, i)] = golden[i] * (1.0F + noise);
  }
  std::vector<std::uint16_t> halves(stored.size());
  opdrift::tensor::f32_to_f16(stored.data(), stored.size(),
                              reinterpret_cast<std::byte*>(halves.data()));
  return halves;
}

opdrift::io::AscendTensor tensor_of(const Layout& layout, opdrift::io::TensorRole role,
                                    const std::vector<std::uint16_t>& values) {
  opdrift::io::AscendTensor tensor;
  tensor.role = role;
  tensor.desc.dtype = DType::f16;
  tensor.desc.format = layout.format;
  tensor.desc.shape = layout.stored;
  tensor.desc.original_shape = layout.original;
  tensor.bytes = bytes_of(values);
  return tensor;
}

Status write_operator(const std::string& folder, std::size_t position, bool tiny) {
  const std::uint64_t time = kFirstTime + position;
  const Layout layout = layout_of(position, tiny);
  const std::vector<float> golden = golden_values(position, count_of(layout.original));
  const std::vector<std::uint16_t> output = device_values(golden, layout, position);
  opdrift::io::AscendContent content;
  content.dump_time_us = time;
  content.op_name = name_of(position);
  content.tensors.push_back(tensor_of(layout, opdrift::io::TensorRole::output, output));
  std::vector<std::uint16_t> input;
  if (position > 0) {
    const Layout before = layout_of(position - 1, tiny);
    input =
        device_values(golden_values(position - 1, count_of(before.original)), before, position - 1);
    content.tensors.push_back(tensor_of(before, opdrift::io::TensorRole::input, input));
  }
  const std::string stamp = std::to_string(time);
  OPDRIFT_CHECK_OK(opdrift::io::write_ascend_dump(folder + "/npu/" + type_of(position) + "." +
                                                      name_of(position) + "." +
                                                      std::to_string(position) + ".7." + stamp,
                                                  content));
  OPDRIFT_TRY(opdrift::io::NpyWriter npy,
              opdrift::io::NpyWriter::create(
                  folder + "/golden/" + name_of(position) + ".0." + stamp + ".npy", DType::f32,
                  layout.original));
  OPDRIFT_CHECK_OK(npy.write(bytes_of(golden)));
  return npy.finish();
}

std::string shape_text(const Shape& shape) {
  return opdrift::tensor::to_string(shape);
}

std::string graph_json(std::size_t operators, bool tiny) {
  std::string text = "{\"graph\":[{\"name\":\"net\",\"op\":[";
  for (std::size_t i = 0; i < operators; ++i) {
    const Layout layout = layout_of(i, tiny);
    text += i == 0 ? "\n" : ",\n";
    text += "{\"name\":\"" + name_of(i) + "\",\"type\":\"" + type_of(i) +
            "\",\"id\":" + std::to_string(i) + ",\"input\":[\"" +
            (i == 0 ? std::string() : name_of(i - 1) + ":0") + "\"],\"output_desc\":[{" +
            "\"dtype\":\"DT_FLOAT16\",\"attr\":["
            "{\"key\":\"_datadump_origin_name\",\"value\":{\"s\":\"" +
            name_of(i) +
            "\"}},{\"key\":\"_datadump_origin_output_index\",\"value\":{\"i\":0}},"
            "{\"key\":\"_datadump_origin_format\",\"value\":{\"s\":\"" +
            layout.origin + "\"}},{\"key\":\"origin_shape\",\"value\":{\"list\":{\"i\":[" +
            shape_text(layout.original) + "]}}}]}]}";
  }
  return text + "\n]}]}\n";
}

Status make(const std::string& folder, std::size_t operators, bool tiny) {
  std::filesystem::create_directories(folder + "/npu");
  std::filesystem::create_directories(folder + "/golden");
  std::vector<std::string> failures(operators);
  opdrift::parallel_for(operators, 0, [&](std::size_t i) {
    const Status written = write_operator(folder, i, tiny);
    if (!written) {
      failures[i] = written.error().to_string();
    }
  });
  for (const std::string& failure : failures) {
    if (!failure.empty()) {
      return opdrift::Error{opdrift::ErrorCode::write_failed, failure};
    }
  }
  return opdrift::io::write_file(folder + "/graph.json", graph_json(operators, tiny));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::strtoul(argv[2], nullptr, 10) == 0) {
    std::fprintf(stderr, "usage: make_network FOLDER OPERATORS large|tiny\n");
    return 2;
  }
  const Status made =
      make(argv[1], std::strtoul(argv[2], nullptr, 10), std::strcmp(argv[3], "tiny") == 0);
  if (!made) {
    std::fprintf(stderr, "make_network: %s\n", made.error().to_string().c_str());
    return 1;
  }
  return 0;
}
