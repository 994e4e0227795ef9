// Speed of one measure() call beside the speed of merely reading the same bytes.
//
//   kernels_bench [elements in millions, 128] [rounds, 5] [plain|kl]
//
// Prints GB/s of golden and target together, best of the rounds; reading and measuring take turns,
// so that both see the same machine. Every level of the processor but `scalar`, the best one last.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
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

template <typename T>
void cast_to(const std::vector<float>& values, double scale, std::byte* out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<T>(static_cast<double>(values[i]) * scale);
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

Bytes bytes_of(const std::vector<float>& values, DType dtype) {
  constexpr double kIntegers = 1000.0;
  std::vector<std::byte> bytes(values.size() * opdrift::tensor::info(dtype).bits / 8);
  switch (dtype) {
    case DType::f16: opdrift::tensor::f32_to_f16(values.data(), values.size(), bytes.data()); break;
    case DType::bf16:
      opdrift::tensor::f32_to_bf16(values.data(), values.size(), bytes.data());
      break;
    case DType::f64: cast_to<double>(values, 1.0, bytes.data()); break;
    case DType::i32: cast_to<std::int32_t>(values, kIntegers, bytes.data()); break;
    case DType::i64: cast_to<std::int64_t>(values, kIntegers, bytes.data()); break;
    default: std::memcpy(bytes.data(), values.data(), bytes.size());
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

/// One line: reading and measuring in turn, the best of each.
struct Pair {
  const char* name = "";
  DType golden = DType::f32;
  DType target = DType::f32;
  const std::vector<float>* values = nullptr;  // of the target
};

struct Settings {
  std::size_t count = 0;
  int rounds = 0;
  bool kl = false;
};

double measure_seconds(const opdrift::tensor::View& golden, const opdrift::tensor::View& target,
                       const opdrift::metrics::MeasureOptions& options, std::size_t count) {
  const auto start = Clock::now();
  const auto measured = opdrift::metrics::measure(golden, target, options);
  const double elapsed = seconds_since(start);
  if (!measured || measured->count != count) {
    std::fprintf(stderr, "kernels_bench: measure failed\n");
    std::exit(1);
  }
  return elapsed;
}

void print_pair(const Pair& pair, const Bytes& golden, const Bytes& target,
                const Settings& settings, std::string_view level) {
  const auto golden_view = view_of(golden, pair.golden, settings.count);
  const auto target_view = view_of(target, pair.target, settings.count);
  const double gigabytes = static_cast<double>(golden.size() + target.size()) * 1e-9;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    double read = 1e9;
    double measured = 1e9;
    opdrift::metrics::MeasureOptions options;
    options.jobs = threads;
    options.kl_divergence = settings.kl;
    options.cpu_level = level;
    for (int round = 0; round < settings.rounds; ++round) {
      read = std::min(read, read_seconds({golden, target}, threads));
      measured =
          std::min(measured, measure_seconds(golden_view, target_view, options, settings.count));
    }
    std::printf("| %s%s | %s | %zu | %.1f | %.1f | %.0f %% |\n", pair.name,
                settings.kl ? ", kl" : "", std::string(level).c_str(), threads, gigabytes / read,
                gigabytes / measured, 100.0 * read / measured);
  }
}

std::vector<std::string_view> levels_to_time() {
  std::vector<std::string_view> names;
  for (const auto& level : opdrift::metrics::kernels::available_levels()) {
    if (level.table != nullptr && level.name != "sse4") {
      names.push_back(level.name);
    }
  }
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  settings.count = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 128) << 20;
  settings.rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  settings.kl = argc > 3 && std::strcmp(argv[3], "kl") == 0;
  const std::vector<float> values = golden_values(settings.count);
  std::vector<float> shifted = values;
  std::vector<float> drifting = values;
  for (std::size_t i = 0; i < settings.count; ++i) {
    shifted[i] *= 1.0F + static_cast<float>(i % 7) * 0x1p-22F;
    const auto noise = static_cast<float>((i * 2654435761U >> 8) % 2001) * 1e-3F - 1.0F;
    drifting[i] += i % 5 == 0 && values[i] == 0.0F ? 0.0F : 0.02F * noise;
  }
  const std::vector<Pair> pairs = {
      {"f16, rounded", DType::f32, DType::f16, &shifted},
      {"bf16, rounded", DType::f32, DType::bf16, &shifted},
      {"f32, rounded", DType::f32, DType::f32, &shifted},
      {"f16, drifting", DType::f32, DType::f16, &drifting},
      {"f32, drifting", DType::f32, DType::f32, &drifting},
      {"f64 and f64", DType::f64, DType::f64, &drifting},
      {"i32 and i32", DType::i32, DType::i32, &drifting},
      {"i64 and i64", DType::i64, DType::i64, &drifting},
  };
  std::printf("| target | level | threads | read, GB/s | measure, GB/s | share |\n");
  std::printf("|---|---|---|---|---|---|\n");
  const std::vector<std::string_view> levels = levels_to_time();
  for (const Pair& pair : pairs) {
    const bool wide = pair.golden != DType::f32;
    const Bytes golden = bytes_of(values, pair.golden);
    const Bytes target = bytes_of(*pair.values, pair.target);
    for (const std::string_view level : levels) {
      if (level == levels.back() || !(wide || settings.kl)) {
        print_pair(pair, golden, target, settings, level);
      }
    }
  }
  return 0;
}
