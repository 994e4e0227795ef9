// Runs commands and prints what they cost, each beside a plain read of the same bytes.
//
//   timed read THREADS PATH...      maps every file below the paths, sums it (small ones are read);
//                                   seconds and bytes
//   timed run [-n RUNS] -- COMMAND  wall, user+system seconds and peak own memory; medians
//   timed forget PATH...            drops every file below the paths from the page cache
//
// Own memory is RssAnon: pages of mapped dumps belong to the page cache and can be dropped.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<std::string> files_below(int count, char** paths) {
  std::vector<std::string> files;
  for (int i = 0; i < count; ++i) {
    if (std::filesystem::is_regular_file(paths[i])) {
      files.emplace_back(paths[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(paths[i])) {
      if (entry.is_regular_file()) {
        files.push_back(entry.path().string());
      }
    }
  }
  return files;
}

constexpr std::size_t kReadBelow = std::size_t{64} << 10;  // a mapping would cost more

std::uint64_t sum_small(int fd, std::size_t size) {
  static thread_local std::vector<std::uint64_t> words(kReadBelow / sizeof(std::uint64_t));
  const ssize_t got = ::read(fd, words.data(), size);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; got > 0 && i < static_cast<std::size_t>(got) / sizeof(words[0]); ++i) {
    sum += words[i];
  }
  return sum;
}

/// Sum of the file's 64-bit words: as much work per byte as can still be called reading.
std::uint64_t sum_file(const std::string& path, std::uint64_t& bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0 || info.st_size == 0) {
    return 0;
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  bytes += size;
  if (size < kReadBelow) {
    const std::uint64_t sum = sum_small(fd, size);
    ::close(fd);
    return sum;
  }
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  const auto* words = static_cast<const std::uint64_t*>(data);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < size / sizeof(std::uint64_t); ++i) {
    sum += words[i];
  }
  ::munmap(data, size);
  return sum;
}

int read_all(std::size_t threads, const std::vector<std::string>& files) {
  std::vector<double> times;
  std::uint64_t bytes = 0;
  std::atomic<std::uint64_t> sum{0};
  for (int run = 0; run < 4; ++run) {
    const auto start = Clock::now();
    std::atomic<std::size_t> next{0};
    std::atomic<std::uint64_t> read{0};
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        std::uint64_t own = 0;
        for (std::size_t i = next++; i < files.size(); i = next++) {
          sum += sum_file(files[i], own);
        }
        read += own;
      });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    bytes = read;
    if (run > 0) {
      times.push_back(seconds_since(start));
    }
  }
  std::printf("%.4f %llu\n", median(times), static_cast<unsigned long long>(bytes));
  return sum == 1 ? 1 : 0;
}

/// Largest RssAnon of a process while it lives, in kB.
long watch_memory(pid_t child, const std::atomic<bool>& done) {
  long peak = 0;
  const std::string path = "/proc/" + std::to_string(child) + "/status";
  while (!done) {
    std::ifstream status(path);
    std::string line;
    while (std::getline(status, line)) {
      if (line.rfind("RssAnon:", 0) == 0) {
        peak = std::max(peak, std::atol(line.c_str() + 8));
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return peak;
}

struct Cost {
  double wall = 0.0;
  double cpu = 0.0;
  long memory_kb = 0;
  int status = 0;
};

Cost run_once(char** command) {
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
    ::execvp(command[0], command);
    ::_exit(127);
  }
  std::atomic<bool> done{false};
  Cost cost;
  std::thread watcher([&] { cost.memory_kb = watch_memory(child, done); });
  struct rusage usage {};
  ::wait4(child, &cost.status, 0, &usage);
  cost.wall = seconds_since(start);
  done = true;
  watcher.join();
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  cost.cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return cost;
}

int run_command(int runs, char** command) {
  std::vector<double> wall;
  std::vector<double> cpu;
  long memory = 0;
  for (int run = 0; run <= runs; ++run) {
    const Cost cost = run_once(command);
    if (WIFSIGNALED(cost.status) || WEXITSTATUS(cost.status) == 127) {
      std::fprintf(stderr, "timed: %s ended with status %d\n", command[0], cost.status);
      return 1;
    }
    if (run > 0) {
      wall.push_back(cost.wall);
      cpu.push_back(cost.cpu);
      memory = std::max(memory, cost.memory_kb);
    }
  }
  std::printf("%.4f %.4f %.1f\n", median(wall), median(cpu), static_cast<double>(memory) / 1000.0);
  return 0;
}

int forget(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const int fd = ::open(file.c_str(), O_RDONLY);
    if (fd < 0 || ::fdatasync(fd) != 0 || ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0) {
      std::fprintf(stderr, "timed: cannot forget %s\n", file.c_str());
      return 1;
    }
    ::close(fd);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "read") == 0) {
    return read_all(std::strtoul(argv[2], nullptr, 10), files_below(argc - 3, argv + 3));
  }
  if (argc > 3 && std::strcmp(argv[1], "run") == 0) {
    const bool counted = std::strcmp(argv[2], "-n") == 0 && argc > 5;
    char** command = argv + (counted ? 5 : 3);
    return run_command(counted ? std::atoi(argv[3]) : 3, command);
  }
  if (argc > 2 && std::strcmp(argv[1], "forget") == 0) {
    return forget(files_below(argc - 2, argv + 2));
  }
  std::fprintf(stderr,
               "usage: timed read THREADS PATH... | timed run [-n RUNS] -- COMMAND... | timed "
               "forget PATH...\n");
  return 2;
}
