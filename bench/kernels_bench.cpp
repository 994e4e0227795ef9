// Speed of one measure() call beside the speed of merely reading the same bytes.
//
//   kernels_bench [elements in millions, 128] [rounds, 5]
//
// Prints GB/s of golden and target together, best of the rounds; reading and measuring take turns,
// so that both see the same machine.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "opdrift/metrics/kernels/levels.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/tensor/bulk_convert.hpp"

namespace {

using opdrift::Bytes;
using opdrift::tensor::DType;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint64_t sum_words(const std::byte* bytes, std::size_t size) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i + 64 <= size; i += 64) {
    for (std::size_t k = 0; k < 8; ++k) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i + 8 * k, 8);
      sums[k] += word;
    }
  }
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) {
    total += sum;
  }
  return total;
}

volatile std::uint64_t g_sink = 0;

double read_seconds(const std::vector<Bytes>& sides, std::size_t threads) {
  const auto start = Clock::now();
  std::vector<std::jthread> workers;
  for (std::size_t k = 0; k < threads; ++k) {
    workers.emplace_back([&, k] {
      for (const Bytes& side : sides) {
        const std::size_t part = side.size() / threads;
        g_sink = g_sink + sum_words(side.span.data() + k * part, part);
      }
    });
  }
  workers.clear();
  return seconds_since(start);
}

/// Values as after a layer: normal, a quarter of them zero.
std::vector<float> golden_values(std::size_t count) {
  std::vector<float> values(count);
  std::uint64_t state = 88172645463325252ULL;
  for (float& value : values) {
    float sum = 0.0F;
    for (int k = 0; k < 2; ++k) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      sum += static_cast<float>(static_cast<std::int32_t>(state >> 32)) * 0x1p-31F;
    }
    value = (state & 3U) == 0 ? 0.0F : sum;
  }
  return values;
}

Bytes bytes_of(const std::vector<float>& values, DType dtype) {
  std::vector<std::byte> bytes(values.size() * (dtype == DType::f32 ? 4 : 2));
  if (dtype == DType::f16) {
    opdrift::tensor::f32_to_f16(values.data(), values.size(), bytes.data());
  } else if (dtype == DType::bf16) {
    opdrift::tensor::f32_to_bf16(values.data(), values.size(), bytes.data());
  } else {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return opdrift::own_bytes(std::move(bytes));
}

opdrift::tensor::View view_of(const Bytes& bytes, DType dtype, std::size_t count) {
  opdrift::tensor::Tensor tensor;
  tensor.desc.dtype = dtype;
  tensor.desc.shape = {count};
  tensor.bytes = bytes;
  return std::move(opdrift::tensor::stored_view(tensor)).value();
}

struct Row {
  double read = 1e9;
  double plain = 1e9;
  double with_kl = 1e9;
};

Row time_pair(const Bytes& golden, const Bytes& target, DType dtype, std::size_t count,
              std::size_t threads, int rounds, std::string_view level) {
  const auto golden_view = view_of(golden, DType::f32, count);
  const auto target_view = view_of(target, dtype, count);
  Row row;
  for (int round = 0; round < rounds; ++round) {
    row.read = std::min(row.read, read_seconds({golden, target}, threads));
    for (const bool kl : {false, true}) {
      opdrift::metrics::MeasureOptions options;
      options.jobs = threads;
      options.kl_divergence = kl;
      options.cpu_level = level;
      const auto start = Clock::now();
      const auto measured = opdrift::metrics::measure(golden_view, target_view, options);
      const double elapsed = seconds_since(start);
      if (!measured || measured->count != count) {
        std::fprintf(stderr, "measure failed\n");
        std::exit(1);
      }
      (kl ? row.with_kl : row.plain) = std::min(kl ? row.with_kl : row.plain, elapsed);
    }
  }
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t millions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 128;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::size_t count = millions << 20;
  const std::vector<float> values = golden_values(count);
  std::vector<float> shifted = values;
  for (std::size_t i = 0; i < count; ++i) {
    shifted[i] *= 1.0F + static_cast<float>(i % 7) * 0x1p-22F;
  }
  const Bytes golden = bytes_of(values, DType::f32);
  std::printf("%-8s %-8s %7s %9s %9s %6s %9s %6s\n", "target", "level", "threads", "read",
              "measure", "ratio", "with KL", "ratio");
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    const Bytes target = bytes_of(shifted, dtype);
    const double gigabytes = static_cast<double>(golden.size() + target.size()) * 1e-9;
    for (const auto& level : opdrift::metrics::kernels::available_levels()) {
      const bool slow = level.table == nullptr;
      for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
        const Row row =
            time_pair(golden, target, dtype, count, threads, slow ? 1 : rounds, level.name);
        std::printf("%-8s %-8s %7zu %9.2f %9.2f %5.0f%% %9.2f %5.0f%%\n",
                    std::string(opdrift::tensor::name_of(dtype)).c_str(),
                    std::string(level.name).c_str(), threads, gigabytes / row.read,
                    gigabytes / row.plain, 100.0 * row.read / row.plain, gigabytes / row.with_kl,
                    100.0 * row.read / row.with_kl);
      }
    }
  }
  return 0;
}
