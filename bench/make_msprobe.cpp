// Makes seeded pairs of runs for timing msprobe comparisons:
//
//   make_msprobe statistics FOLDER [calls]          target and golden dump.json, five leaves a call
//   make_msprobe tensors FOLDER [calls] [elements]       the same with .pt files, two a call
//   make_msprobe torchair FOLDER [operators] [elements]  GE and FX dumps with their graph
//
// Folders hold target/ and golden/.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/io/torch/pt_writer.hpp"
#include "opdrift/tensor/view.hpp"

namespace {

using opdrift::Status;
using opdrift::Unit;
namespace io = opdrift::io;

constexpr std::uint64_t kSeed = 20240131;

struct Side {
  std::string folder;
  double error = 0.0;  // relative size of the noise on this side
};

std::string number(double value) {
  return opdrift::graph::python_float(static_cast<double>(static_cast<float>(value)));
}

/// A leaf as msprobe writes it, on one line per field.
void add_leaf(std::mt19937_64& random, double error, const std::string& file, std::string& out) {
  std::normal_distribution<double> normal;
  const double scale = 1.0 + error * normal(random);
  out +=
      "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [4, 128, 64], "
      "\"Max\": ";
  out += number(4.0 * scale) + ", \"Min\": " + number(-3.5 * scale);
  out += ", \"Mean\": " + number(0.0123 * scale) + ", \"Norm\": " + number(181.0 * scale);
  out += ", \"requires_grad\": false";
  out += file.empty() ? "}" : ", \"data_name\": \"" + file + "\"}";
}

std::vector<float> values(std::mt19937_64& random, std::size_t count) {
  std::vector<float> result(count);
  std::normal_distribution<float> normal;
  for (float& value : result) {
    value = normal(random);
  }
  return result;
}

opdrift::tensor::View view_of(std::vector<float> data) {
  opdrift::tensor::View view;
  const std::uint64_t count = data.size();
  std::vector<std::byte> bytes(data.size() * sizeof(float));
  std::memcpy(bytes.data(), data.data(), bytes.size());
  view.tensor.desc.dtype = opdrift::tensor::DType::f32;
  view.tensor.desc.shape = {count};
  view.tensor.bytes = opdrift::own_bytes(std::move(bytes));
  view.axes.push_back({count, 1, 1, 0});
  return view;
}

std::string head(const char* task) {
  return std::string("{\"task\": \"") + task +
         "\", \"level\": \"mix\", \"framework\": \"pytorch\", \"dump_data_dir\": null, \"data\": "
         "{\n";
}

Status make_statistics(const Side& side, std::size_t calls) {
  std::mt19937_64 random(kSeed);
  std::string out = head("statistics");
  for (std::size_t i = 0; i < calls; ++i) {
    out += (i > 0 ? ",\n\"" : "\"") + std::string("Functional.linear.") + std::to_string(i) +
           ".forward\": {\"input_args\": [";
    for (int k = 0; k < 3; ++k) {
      out += k > 0 ? ", " : "";
      add_leaf(random, 0.0, "", out);
    }
    out += "], \"input_kwargs\": {}, \"output\": [";
    for (int k = 0; k < 2; ++k) {
      out += k > 0 ? ", " : "";
      add_leaf(random, side.error, "", out);
    }
    out += "]}";
  }
  return io::write_file(side.folder + "/dump.json", out + "}}");
}

Status make_tensors(const Side& side, std::size_t calls, std::size_t elements) {
  std::mt19937_64 random(kSeed);
  std::mt19937_64 noise(kSeed + 1);
  std::string out = head("tensor");
  std::filesystem::create_directories(side.folder + "/dump_tensor_data");
  for (std::size_t i = 0; i < calls; ++i) {
    const std::string name = "Functional.relu." + std::to_string(i) + ".forward";
    out += (i > 0 ? ",\n\"" : "\"") + name + "\": {\"input_args\": [";
    for (const char* part : {"input", "output"}) {
      const std::string file = name + "." + part + ".0.pt";
      out += part[0] == 'o' ? "], \"output\": [" : "";
      add_leaf(random, 0.0, file, out);
      std::vector<float> data = values(random, elements);
      if (side.error > 0.0 && part[0] == 'o') {
        std::normal_distribution<float> normal;
        for (float& value : data) {
          value *= 1.0F + static_cast<float>(side.error) * normal(noise);
        }
      }
      OPDRIFT_CHECK_OK(
          io::write_pt(side.folder + "/dump_tensor_data/" + file, view_of(std::move(data))));
    }
    out += "]}";
  }
  return io::write_file(side.folder + "/dump.json", out + "}}");
}

void put_varint(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out += static_cast<char>(static_cast<unsigned char>(value | 0x80U));
    value >>= 7U;
  }
  out += static_cast<char>(static_cast<unsigned char>(value));
}

/// OpOutput or OpInput of a float tensor: data_type, format, shape and size.
void put_tensor(unsigned field, unsigned size_field, std::uint64_t elements, std::string& out) {
  std::string shape("\x08");
  put_varint(elements, shape);
  std::string message("\x08\x01\x10\x02", 4);
  message += '\x1a';
  put_varint(shape.size(), message);
  message += shape;
  put_varint(size_field << 3U, message);
  put_varint(4 * elements, message);
  put_varint((field << 3U) | 2U, out);
  put_varint(message.size(), out);
  out += message;
}

Status write_ge(const std::string& path, const std::vector<float>& data) {
  std::string header;
  put_tensor(3, 6, data.size(), header);
  put_tensor(4, 5, data.size(), header);
  std::string file;
  for (unsigned i = 0; i < 8; ++i) {
    file += static_cast<char>(static_cast<unsigned char>(header.size() >> (8 * i)));
  }
  file += header;
  const std::string_view bytes(reinterpret_cast<const char*>(data.data()), 4 * data.size());
  file += bytes;
  file += bytes;
  return io::write_file(path, file);
}

Status make_torchair(const std::string& root, std::size_t operators, std::size_t elements) {
  const std::string ge = root + "/target/worldsize1_global_rank0/20240131120000/0/graph_1/1/0";
  const std::string fx = root + "/golden/worldsize1_global_rank0/graph_1/0";
  std::filesystem::create_directories(ge);
  std::filesystem::create_directories(fx);
  std::mt19937_64 random(kSeed);
  std::string graph = "name: \"graph_1\"\n";
  for (std::size_t i = 0; i < operators; ++i) {
    const std::string name = "Relu_" + std::to_string(i);
    const std::string node = "relu_" + std::to_string(i) + "-aten.relu.default";
    graph += "op {\n  name: \"" + name +
             "\"\n  type: \"Relu\"\n  input: \"x:0\"\n  output_desc {\n" +
             "    attr {\n      key: \"_fx_tensor_name\"\n      value {\n        s: \"" + node +
             ".OUTPUT.0\"\n      }\n    }\n  }\n}\n";
    const std::vector<float> data = values(random, elements);
    OPDRIFT_CHECK_OK(
        write_ge(ge + "/Relu." + name + ".1.2." + std::to_string(1706000000000000 + i), data));
    for (const char* part : {".INPUT.0.", ".OUTPUT.0."}) {
      OPDRIFT_CHECK_OK(
          io::write_npy(fx + "/" + node + part + "20240131120000000000.npy", view_of(data)));
    }
  }
  return io::write_file(root + "/target/dynamo_original_graph_1_rank_0_pid_1_ts_1.txt", graph);
}

Status make(const std::string& kind, const std::string& folder, std::size_t count,
            std::size_t elements) {
  const Side target{folder + "/target", 1e-3};
  const Side golden{folder + "/golden", 0.0};
  std::filesystem::create_directories(target.folder);
  std::filesystem::create_directories(golden.folder);
  if (kind == "statistics") {
    OPDRIFT_CHECK_OK(make_statistics(target, count == 0 ? 50000 : count));
    return make_statistics(golden, count == 0 ? 50000 : count);
  }
  const std::size_t size = elements == 0 ? 524288 : elements;
  if (kind == "tensors") {
    OPDRIFT_CHECK_OK(make_tensors(target, count == 0 ? 128 : count, size));
    return make_tensors(golden, count == 0 ? 128 : count, size);
  }
  if (kind == "torchair") {
    return make_torchair(folder, count == 0 ? 128 : count, size);
  }
  return opdrift::Error{opdrift::ErrorCode::invalid_argument,
                        "expected statistics, tensors or torchair, found " + kind};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: make_msprobe statistics|tensors|torchair FOLDER [count] [elements]\n",
               stderr);
    return 2;
  }
  const auto argument = [&](int index) {
    return argc > index ? static_cast<std::size_t>(std::strtoull(argv[index], nullptr, 10)) : 0;
  };
  const Status status = make(argv[1], argv[2], argument(3), argument(4));
  if (!status) {
    std::fprintf(stderr, "make_msprobe: %s\n", status.error().to_string().c_str());
    return 1;
  }
  return 0;
}
