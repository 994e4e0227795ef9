#include "opdrift/pipeline/stats/watch_stats.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/pipeline/stats/stats_record.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;
using io::testing::TempFolder;

void save(const std::string& path, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  tensor::View view;
  view.tensor.desc.dtype = tensor::DType::f32;
  view.tensor.desc.shape = {values.size()};
  view.tensor.bytes = own_bytes(std::move(bytes));
  view.axes.push_back({values.size(), 1, 1, 0});
  ASSERT_TRUE(io::write_npy(path, view));
}

WatchOptions once(const TempFolder& folder) {
  WatchOptions options;
  options.folder = folder.path();
  options.follow = false;
  return options;
}

}  // namespace

// By hand: (3, -4, nan) has minimum -4, maximum 3, mean -0.5 and norm 5 over its finite elements.
TEST(WatchStats, ARecordHoldsTheNumbers) {
  const TempFolder folder;
  save(folder / "a.npy", {3, -4, std::nanf("")});
  const auto outcome = watch_stats(once(folder));
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_EQ(outcome->recorded, 1U);
  EXPECT_EQ(outcome->deleted, 0U);
  EXPECT_TRUE(fs::exists(folder / "a.npy"));
  const auto record = read_stats_record(folder / "a.npy.stats.json");
  ASSERT_TRUE(record) << record.error().to_string();
  ASSERT_EQ(record->tensors.size(), 1U);
  const TensorRecord& tensor = record->tensors[0];
  EXPECT_EQ(tensor.dtype, "float32");
  EXPECT_EQ(tensor.shape, (tensor::Shape{3}));
  EXPECT_EQ(tensor.count, 3U);
  EXPECT_EQ(tensor.min, -4.0);
  EXPECT_EQ(tensor.max, 3.0);
  EXPECT_EQ(tensor.mean, -0.5);
  EXPECT_EQ(tensor.l2, 5.0);
  EXPECT_EQ(tensor.nan, 1U);
  ASSERT_TRUE(tensor.sketch);
  EXPECT_EQ(tensor.sketch->count, 3U);
}

TEST(WatchStats, SourcesGoOnlyOnRequestAndOnlyWithARecord) {
  const TempFolder folder;
  save(folder / "a.npy", {1, 2});
  folder.file("graph.txt", "name: \"graph_1\"");
  folder.file("broken.npy", "\x93NUMPY\x01");
  WatchOptions options = once(folder);
  options.delete_source = true;
  const auto outcome = watch_stats(options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->deleted, 1U);
  EXPECT_EQ(outcome->failed, 1U);
  EXPECT_FALSE(fs::exists(folder / "a.npy"));
  EXPECT_TRUE(fs::exists(folder / "a.npy.stats.json"));
  EXPECT_TRUE(fs::exists(folder / "graph.txt"));
  EXPECT_TRUE(fs::exists(folder / "broken.npy"));
}

TEST(WatchStats, AFileStillOpenForWritingIsLeftAlone) {
  const TempFolder folder;
  save(folder / "a.npy", {1, 2});
  WatchOptions options;
  options.folder = folder.path();
  options.delete_source = true;
  options.poll = std::chrono::milliseconds(10);
  options.settle = std::chrono::milliseconds(30);
  options.idle_limit = std::chrono::milliseconds(100);
  std::ofstream writer(folder / "a.npy", std::ios::app);
  bool early = false;
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    early = fs::exists(folder / "a.npy.stats.json");
    writer.close();
  });
  const auto outcome = watch_stats(options);
  closer.join();
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(early);
  EXPECT_EQ(outcome->deleted, 1U);
}

// The state a kill leaves between the record and the removal.
TEST(WatchStats, ASecondRunGoesOnWhereTheFirstStopped) {
  const TempFolder folder;
  save(folder / "a.npy", {1, 2});
  ASSERT_TRUE(watch_stats(once(folder)));
  folder.file(".opdrift-999999-1.tmp", "half a record");
  WatchOptions options = once(folder);
  options.delete_source = true;
  const auto outcome = watch_stats(options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->resumed, 1U);
  EXPECT_EQ(outcome->recorded, 0U);
  EXPECT_FALSE(fs::exists(folder / "a.npy"));
  EXPECT_FALSE(fs::exists(folder / ".opdrift-999999-1.tmp"));
}

TEST(WatchStats, AChangedFileIsMeasuredAgain) {
  const TempFolder folder;
  save(folder / "a.npy", {1, 2});
  ASSERT_TRUE(watch_stats(once(folder)));
  save(folder / "a.npy", {1, 2, 3});
  EXPECT_EQ(watch_stats(once(folder))->recorded, 1U);
  EXPECT_EQ(read_stats_record(folder / "a.npy.stats.json")->tensors[0].count, 3U);
}

TEST(WatchStats, RecordsMayGoElsewhere) {
  const TempFolder folder;
  const TempFolder out;
  fs::create_directories(folder / "rank0");
  save(folder / "rank0/a.npy", {1});
  WatchOptions options = once(folder);
  options.output_folder = out.path();
  ASSERT_TRUE(watch_stats(options));
  EXPECT_TRUE(fs::exists(out / "rank0/a.npy.stats.json"));
}

namespace {

/// Follows a folder into which another thread writes, until nothing happens any more.
void follow_writer(bool use_inotify) {
  const TempFolder folder;
  WatchOptions options;
  options.folder = folder.path();
  options.delete_source = true;
  options.use_inotify = use_inotify;
  options.poll = std::chrono::milliseconds(20);
  options.settle = std::chrono::milliseconds(100);
  options.idle_limit = std::chrono::milliseconds(1500);
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) {
      const std::string sub = folder / std::to_string(i % 3);
      fs::create_directories(sub);
      save(sub + "/" + std::to_string(i) + ".npy", std::vector<float>(1000, 1.0F));
    }
  });
  const auto outcome = watch_stats(options);
  writer.join();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->deleted, 20U);
  std::size_t records = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) {
      EXPECT_TRUE(read_stats_record(entry.path().string())) << entry.path();
      ++records;
    }
  }
  EXPECT_EQ(records, 20U);
}

}  // namespace

TEST(WatchStats, FollowsAWriterByEvents) {
  follow_writer(true);
}

TEST(WatchStats, FollowsAWriterByLooking) {
  follow_writer(false);
}

// A process is killed again and again at arbitrary points; no tensor may be without file and
// record.
TEST(WatchStats, SurvivesBeingKilled) {
  const TempFolder folder;
  constexpr int kFiles = 60;
  for (int i = 0; i < kFiles; ++i) {
    save(folder / (std::to_string(i) + ".npy"), std::vector<float>(20000, static_cast<float>(i)));
  }
  WatchOptions options = once(folder);
  options.delete_source = true;
  for (int round = 0; round < 12; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      static_cast<void>(watch_stats(options));
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(3000 + 2500 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (int i = 0; i < kFiles; ++i) {
      const std::string file = folder / (std::to_string(i) + ".npy");
      const bool recorded = read_stats_record(file + ".stats.json").has_value();
      EXPECT_TRUE(recorded || fs::exists(file)) << i;
    }
  }
  ASSERT_TRUE(watch_stats(options));
  for (int i = 0; i < kFiles; ++i) {
    const auto record = read_stats_record(folder / (std::to_string(i) + ".npy.stats.json"));
    ASSERT_TRUE(record) << i;
    EXPECT_EQ(record->tensors[0].max, static_cast<double>(i));
  }
}

TEST(StatsRecord, BrokenRecordsAreRefused) {
  const TempFolder folder;
  EXPECT_FALSE(read_stats_record(folder.file("a", "{}")));
  EXPECT_FALSE(read_stats_record(folder.file("b", R"({"schema": "opdrift-stats/9"})")));
  EXPECT_FALSE(read_stats_record(
      folder.file("c", R"({"schema": "opdrift-stats/1", "tensors": [{"role": "input"}]})")));
}

}  // namespace opdrift::pipeline
