#include <gmock/gmock.h>

#include "unit/verdict/sample_networks.hpp"

// Tier P: sums of products are judged by the norms of their weights.

namespace opdrift::verdict::test {
namespace {

using testing::Contains;
using testing::IsEmpty;

JudgeOptions by(Tier tier) {
  JudgeOptions options;
  options.strongest = tier;
  return options;
}

TEST(Norms, CleanRunsBlameNobody) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    MemoryNetwork net;
    build_picture_network(net);
    net.run(stored_as(DType::f32), stored_as(dtype));
    const JudgedRun run = net.judge(by(Tier::norms));
    EXPECT_THAT(net.with(run, Label::culprit), IsEmpty()) << tensor::name_of(dtype);
    EXPECT_EQ(net.of(run, "conv2").tier, Tier::norms);
  }
}

// All of a kernel 5 % too large: the error has the shape of the result, only its size tells.
TEST(Norms, AnErrorSpreadEvenlyIsBlamedByItsSize) {
  MemoryNetwork net;
  build_picture_network(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16), {{"conv2", [](Array& y) {
                                                            for (double& value : y.values) {
                                                              value *= 1.05;
                                                            }
                                                          }}});
  const JudgedRun known = net.judge(by(Tier::norms));
  EXPECT_THAT(net.with(known, Label::culprit), Contains("conv2"));
  EXPECT_EQ(net.of(known, "conv2").cause, Cause::own_error);
  const JudgedRun unknown = net.judge(by(Tier::shape));
  EXPECT_EQ(net.of(unknown, "conv2").tier, Tier::shape);
  EXPECT_NE(net.of(unknown, "conv2").cause, Cause::own_error);
}

// ||w||^2 = 4 * 0.25, inputs off by 1e-2 everywhere: 1e-2 in the result is inherited.
TEST(Norms, WhatTheWeightsCarryIsInherited) {
  MemoryNetwork net;
  const ValueId x = net.input("x", MemoryNetwork::noise({1000, 4}, 1));
  const ValueId y = net.op("y", "Relu", {x});
  const ValueId w = net.parameter("w", Array{{4, 1}, {0.5, -0.5, 0.5, -0.5}, DType::f32});
  net.op("z", "MatMul", {y, w});
  net.run(stored_as(DType::f32), stored_as(DType::f32),
          {{"y", [](Array& a) {
              for (std::size_t i = 0; i < a.size(); ++i) {
                a.values[i] += i % 3 == 0 ? 1e-2 : -1e-2;
              }
            }}});
  const JudgedRun run = net.judge(by(Tier::norms));
  EXPECT_EQ(net.of(run, "z").tier, Tier::norms);
  EXPECT_LT(net.of(run, "z").q_own, 2.0);
  EXPECT_NE(net.of(run, "z").label, Label::culprit);
}

}  // namespace
}  // namespace opdrift::verdict::test
