// Follows folders with the real program, and kills it while it works.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "unit/pipeline/dump_testing.hpp"

#include "opdrift/pipeline/stats/stats_record.hpp"

namespace opdrift::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// The program running beside the test.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments) {
    std::vector<char*> words = {const_cast<char*>(OPDRIFT_BINARY)};
    for (const std::string& argument : arguments) {
      words.push_back(const_cast<char*>(argument.c_str()));
    }
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      const int silent = ::open("/dev/null", O_WRONLY);
      ::dup2(silent, STDOUT_FILENO);
      ::dup2(silent, STDERR_FILENO);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0) {
      end(SIGKILL);
    }
  }

  int end(int signal_number) {
    ::kill(pid_, signal_number);
    return wait();
  }

  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
};

class ConvertWatch : public testing::FolderTest {
 protected:
  std::string file(int number) const {
    return path("dump/" + std::to_string(number % 4) + "/t" + std::to_string(number) + ".npy");
  }

  /// Tensor `number` holds `number` ones, so its record is known by heart. Written as a careful
  /// program does: whole under another name, then renamed.
  void write(int number) const {
    const std::string half = file(number) + ".tmp";
    const auto count = static_cast<std::size_t>(number + 1);
    testing::write_npy_file(half, tensor::DType::f32, {count}, std::vector<double>(count, 1.0));
    fs::rename(half, file(number));
  }

  bool is_recorded(int number) const {
    const auto record =
        pipeline::read_stats_record(file(number) + std::string(pipeline::kStatsSuffix));
    return record && record->tensors.size() == 1 &&
           record->tensors[0].count == static_cast<std::uint64_t>(number + 1) &&
           record->tensors[0].mean == 1.0 && record->tensors[0].crc32 != 0;
  }

  /// Tensors of which neither the file nor a whole record is there.
  std::vector<int> lost(int count) const {
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i) {
      if (!fs::exists(file(i)) && !is_recorded(i)) {
        numbers.push_back(i);
      }
    }
    return numbers;
  }

  std::vector<std::string> command(const std::string& idle) const {
    return {"convert",         path("dump"), "--to", "stats",  "--watch",
            "--delete-source", "--settle",   "0.2",  "--idle", idle};
  }
};

TEST_F(ConvertWatch, NothingIsLostWhereverItIsKilled) {
  constexpr int kFiles = 400;
  for (int i = 0; i < kFiles / 2; ++i) {
    write(i);
  }
  std::thread writer([&] {
    for (int i = kFiles / 2; i < kFiles; ++i) {
      write(i);
      std::this_thread::sleep_for(2ms);
    }
  });
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    Program program(command("60"));
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 60));
    program.end(SIGKILL);
    EXPECT_EQ(lost(kFiles / 2), std::vector<int>{}) << "after kill " << round;
  }
  writer.join();
  Program last(command("0.5"));
  EXPECT_EQ(last.wait(), 0);
  EXPECT_EQ(lost(kFiles), std::vector<int>{});
  for (int i = 0; i < kFiles; ++i) {
    EXPECT_FALSE(fs::exists(file(i))) << i;
    EXPECT_TRUE(is_recorded(i)) << i;
  }
  for (const auto& entry : fs::recursive_directory_iterator(path("dump"))) {
    EXPECT_FALSE(entry.path().extension() == ".tmp") << entry.path();
  }
}

TEST_F(ConvertWatch, AnInterruptEndsItAtOnceAndInOrder) {
  write(3);
  Program program(command("0"));
  for (int i = 0; i < 500 && fs::exists(file(3)); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(is_recorded(3));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(program.end(SIGINT), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
}

TEST_F(ConvertWatch, AFileThatCannotBeReadStaysAndIsToldByTheExitCode) {
  fs::create_directories(path("dump"));
  write(1);
  std::ofstream(path("dump/broken.npy")) << "\x93NUMPY\x01";
  Program program(command("0.5"));
  EXPECT_EQ(program.wait(), 2);
  EXPECT_TRUE(fs::exists(path("dump/broken.npy")));
  EXPECT_TRUE(is_recorded(1));
}

TEST_F(ConvertWatch, RecordsGoBelowTheOutputFolder) {
  write(2);
  Program program({"convert", path("dump"), "-o", path("records"), "--to", "stats", "--watch",
                   "--settle", "0.1", "--idle", "0.3"});
  EXPECT_EQ(program.wait(), 0);
  EXPECT_TRUE(fs::exists(path("records/2/t2.npy.stats.json")));
  EXPECT_TRUE(fs::exists(file(2)));
}

TEST_F(ConvertWatch, OptionsOfFollowingNeedIt) {
  write(2);
  EXPECT_EQ(Program({"convert", path("dump"), "--to", "stats", "--delete-source"}).wait(), 2);
  EXPECT_EQ(Program({"convert", path("dump"), "--to", "npy", "--watch"}).wait(), 2);
  EXPECT_TRUE(fs::exists(file(2)));
}

}  // namespace
}  // namespace opdrift::cli
