#include "opdrift/match/api_match.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/match/api_mapping.hpp"
#include "opdrift/match/layer_mapping.hpp"

namespace opdrift::match {

namespace {

/// A run whose entries have the given leaves, all of one type.
class RunBuilder {
 public:
  RunBuilder& call(std::string_view name, std::initializer_list<const char*> ends,
                   const char* dtype = "torch.float32") {
    graph::ApiEntry entry;
    entry.name = keep(std::string(name));
    graph::split_api_name(entry.name, entry);
    entry.first_leaf = static_cast<std::uint32_t>(run.leaves.size());
    for (const char* end : ends) {
      graph::ApiLeaf leaf;
      leaf.name = keep(std::string(name) + end);
      leaf.entry = static_cast<std::uint32_t>(run.entries.size());
      leaf.dtype = static_cast<std::uint32_t>(run.dtypes.size());
      run.leaves.push_back(leaf);
    }
    run.dtypes.emplace_back(dtype);
    entry.leaf_count = static_cast<std::uint32_t>(run.leaves.size()) - entry.first_leaf;
    run.entries.push_back(entry);
    return *this;
  }
  graph::ApiRun run;

 private:
  std::string_view keep(std::string text) {
    texts_.push_back(std::move(text));
    return texts_.back();
  }
  std::deque<std::string> texts_;
};

std::vector<std::string> names(const ApiMatch& match, const graph::ApiRun& target,
                               const graph::ApiRun& golden) {
  std::vector<std::string> texts;
  for (const ApiPair& pair : match.pairs) {
    const std::string other =
        pair.golden == kNoLeaf ? "-" : std::string(golden.leaves[pair.golden].name);
    texts.push_back(std::string(target.leaves[pair.target].name) + " = " + other);
  }
  return texts;
}

}  // namespace

TEST(ApiMatch, EqualNamesPairAndTheRestIsListed) {
  RunBuilder target;
  RunBuilder golden;
  target.call("T.a.0.forward", {".input.0"}).call("T.b.0.forward", {".input.0"});
  golden.call("T.c.0.forward", {".input.0"}).call("T.a.0.forward", {".input.0"});
  const ApiMatch match = match_api_runs(target.run, golden.run, {});
  EXPECT_EQ(names(match, target.run, golden.run),
            (std::vector<std::string>{"T.a.0.forward.input.0 = T.a.0.forward.input.0",
                                      "T.b.0.forward.input.0 = -"}));
  EXPECT_EQ(match.golden_only, (std::vector<std::uint32_t>{0}));
}

// Recomputation numbers the backward calls 3 and 1 on one side, 0 and 1 on the other.
TEST(ApiMatch, BackwardCallsPairInTheirOrder) {
  RunBuilder target;
  RunBuilder golden;
  target.call("T.a.3.backward", {".input.0"}).call("T.a.1.backward", {".input.0"});
  golden.call("T.a.0.backward", {".input.0"}).call("T.a.1.backward", {".input.0"});
  EXPECT_EQ(names(match_api_runs(target.run, golden.run, {}), target.run, golden.run),
            (std::vector<std::string>{"T.a.3.backward.input.0 = T.a.0.backward.input.0",
                                      "T.a.1.backward.input.0 = T.a.1.backward.input.0"}));
}

TEST(ApiMatch, RepeatedNamesPairEachWithEach) {
  RunBuilder target;
  RunBuilder golden;
  target.call("T.a.0.forward", {".x", ".x"});
  golden.call("T.a.0.forward", {".x", ".x"});
  EXPECT_EQ(match_api_runs(target.run, golden.run, {}).pairs.size(), 4U);
}

TEST(ApiMatch, OnlyFloatsOfOneFrameworkMixTypes) {
  EXPECT_TRUE(comparable_dtypes("torch.float16", "torch.bfloat16", false));
  EXPECT_FALSE(comparable_dtypes("torch.float32", "torch.float64", false));
  EXPECT_FALSE(comparable_dtypes("Float32", "torch.float32", false));
  EXPECT_TRUE(comparable_dtypes("Float64", "torch.float16", true));
  EXPECT_FALSE(comparable_dtypes("Int32", "torch.float32", true));
  EXPECT_FALSE(comparable_dtypes("<class 'int'>", "torch.int64", true));
}

TEST(ApiMatch, FuzzyNamesLoseTheirCallNumber) {
  EXPECT_EQ(fuzzy_name("Torch.add.3.forward.input.0"), "Torch.add.forward.input.0");
  EXPECT_EQ(fuzzy_name("Module.a.b.Linear.forward.0.input.0"), "Module.a.b.forward.0.input.0");
  EXPECT_EQ(fuzzy_name("x"), "x");
}

// mul is only in the target, sub only in the golden; add pairs across different numbers.
TEST(ApiMatch, FuzzyWalkCutsBothQueuesBehindAHit) {
  RunBuilder target;
  RunBuilder golden;
  target.call("T.mul.0.forward", {".i"})
      .call("T.add.0.forward", {".i"})
      .call("T.x.0.forward", {".i"});
  golden.call("T.add.7.forward", {".i"})
      .call("T.sub.0.forward", {".i"})
      .call("T.x.5.forward", {".i"});
  ApiMatchOptions options;
  options.fuzzy = true;
  EXPECT_EQ(
      names(match_api_runs(target.run, golden.run, options), target.run, golden.run),
      (std::vector<std::string>{"T.mul.0.forward.i = -", "T.add.0.forward.i = T.add.7.forward.i",
                                "T.x.0.forward.i = T.x.5.forward.i"}));
}

TEST(ApiMapping, CellsAreReplacedWholeOrInPart) {
  const NameTranslation translate =
      cell_translation({{"net.fc.Linear", "model.fc.MyLinear"}, {"attn", "attention"}});
  EXPECT_EQ(translate("Cell.net.fc.Linear.forward.0.input.0"),
            "Module.model.fc.MyLinear.forward.0.input.0");
  EXPECT_EQ(translate("Cell.x.attn.A.backward.0.input.0"),
            "Module.x.attention.A.backward.0.input.0");
  EXPECT_EQ(translate("Tensor.add.0"), std::nullopt);
}

TEST(ApiMapping, MindSporeNamesBecomeTorchNames) {
  EXPECT_EQ(torch_name("Mint.add.0.forward"), "Torch.add.0.forward");
  EXPECT_EQ(torch_name("MintFunctional.silu.0.forward"), "Functional.silu.0.forward");
  EXPECT_EQ(torch_name("Functional.add.0.forward"), "Torch.add.0.forward");
  EXPECT_EQ(torch_name("Functional.relu.0.forward"), "Functional.relu.0.forward");
}

TEST(ApiMapping, RulesMovePositions) {
  RunBuilder target;
  RunBuilder golden;
  target.call("Functional.f.0.forward", {".input.0", ".input.1"});
  golden.call("NPU.g.0.forward", {".input.2"});
  ApiRule rule;
  rule.target_api = "Functional.f";
  rule.golden_api = "NPU.g";
  rule.inputs = {{1}, {2}};
  const NameTranslation translate = api_translation(target.run, golden.run, {rule});
  EXPECT_EQ(translate("Functional.f.0.forward.input.1"), "NPU.g.0.forward.input.2");
  EXPECT_EQ(translate("Functional.f.0.forward.input.0"), std::nullopt);
}

// The pipeline's second stage holds layers 4 and 5, the golden run counts them 0 and 1.
TEST(LayerMapping, TransformerLayersCountFromZero) {
  RunBuilder target;
  RunBuilder golden;
  target.call("Cell.net.T.ParallelTransformer.forward.0", {".input.0"})
      .call("Cell.net.T.layers.5.mlp.Mlp.forward.0", {".input.0"})
      .call("Cell.net.T.layers.4.mlp.Mlp.forward.0", {".input.0"});
  golden.call("Module.net.T.ParallelTransformer.forward.0", {".input.0"})
      .call("Module.net.T.layers.0.ffn.Ffn.forward.0", {".input.0"})
      .call("Module.net.T.layers.1.ffn.Ffn.forward.0", {".input.0"});
  const NamePairs pairs = map_layers(target.run, {}, golden.run, {},
                                     {{"TopLayer", {{"net", "net"}}}, {"", {{"mlp", "ffn"}}}});
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[1].second, "Module.net.T.layers.1.ffn.Ffn.forward.0.input.0");
  EXPECT_EQ(pairs[2].second, "Module.net.T.layers.0.ffn.Ffn.forward.0.input.0");
}

TEST(LayerMapping, WhatHasNoCounterpartSaysSo) {
  RunBuilder target;
  RunBuilder golden;
  target.call("Cell.net.A.forward.0", {".input.0"});
  golden.call("Module.other.A.forward.0", {".input.0"});
  const NamePairs pairs = map_layers(target.run, {}, golden.run, {}, {});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].second, "N/A");
}

}  // namespace opdrift::match
