#include "opdrift/engine/run_settings.hpp"

#include <gtest/gtest.h>

namespace opdrift::engine {
namespace {

TEST(RunSettings, AllSettingsAreRead) {
  const auto settings =
      parse_run_settings("precision=fp16, optimize=all,provider=cuda,threads=3,seed=7");
  ASSERT_TRUE(settings) << settings.error().to_string();
  EXPECT_EQ(settings->precision, Precision::fp16);
  EXPECT_EQ(settings->optimization, Optimization::all);
  EXPECT_EQ(settings->provider, "cuda");
  EXPECT_EQ(settings->threads, 3U);
  EXPECT_EQ(settings->seed, 7U);
  EXPECT_EQ(describe(*settings), "fp16, optimisation all, provider cuda");
}

TEST(RunSettings, NothingSaidMeansThePlainRun) {
  const auto settings = parse_run_settings("");
  ASSERT_TRUE(settings);
  EXPECT_EQ(describe(*settings), "fp32, optimisation none, provider cpu");
  EXPECT_FALSE(settings->seed);
}

TEST(RunSettings, WhatMakesNoSenseIsNamed) {
  const auto message = [](const char* text) {
    const auto settings = parse_run_settings(text);
    return settings ? std::string("accepted") : settings.error().message;
  };
  EXPECT_EQ(message("precision=fp15"), "precision 'fp15': expected fp32, fp16 or bf16");
  EXPECT_EQ(message("optimize=2"), "optimize '2': expected none, basic, extended or all");
  EXPECT_EQ(message("fp16"), "'fp16': expected NAME=VALUE, for example precision=fp16");
  EXPECT_EQ(message("threads=-1"), "threads '-1': expected a number up to 4096");
  EXPECT_EQ(message("seed="), "seed '': expected a number");
  EXPECT_EQ(message("provider="), "provider '': expected a name");
  EXPECT_NE(message("precison=fp16").find("did you mean 'precision'"), std::string::npos);
  EXPECT_NE(message("precision=fp16,").find("expected NAME=VALUE"), std::string::npos);
}

}  // namespace
}  // namespace opdrift::engine
