#include "opdrift/verdict/judge.hpp"

#include <gmock/gmock.h>

#include "unit/verdict/sample_networks.hpp"

namespace opdrift::verdict::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct CleanCase {
  const char* name;
  void (*build)(MemoryNetwork&);
  DType target;
};

class CleanRun : public testing::TestWithParam<CleanCase> {};

TEST_P(CleanRun, BlamesNobody) {
  MemoryNetwork net;
  GetParam().build(net);
  net.run(stored_as(DType::f32), stored_as(GetParam().target));
  const JudgedRun run = net.judge();
  EXPECT_THAT(net.with(run, Label::culprit), IsEmpty());
  EXPECT_THAT(net.with(run, Label::unjudged), IsEmpty());
  EXPECT_THAT(net.with(run, Label::drift), IsEmpty());
  EXPECT_EQ(run.run.outcome, Outcome::pass) << run.run.sentence;
}

// An operator that rounds as its type says has q near 1: the budget predicts the error.
TEST_P(CleanRun, OwnErrorIsNearItsBudget) {
  MemoryNetwork net;
  GetParam().build(net);
  net.run(stored_as(DType::f32), stored_as(GetParam().target));
  const JudgedRun run = net.judge();
  for (const auto& judgement : run.values) {
    if (judgement && judgement->tier == Tier::replay) {
      EXPECT_LT(judgement->q_own, 1.6);
      EXPECT_LT(judgement->z, 1.0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, CleanRun,
    testing::Values(CleanCase{"picture_fp32", build_picture_network, DType::f32},
                    CleanCase{"picture_fp16", build_picture_network, DType::f16},
                    CleanCase{"picture_bf16", build_picture_network, DType::bf16},
                    CleanCase{"picture_e4m3", build_picture_network, DType::e4m3fn},
                    CleanCase{"text_fp32", build_text_network, DType::f32},
                    CleanCase{"text_fp16", build_text_network, DType::f16},
                    CleanCase{"text_bf16", build_text_network, DType::bf16}),
    [](const auto& entry) { return std::string(entry.param.name); });

void scale_all(Array& y) {
  for (double& value : y.values) {
    value *= 1.02;
  }
}
void change_one(Array& y) {
  y.values[y.size() / 2] += 3.0;
}
void swap_channels(Array& y) {
  const std::size_t half = y.size() / 16;
  std::swap_ranges(y.values.begin(), y.values.begin() + static_cast<std::ptrdiff_t>(half),
                   y.values.begin() + static_cast<std::ptrdiff_t>(half));
}
void clamp_values(Array& y) {
  for (double& value : y.values) {
    value = std::clamp(value, -0.5, 0.5);
  }
}
void zero_tail(Array& y) {
  std::fill(y.values.end() - static_cast<std::ptrdiff_t>(y.size() / 8), y.values.end(), 0.0);
}
void one_nan(Array& y) {
  y.values[1] = std::nan("");
}
void shift_by_one(Array& y) {
  std::rotate(y.values.begin(), y.values.begin() + 1, y.values.end());
}

struct FaultCase {
  const char* name;
  const char* at;
  void (*build)(MemoryNetwork&);
  void (*fault)(Array&);
};

class FaultyRun : public testing::TestWithParam<FaultCase> {};

TEST_P(FaultyRun, NamesTheOperatorFirstAndNobodyElse) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    MemoryNetwork net;
    GetParam().build(net);
    net.run(stored_as(DType::f32), stored_as(dtype), {{GetParam().at, GetParam().fault}});
    const JudgedRun run = net.judge();
    EXPECT_THAT(net.first(run), ElementsAre(GetParam().at)) << tensor::name_of(dtype);
    EXPECT_THAT(net.with(run, Label::culprit), ElementsAre(GetParam().at));
    EXPECT_EQ(run.run.outcome, Outcome::fail);
    EXPECT_THAT(run.run.sentence, HasSubstr(GetParam().at));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FaultyRun,
    testing::Values(FaultCase{"scaled_conv", "conv2", build_picture_network, scale_all},
                    FaultCase{"changed_element", "conv1", build_picture_network, change_one},
                    FaultCase{"swapped_channels", "conv2", build_picture_network, swap_channels},
                    FaultCase{"clamped_add", "residual", build_picture_network, clamp_values},
                    FaultCase{"zero_tail", "relu1", build_picture_network, zero_tail},
                    FaultCase{"nan", "gated", build_picture_network, one_nan},
                    FaultCase{"shifted_reshape", "flat", build_picture_network, shift_by_one},
                    FaultCase{"shifted_transpose", "kt", build_text_network, shift_by_one},
                    FaultCase{"scaled_norm", "norm2", build_text_network, scale_all},
                    FaultCase{"changed_softmax", "attention", build_text_network, change_one},
                    FaultCase{"clamped_gelu", "gelu", build_text_network, clamp_values}),
    [](const auto& entry) { return std::string(entry.param.name); });

}  // namespace
}  // namespace opdrift::verdict::test
