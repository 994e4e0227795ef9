// Makes one 200 MB fp16 FRACTAL_NZ dump: make_nz FOLDER
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "opdrift/io/ascend/writer.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_nz FOLDER\n");
    return 2;
  }
  constexpr std::uint64_t kRows = 10000;
  constexpr std::uint64_t kColumns = 10000;
  std::vector<std::uint16_t> values(kRows * kColumns);
  std::uint32_t state = 1;
  for (std::uint16_t& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<std::uint16_t>(0x3000U | (state >> 20));
  }
  opdrift::io::AscendTensor tensor;
  tensor.desc.dtype = opdrift::tensor::DType::f16;
  tensor.desc.format = opdrift::tensor::Format::fractal_nz;
  tensor.desc.shape = {kColumns / 16, kRows / 16, 16, 16};
  tensor.desc.original_shape = {kRows, kColumns};
  tensor.bytes = {reinterpret_cast<const std::byte*>(values.data()), values.size() * 2};
  opdrift::io::AscendContent content;
  content.op_name = "mm";
  content.tensors = {tensor};
  std::filesystem::create_directories(argv[1]);
  const auto written = opdrift::io::write_ascend_dump(
      std::string(argv[1]) + "/MatMul.mm.1.1.1700000000000000", content);
  if (!written) {
    std::fprintf(stderr, "make_nz: %s\n", written.error().to_string().c_str());
    return 1;
  }
  return 0;
}
