#include "opdrift/match/torch_match.hpp"

#include <gtest/gtest.h>

namespace opdrift::match {
namespace {

TorchTensor output(const std::string& op, std::uint64_t order, const std::string& name) {
  return {op, order, "output/" + name, false};
}

TorchTensor input(const std::string& op, std::uint64_t order, const std::string& name) {
  return {op, order, "input/" + name, true};
}

TEST(TorchMatch, OccurrencesPairWhenInputsAreThere) {
  const std::vector<TorchTensor> target = {input("Add", 3, "x"), output("Add", 3, "r"),
                                           output("Add", 8, "r")};
  const std::vector<TorchTensor> golden = {output("Add", 4, "r"), output("Add", 5, "r")};
  const auto pairs = pair_torch(target, golden, TorchDevice::gpu);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_FALSE(pairs[0].golden.has_value());
  EXPECT_EQ(pairs[1].golden, 0u);
  EXPECT_EQ(pairs[2].golden, 1u);
}

TEST(TorchMatch, WithoutInputsTheOrderNumbersMustAgree) {
  const std::vector<TorchTensor> target = {output("Add", 3, "r")};
  const std::vector<TorchTensor> golden = {input("Add", 4, "x"), output("Add", 4, "r")};
  const auto pairs = pair_torch(target, golden, TorchDevice::gpu);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_FALSE(pairs[0].golden.has_value());
  EXPECT_FALSE(pairs[1].target.has_value());
  EXPECT_EQ(pairs[1].golden, 1u);
}

TEST(TorchMatch, StandInsShareOneNumberingAndRenameParameters) {
  const std::vector<TorchTensor> target = {input("NpuConvolutionBackward", 1, "input"),
                                           output("NpuConvolutionBackward", 6, "grad")};
  const std::vector<TorchTensor> golden = {input("CudnnConvolutionBackward", 2, "self"),
                                           output("ThnnConvDepthwise2DBackward", 9, "grad")};
  const auto pairs = pair_torch(target, golden, TorchDevice::gpu);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].golden, 0u);
  EXPECT_EQ(pairs[0].rule, TorchRule::renamed_parameter);
  EXPECT_EQ(pairs[1].golden, 1u);
  EXPECT_EQ(pairs[1].rule, TorchRule::stand_in);
}

TEST(TorchMatch, PrefixesFollowTheGoldenDevice) {
  EXPECT_EQ(stand_ins("NpuFoo", TorchDevice::gpu), (std::vector<std::string>{"CudnnFoo"}));
  EXPECT_EQ(stand_ins("NpuFoo", TorchDevice::cpu), (std::vector<std::string>{"ThnnFoo"}));
  EXPECT_EQ(stand_ins("ThnnFoo", TorchDevice::cpu), (std::vector<std::string>{"NpuFoo"}));
  EXPECT_TRUE(stand_ins("Foo", TorchDevice::gpu).empty());
  EXPECT_TRUE(stand_ins("NpuFoo", TorchDevice::other).empty());
}

}  // namespace
}  // namespace opdrift::match
