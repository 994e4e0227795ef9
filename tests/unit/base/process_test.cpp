#include "opdrift/base/process.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace opdrift {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Process, LogsBothStreamsAndGivesTheExitCode) {
  ProcessOptions options;
  options.log = testing::TempDir() + "process.log";
  options.words = {"sh", "-c", "echo \"$WORD\"; echo err >&2; exit 7"};
  options.environment = {"WORD=一 two"};
  const auto end = run_process(options);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end.value().exit_code, 7);
  EXPECT_EQ(text_of(options.log), "一 two\nerr\n");
}

TEST(Process, RunsInTheFolderWithoutStandardInput) {
  ProcessOptions options;
  options.folder = testing::TempDir();
  options.words = {"sh", "-c", "cat > from_stdin; pwd > where"};
  ASSERT_TRUE(run_process(options).has_value());
  EXPECT_EQ(text_of(options.folder + "/from_stdin"), "");
  EXPECT_EQ(
      std::filesystem::canonical(text_of(options.folder + "/where")
                                     .substr(0, text_of(options.folder + "/where").size() - 1)),
      std::filesystem::canonical(options.folder));
}

TEST(Process, IsKilledWithItsChildrenAfterTheTime) {
  ProcessOptions options;
  options.timeout_s = 0.2;
  options.words = {"sh", "-c", "sleep 60 & sleep 60"};
  const auto start = std::chrono::steady_clock::now();
  const auto end = run_process(options);
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(end.value().timed_out);
  EXPECT_NE(end.value().exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(Process, WhatCannotStartIsAnError) {
  ProcessOptions options;
  EXPECT_EQ(run_process(options).error().code, ErrorCode::invalid_argument);
  options.words = {"no-such-program-of-anybody"};
  EXPECT_EQ(run_process(options).error().code, ErrorCode::not_found);
  options.words = {"true"};
  options.log = "/no/such/folder/log";
  EXPECT_EQ(run_process(options).error().code, ErrorCode::write_failed);
}

}  // namespace
}  // namespace opdrift
