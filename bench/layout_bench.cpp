// Reads tensors tile by tile and prints stored bytes per second beside the machine's plain rates of
// the same run: reading every byte once, and copying.
//
//   bench_layout [MiB per tensor, default 256 [part of a case's name]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/tensor/bulk_convert.hpp"
#include "opdrift/tensor/view.hpp"

namespace {

using opdrift::tensor::DType;
using opdrift::tensor::Segment;
using opdrift::tensor::Tensor;
using opdrift::tensor::TileReader;
using opdrift::tensor::View;

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Best of seven runs, in GB per second of this thread, so that other programs disturb less.
double rate(std::uint64_t bytes, const std::function<void()>& work) {
  double best = 0.0;
  for (int run = 0; run < 7; ++run) {
    const double start = cpu_seconds();
    work();
    best = std::max(best, static_cast<double>(bytes) / (cpu_seconds() - start) / 1e9);
  }
  return best;
}

std::uint64_t sink = 0;

/// Touches every byte the way a consumer of a tile would: eight sums, so that loads set the pace.
void consume(const std::byte* data, std::uint64_t bytes) {
  std::uint64_t sums[8] = {};
  std::uint64_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    std::uint64_t words[8] = {};
    std::memcpy(words, data + at, 64);
    for (int i = 0; i < 8; ++i) {
      sums[i] += words[i];
    }
  }
  for (; at < bytes; ++at) {
    sums[0] += std::to_integer<std::uint64_t>(data[at]);
  }
  for (const std::uint64_t sum : sums) {
    sink += sum;
  }
}

void read_tiles(const View& view) {
  TileReader reader(view);
  const std::uint64_t size = opdrift::tensor::info(view.tensor.desc.dtype).bits / 8;
  for (std::uint64_t tile = 0; tile < reader.tile_count(); ++tile) {
    for (const Segment& segment : reader.read(tile)) {
      consume(segment.data, segment.count * size);
    }
  }
}

struct Case {
  const char* name;
  DType dtype;
  std::vector<opdrift::tensor::AxisMap> axes;
};

std::int64_t stride(std::uint64_t elements) {
  return static_cast<std::int64_t>(elements);
}

/// Axes for about `count` elements.
std::vector<Case> cases(std::uint64_t bytes) {
  std::vector<Case> all;
  const auto blocked = [&](const char* name, DType dtype, std::uint64_t c0, std::uint64_t hw,
                           bool channels_last) {
    const std::uint64_t c = 256;
    const std::uint64_t n = bytes * 8 / opdrift::tensor::info(dtype).bits / (c * hw);
    Case next{name, dtype, {}};
    next.axes = {
        {n, 1, stride(c * hw), 0}, {c - 3, c0, stride(hw * c0), 1}, {hw, 1, stride(c0), 0}};
    if (channels_last) {
      std::swap(next.axes[1], next.axes[2]);
    }
    all.push_back(next);
  };
  blocked("NC1HWC0 -> NCHW  f16 C0=16 56x56", DType::f16, 16, 3136, false);
  blocked("NC1HWC0 -> NCHW  f16 C0=16 7x7", DType::f16, 16, 49, false);
  blocked("NC1HWC0 -> NCHW  f32 C0=16 56x56", DType::f32, 16, 3136, false);
  blocked("NC1HWC0 -> NCHW  i8  C0=32 56x56", DType::i8, 32, 3136, false);
  blocked("NC1HWC0 -> NHWC  f16 C0=16 56x56", DType::f16, 16, 3136, true);
  const auto panels = [&](const char* name, DType dtype, std::uint64_t c0, std::uint64_t columns) {
    const std::uint64_t rows = bytes * 8 / opdrift::tensor::info(dtype).bits / columns / 16 * 16;
    all.push_back(
        {name, dtype, {{rows - 5, 1, stride(c0), 0}, {columns - 3, c0, stride(rows * c0), 1}}});
  };
  panels("FRACTAL_NZ -> ND f16 C0=16 x4096", DType::f16, 16, 4096);
  panels("FRACTAL_NZ -> ND f16 C0=16 x128", DType::f16, 16, 128);
  panels("FRACTAL_NZ -> ND f32 C0=16 x4096", DType::f32, 16, 4096);
  panels("FRACTAL_NZ -> ND i8  C0=32 x4096", DType::i8, 32, 4096);
  const std::uint64_t n = bytes / 2 / (512 * 9) / 16 * 16;
  all.push_back({"FRACTAL_Z -> NCHW f16 3x3 C=512",
                 DType::f16,
                 {{n, 1, 16, 0}, {512, 16, stride(9 * n * 16), 1}, {9, 1, stride(n * 16), 0}}});
  const std::uint64_t images = bytes / 2 / (256 * 3136);
  all.push_back({"NHWC -> NCHW     f16 C=256",
                 DType::f16,
                 {{images, 1, 256 * 3136, 0}, {256, 1, 1, 0}, {3136, 1, 256, 0}}});
  all.push_back({"NCHW -> NHWC     f16 C=256",
                 DType::f16,
                 {{images, 1, 256 * 3136, 0}, {3136, 1, 1, 0}, {256, 1, 3136, 0}}});
  const std::uint64_t pictures = bytes / (3 * 50176);
  all.push_back({"NHWC -> NCHW     u8  C=3",
                 DType::u8,
                 {{pictures, 1, 3 * 50176, 0}, {3, 1, 1, 0}, {50176, 1, 3, 0}}});
  all.push_back({"contiguous       f16", DType::f16, {{bytes / 2, 1, 1, 0}}});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t mebibytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256;
  std::vector<std::byte> buffer(std::max<std::uint64_t>(mebibytes, 8) << 20U);
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    buffer[i] = static_cast<std::byte>(i * 7 >> 3U);
  }
  const std::uint64_t bytes = buffer.size();
  std::vector<std::byte> copy(bytes);
  std::printf("%-36s %7.2f GB/s\n", "plain read",
              rate(bytes, [&] { consume(buffer.data(), bytes); }));
  std::printf("%-36s %7.2f GB/s\n", "plain copy",
              rate(bytes, [&] { std::memcpy(copy.data(), buffer.data(), bytes); }));
  Tensor tensor;
  tensor.bytes = opdrift::own_bytes(std::move(buffer));
  const std::string wanted = argc > 2 ? argv[2] : "";
  for (const Case& shape : cases(bytes)) {
    if (std::string(shape.name).find(wanted) == std::string::npos) {
      continue;
    }
    View view{tensor, shape.axes, 0};
    view.tensor.desc.dtype = shape.dtype;
    const std::uint64_t stored = view.count() * opdrift::tensor::info(shape.dtype).bits / 8;
    std::printf("%-36s %7.2f GB/s\n", shape.name, rate(stored, [&] { read_tiles(view); }));
  }
  std::vector<float> wide(8192);
  const std::byte* halves = tensor.bytes.span.data();
  std::printf("%-36s %7.2f GB/s\n", "f16 -> f32", rate(bytes, [&] {
                for (std::uint64_t at = 0; at + 16384 <= bytes; at += 16384) {
                  opdrift::tensor::f16_to_f32(halves + at, wide.size(), wide.data());
                }
              }));
  std::printf("%-36s %7.2f GB/s\n", "bf16 -> f32", rate(bytes, [&] {
                for (std::uint64_t at = 0; at + 16384 <= bytes; at += 16384) {
                  opdrift::tensor::bf16_to_f32(halves + at, wide.size(), wide.data());
                }
              }));
  return sink == 1 ? 1 : 0;
}
