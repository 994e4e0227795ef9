#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <unordered_set>

#include "built_models.hpp"
#include "faults.hpp"
#include "half_sum.hpp"
#include "judges.hpp"
#include "simplify.hpp"
#include "variants.hpp"

#include "opdrift/io/onnx/writer.hpp"
#include "opdrift/tensor/encode.hpp"

// The evaluation of bench/verdict in small: that its targets and faults are what they say, and that
// the judge finds three faults in its smallest transformer.

namespace opdrift::evaluation {
namespace {

std::vector<float> assorted() {
  std::vector<float> values = {0.0F,    -0.0F,   1.0F,     65504.0F, 65519.0F, 65520.0F, 447.0F,
                               448.0F,  463.9F,  465.0F,   1e-8F,    6e-8F,    3e-5F,    -7e-5F,
                               0.0156F, 0.0019F, 1.00195F, -2.5F,    3.4e38F,  1e-40F};
  Random random("assorted");
  for (int i = 0; i < 2000; ++i) {
    values.push_back(
        static_cast<float>(random.normal() * std::exp2(60.0 * random.uniform() - 30.0)));
  }
  return values;
}

// The oracle is the tensor room's own conversion, tested there against the standards.
TEST(Numbers, FormatsRoundAsTheTensorRoomDoes) {
  for (const Format format : {Format::fp16, Format::bf16, Format::e4m3}) {
    const std::vector<float> values = assorted();
    std::vector<float> rounded = values;
    round_floats(format, rounded);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = tensor::round_through(
          dtype_of(format), static_cast<double>(values[i]),
          format == Format::e4m3 ? tensor::Overflow::saturate : tensor::Overflow::standard);
      EXPECT_EQ(static_cast<double>(rounded[i]), expected) << values[i];
    }
  }
}

// By hand: 1 + 3 * 2^-12 lies between 1 and 1 + 2^-10; 2^-15 is subnormal in fp16.
TEST(Numbers, TruncatingAndFlushingFormats) {
  std::vector<float> cut = {1.0F + 3.0F * 0x1p-12F, -1.0F - 3.0F * 0x1p-12F, 0x1p-15F, 65519.0F};
  std::vector<float> flushed = cut;
  round_floats(Format::fp16_truncated, cut);
  round_floats(Format::fp16_flushed, flushed);
  EXPECT_EQ(cut, (std::vector<float>{1.0F, -1.0F, 0x1p-15F, 65504.0F}));
  EXPECT_EQ(flushed, (std::vector<float>{1.0F + 0x1p-10F, -1.0F - 0x1p-10F, 0.0F, 65504.0F}));
}

// In fp16 the numbers above 2048 are two apart: adding 1 to 2048 gives a tie that rounds back.
TEST(HalfSum, CountsInFp16NoFurtherThan2048) {
  const tensor::Tensor row = make_floats({1, 3000}, std::vector<float>(3000, 1.0F));
  const tensor::Tensor column = make_floats({3000, 1}, std::vector<float>(3000, 1.0F));
  const tensor::Tensor* inputs[] = {&row, &column};
  const auto sum =
      half_sum(io::onnx::make_node("MatMul", "m", {"a", "b"}, {"c"}), inputs, tensor::DType::f16);
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(floats_of(*sum)[0], 2048.0F);
}

// A 3 x 3 kernel of ones over ones with padding 1: 9 in the middle, 4 in a corner, per channel.
TEST(HalfSum, ConvolutionsPadWithZero) {
  const tensor::Tensor image = make_floats({1, 4, 3, 3}, std::vector<float>(36, 1.0F));
  const tensor::Tensor kernel = make_floats({1, 4, 3, 3}, std::vector<float>(36, 1.0F));
  const tensor::Tensor bias = make_floats({1}, {0.5F});
  const tensor::Tensor* inputs[] = {&image, &kernel, &bias};
  const auto sum =
      half_sum(io::onnx::make_node(
                   "Conv", "c", {"x", "w", "b"}, {"y"},
                   {io::onnx::make_attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1})}),
               inputs, tensor::DType::f16);
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->desc.shape, (tensor::Shape{1, 1, 3, 3}));
  EXPECT_EQ(floats_of(*sum)[0], 16.5F);
  EXPECT_EQ(floats_of(*sum)[4], 36.5F);
}

TEST(Rivals, DifferInWhatTheySee) {
  const tensor::Tensor golden = make_floats({4}, {1.0F, 2.0F, 3.0F, 4.0F});
  const tensor::Tensor scaled = make_floats({4}, {1.02F, 2.04F, 3.06F, 4.08F});
  const tensor::Tensor broken =
      make_floats({4}, {1.0F, 2.0F, 3.0F, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(ask_rivals(golden, golden), (RivalFlags{false, false, false, false}));
  EXPECT_EQ(ask_rivals(golden, scaled), (RivalFlags{false, true, false, true}));
  EXPECT_EQ(ask_rivals(golden, broken), (RivalFlags{true, true, true, true}));
}

class Smoke : public ::testing::Test {
 protected:
  void SetUp() override {
    auto runtime = engine::Runtime::load();
    if (!runtime) {
      GTEST_SKIP() << runtime.error().to_string();
    }
    runtime_ = *runtime;
    const std::vector<engine::NamedTensor> inputs = {{"x", transformer_input()}};
    auto model = simplified(*runtime_, layer_norm_transformer(), inputs);
    ASSERT_TRUE(model) << model.error().to_string();
    auto network = Network::open(*runtime_, std::move(*model), inputs);
    ASSERT_TRUE(network) << network.error().to_string();
    network_ = std::move(*network);
  }

  verdict::JudgedRun judged(const Values& wide) const {
    const Values stored = stored_values(wide, Format::fp16);
    const MemorySource source(*network_, stored);
    return verdict::judge(network_->problem(), source, {}).value();
  }

  std::shared_ptr<engine::Runtime> runtime_;
  std::unique_ptr<Network> network_;
};

TEST_F(Smoke, ACleanRunPassesAndThreeFaultsAreNamed) {
  OperatorRunner runner(*runtime_, *network_);
  Target target(runner, *network_, {.storage = Format::fp16});
  const auto clean = target.run();
  ASSERT_TRUE(clean) << clean.error().to_string();
  EXPECT_EQ(judged(*clean).run.outcome, verdict::Outcome::pass);

  for (const std::string_view name : {"swapped channels", "activation", "one zeroed"}) {
    for (const FaultKind& kind : fault_kinds()) {
      if (kind.name != name) {
        continue;
      }
      Random random(name);
      const auto planted = plant_near(kind, 0.5, *network_, target, *clean, random, {});
      ASSERT_TRUE(planted.has_value()) << name;
      const ValueId id = network_->problem().operators[planted->op].outputs[0];
      Values harmed = *clean;
      harmed[id] = planted->harmed;
      ASSERT_TRUE(target.rerun(network_->readers_of(id), {id}, harmed));
      EXPECT_EQ(judged(harmed).run.first_divergence, std::vector<std::size_t>{id}) << name;
    }
  }
}

}  // namespace
}  // namespace opdrift::evaluation
