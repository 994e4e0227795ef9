#include <gmock/gmock.h>

#include "unit/verdict/sample_networks.hpp"

namespace opdrift::verdict::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<FindingKind> kinds(const JudgedRun& run) {
  std::vector<FindingKind> found;
  for (const Finding& finding : run.run.findings) {
    found.push_back(finding.kind);
  }
  return found;
}

struct Network {
  const char* name;
  void (*build)(MemoryNetwork&);
};

class Device : public testing::TestWithParam<Network> {
 protected:
  Device() { GetParam().build(net_); }
  MemoryNetwork net_;
};

TEST_P(Device, Tf32ProductsAreOneFindingAndNoCulprit) {
  RunStyle target = stored_as(DType::f32);
  target.operand_ulp = 0x1p-11;
  net_.run(stored_as(DType::f32), target);
  const JudgedRun run = net_.judge();
  EXPECT_THAT(kinds(run), ElementsAre(FindingKind::tf32_products));
  EXPECT_THAT(net_.with(run, Label::culprit), IsEmpty());
  EXPECT_EQ(run.run.outcome, Outcome::pass);
  EXPECT_EQ(run.run.findings.front().sentence, "the device multiplies in TF32");
}

// Operands that are stored in half precision already are not narrowed once more: there, sums kept
// in the storage type are what is looked for.
TEST_P(Device, Bf16ProductsAreOneFindingAndNoCulprit) {
  RunStyle target = stored_as(DType::f32);
  target.operand_ulp = 0x1p-8;
  net_.run(stored_as(DType::f32), target);
  const JudgedRun run = net_.judge();
  EXPECT_THAT(kinds(run), ElementsAre(FindingKind::bf16_products));
  EXPECT_THAT(net_.with(run, Label::culprit), IsEmpty());
}

TEST_P(Device, TruncationIsOneFindingAndNoCulprit) {
  RunStyle target = stored_as(DType::f16);
  target.truncate = true;
  net_.run(stored_as(DType::f32), target);
  const JudgedRun run = net_.judge();
  EXPECT_THAT(kinds(run), ElementsAre(FindingKind::truncation));
  EXPECT_LT(run.run.findings.front().value, -0.25);
  EXPECT_THAT(net_.with(run, Label::culprit), IsEmpty());
  EXPECT_THAT(net_.with(run, Label::drift), IsEmpty());
}

TEST_P(Device, WiderInputsAreOneFindingAndNobodyIsWatched) {
  RunStyle target = stored_as(DType::bf16);
  target.wide_inputs = true;
  net_.run(stored_as(DType::f32), target);
  const JudgedRun run = net_.judge();
  EXPECT_THAT(net_.with(run, Label::culprit), IsEmpty());
}

TEST_P(Device, RoundingToNearestFindsNothing) {
  for (const DType storage : {DType::f32, DType::f16, DType::bf16}) {
    net_.run(stored_as(DType::f32), stored_as(storage));
    EXPECT_THAT(kinds(net_.judge()), IsEmpty());
  }
}

TEST_P(Device, DeclaredAssumptionsAreTakenAndSaid) {
  RunStyle target = stored_as(DType::f32);
  target.operand_ulp = 0x1p-11;
  net_.run(stored_as(DType::f32), target);
  JudgeOptions options;
  options.assume = parse_assumptions("tf32").value();
  const JudgedRun run = net_.judge(options);
  ASSERT_EQ(run.run.findings.size(), 1U);
  EXPECT_TRUE(run.run.findings.front().assumed);
  EXPECT_THAT(net_.with(run, Label::culprit), IsEmpty());
  options.assume = parse_assumptions("none").value();
  EXPECT_FALSE(net_.with(net_.judge(options), Label::culprit).empty());
}

INSTANTIATE_TEST_SUITE_P(Networks, Device,
                         testing::Values(Network{"picture", build_picture_network},
                                         Network{"text", build_text_network}),
                         [](const auto& entry) { return std::string(entry.param.name); });

// A long sum of one sign kept in fp16 loses far more than fp32 would.
TEST(Device, HalfAccumulatorsAreOneFindingAndNoCulprit) {
  MemoryNetwork net;
  build_text_network(net);
  RunStyle target = stored_as(DType::f16);
  target.half_accumulate = true;
  net.run(stored_as(DType::f32), target);
  const JudgedRun run = net.judge();
  EXPECT_THAT(net.with(run, Label::culprit), IsEmpty());
}

// A device of TF32 products with one wrong operator: the finding does not hide it.
// Two long sums of which a few elements overflow: all others tell how they were made.
void build_overflowing_network(MemoryNetwork& net, double large) {
  const auto positive = [](const tensor::Shape& shape, std::uint64_t seed) {
    Array array = MemoryNetwork::noise(shape, seed);
    for (double& value : array.values) {
      value = std::abs(value);
    }
    return array;
  };
  Array x = positive({64, 400}, 1);
  x.values[7] = large;
  const ValueId in = net.input("x", x);
  const ValueId v = net.parameter("v", positive({400, 32}, 2));
  const ValueId w = net.parameter("w", positive({400, 48}, 3));
  net.op("one", "MatMul", {in, v});
  net.op("other", "MatMul", {in, w});
}

TEST(Device, HalfAccumulatorsAreFoundBesideElementsThatOverflow) {
  MemoryNetwork net;
  build_overflowing_network(net, 6e4);
  RunStyle target = stored_as(DType::f16);
  target.half_accumulate = true;
  net.run(stored_as(DType::f32), target);
  const JudgedRun run = net.judge();
  EXPECT_THAT(kinds(run), ElementsAre(FindingKind::half_accumulators));
  EXPECT_GT(net.of(run, "one").new_classes, 0U);
}

// One long sum shows how sums are kept. Two short ones err a little more than in single precision:
// their last terms, which outweigh the others, come into sums that are small till then.
void build_one_long_sum(MemoryNetwork& net) {
  const auto late = [](std::uint64_t columns, std::uint64_t seed) {
    Array w = MemoryNetwork::noise({32, columns}, seed);
    for (std::size_t i = 0; i < 29 * columns; ++i) {
      w.values[i] *= 0.05;
    }
    return w;
  };
  const ValueId x = net.input("x", MemoryNetwork::noise({64, 4000}, 1));
  const ValueId w = net.parameter("w", MemoryNetwork::noise({4000, 32}, 2, 0.02));
  const ValueId made = net.op("long", "MatMul", {x, w});
  net.op("one", "MatMul", {made, net.parameter("v", late(48, 3))});
  net.op("other", "MatMul", {made, net.parameter("u", late(40, 4))});
}

TEST(Device, OneProductTellsHowSumsAreKeptWhereTheOthersErrLikeIt) {
  MemoryNetwork net;
  build_one_long_sum(net);
  RunStyle target = stored_as(DType::f16);
  target.half_accumulate = true;
  net.run(stored_as(DType::f32), target);
  const JudgedRun run = net.judge();
  EXPECT_THAT(kinds(run), ElementsAre(FindingKind::half_accumulators));
  EXPECT_THAT(net.with(run, Label::culprit), IsEmpty());
}

TEST(Device, OneProductIsToBlameWhereTheOthersKeepWhatSinglePrecisionGives) {
  MemoryNetwork net;
  build_one_long_sum(net);
  net.run(stored_as(DType::f32), stored_as(DType::f16), {{"long", [](Array& y) {
                                                            for (double& value : y.values) {
                                                              value *= 1.01;
                                                            }
                                                          }}});
  const JudgedRun run = net.judge();
  EXPECT_THAT(kinds(run), IsEmpty());
  EXPECT_THAT(net.with(run, Label::culprit), ElementsAre("long"));
}

TEST(Device, SaturatedElementsAreNotTakenForHalfAccumulators) {
  MemoryNetwork net;
  build_overflowing_network(net, 400.0);
  net.run(stored_as(DType::f32), stored_as(DType::e4m3fn));
  const JudgedRun run = net.judge();
  EXPECT_THAT(kinds(run), IsEmpty());
}

TEST(Device, AFaultStandsOutOfTheFinding) {
  MemoryNetwork net;
  build_text_network(net);
  RunStyle target = stored_as(DType::f32);
  target.operand_ulp = 0x1p-11;
  net.run(stored_as(DType::f32), target, {{"gelu", [](Array& y) {
                                             for (double& value : y.values) {
                                               value *= 1.02;
                                             }
                                           }}});
  const JudgedRun run = net.judge();
  EXPECT_THAT(kinds(run), ElementsAre(FindingKind::tf32_products));
  EXPECT_THAT(net.with(run, Label::culprit), ElementsAre("gelu"));
}

TEST(Assumptions, AreReadByName) {
  const Assumptions both = parse_assumptions("tf32,truncation").value();
  EXPECT_EQ(both.operands, 0x1p-11);
  EXPECT_TRUE(both.truncation);
  EXPECT_EQ(parse_assumptions("none").value(), Assumptions{});
  EXPECT_FALSE(parse_assumptions("tf16").has_value());
  EXPECT_FALSE(parse_assumptions("").has_value());
}

}  // namespace
}  // namespace opdrift::verdict::test
