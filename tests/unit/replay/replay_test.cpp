#include "opdrift/replay/replay.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "unit/replay/bench.hpp"

namespace opdrift::replay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Registry, NamesAreFoundInTheirDialect) {
  EXPECT_EQ(find_kind("Conv")->name, "Conv");
  EXPECT_EQ(find_kind("BatchMatMulV2")->name, "MatMul");
  EXPECT_EQ(find_kind("aten::add.Tensor")->name, "Add");
  EXPECT_EQ(find_kind("Conv2d", Dialect::aten)->name, "Conv");
  EXPECT_EQ(find_kind("Gelu", Dialect::onnx)->name, "Gelu");
  EXPECT_EQ(find_kind("Gelu", Dialect::ascend)->name, "GeluTanh");
  EXPECT_EQ(find_kind("gather", Dialect::aten)->name, "GatherElements");
  EXPECT_EQ(find_kind("NoSuchThing"), nullptr);
  EXPECT_EQ(find_kind(""), nullptr);
  EXPECT_EQ(find_kind("Conv FusedConv"), nullptr);
}

TEST(Registry, NoNameStandsTwiceInADialect) {
  for (const auto names : {&OperatorKind::onnx, &OperatorKind::ascend, &OperatorKind::aten}) {
    std::set<std::string> seen;
    for (const OperatorKind& kind : all_kinds()) {
      std::istringstream words{std::string(kind.*names)};
      for (std::string word; words >> word;) {
        EXPECT_TRUE(seen.insert(word).second) << word;
      }
    }
  }
}

TEST(Registry, OnlyRandomKindsCannotBeReplayed) {
  for (const OperatorKind& kind : all_kinds()) {
    EXPECT_EQ(kind.evaluate == nullptr, kind.family == Family::random) << kind.name;
    EXPECT_TRUE(!kind.weighted() || kind.terms != nullptr) << kind.name;
    EXPECT_FALSE(kind.summary.empty()) << kind.name;
    EXPECT_FALSE(kind.onnx.empty() && kind.ascend.empty() && kind.aten.empty()) << kind.name;
  }
}

TEST(Registry, TheDocumentListsEveryKind) {
  std::ifstream file(OPDRIFT_SOURCE_DIR "/docs/operators.md");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  for (const OperatorKind& kind : all_kinds()) {
    EXPECT_THAT(text.str(), HasSubstr("| " + std::string(kind.name) + " |"));
  }
}

TEST(Evaluate, SaysWhyAnOperatorIsNotModelled) {
  const std::string message = Bench("Conv").in(array({1, 1, 2}, {1, 2})).failure();
  EXPECT_EQ(message, "operator not modelled: Conv \"node\": input 1 (W) is missing");
  EXPECT_THAT(Bench("RandomNormal").failure(), HasSubstr("random"));
}

TEST(Evaluate, RefusesValuesThatDoNotFillTheShape) {
  EXPECT_THAT(Bench("Relu").in(array({3}, {1, 2})).failure(), HasSubstr("expected 3 values"));
}

TEST(Evaluate, HoldsItsLimits) {
  Limits limits;
  limits.max_elements = 100;
  EXPECT_THAT(Bench("Expand").in(array({1}, {1})).in(integers({11, 11})).limits(limits).failure(),
              HasSubstr("at most 100 elements"));
  limits.max_elements = 1 << 20;
  limits.max_multiply_adds = 1000;
  EXPECT_THAT(
      Bench("MatMul").in(noise({20, 20}, 1)).in(noise({20, 20}, 2)).limits(limits).failure(),
      HasSubstr("too many"));
}

// Shapes that would wrap 64 bits or take terabytes; none of them may be allocated.
TEST(Hostile, HugeShapes) {
  const Array one = array({1}, {1});
  const double big = 4611686018427387904.0;  // 2^62
  EXPECT_FALSE(Bench("Expand").in(one).in(integers({big, big})).try_run());
  EXPECT_FALSE(Bench("Tile").in(one).in(integers({big})).try_run());
  EXPECT_FALSE(Bench("ConstantOfShape").in(integers({big, 0, big})).try_run());
  EXPECT_FALSE(Bench("Range").in(one).in(array({}, {1e300})).in(one).try_run());
  EXPECT_FALSE(Bench("Range").in(one).in(array({}, {std::nan("")})).in(one).try_run());
  EXPECT_FALSE(Bench("OneHot").in(one).in(array({}, {1e12})).in(array({2}, {0, 1})).try_run());
  EXPECT_FALSE(Bench("Pad").in(one).in(integers({big, big})).try_run());
  EXPECT_FALSE(Bench("Pad").in(one).in(integers({-5, 1})).try_run());
  EXPECT_FALSE(Bench("Reshape").in(one).in(integers({big, big})).try_run());
  EXPECT_FALSE(Bench("HannWindow").in(array({}, {1e18})).try_run());
  EXPECT_FALSE(Bench("MaxPool")
                   .in(array({1, 1, 1}, {1}))
                   .ints("kernel_shape", {1 << 30})
                   .ints("pads", {1 << 30, 1 << 30})
                   .try_run());
  EXPECT_FALSE(Bench("Conv")
                   .in(array({1, 1, 1, 1}, {1}))
                   .in(array({1, 1, 1, 1}, {1}))
                   .ints("pads", {1 << 30, 1 << 30, 1 << 30, 1 << 30})
                   .try_run());
  EXPECT_FALSE(Bench("ConvTranspose")
                   .in(array({1, 1, 1}, {1}))
                   .in(array({1, 1, 1}, {1}))
                   .ints("output_shape", {std::numeric_limits<std::int64_t>::min()})
                   .try_run());
}

TEST(Hostile, WrongRanksAndAttributes) {
  const Array scalar = array({}, {1});
  for (const OperatorKind& kind : all_kinds()) {
    if (kind.evaluate == nullptr) {
      continue;
    }
    const std::string type(kind.onnx.substr(0, kind.onnx.find(' ')));
    if (type.empty()) {
      continue;
    }
    for (int count = 0; count < 10; ++count) {
      for (const Array& input :
           {scalar, array({0}, {}), array({1, 0, 2, 3}, {}),
            array({2, 3}, {0, 1, -1, std::nan(""), HUGE_VAL, 7}),
            array({1, 2, 2}, {1, 2, 3, 1e300}), array({1, 2, 1, 2}, {-1e300, 2, 0, 1})}) {
        for (const Integers& lie : {Integers{}, Integers{-1}, Integers{0},
                                    Integers{std::numeric_limits<std::int64_t>::min(), 3},
                                    Integers{std::numeric_limits<std::int64_t>::max()}}) {
          Bench bench(type);
          for (int i = 0; i < count; ++i) {
            bench.in(input);
          }
          for (const char* name :
               {"axis",       "axes",       "pads",        "strides",     "kernel_shape",
                "group",      "num_groups", "num_heads",   "blocksize",   "size",
                "perm",       "p",          "split",       "dilations",   "k",
                "batch_dims", "block_size", "num_outputs", "hidden_size", "output_shape",
                "shape"}) {
            if (!lie.empty()) {
              bench.ints(name, lie);
            }
          }
          const Result<Outputs> result = bench.try_run();
          if (result && !result->empty()) {
            EXPECT_EQ(count_of(result->front().shape), result->front().size()) << type;
            (void)terms(bench.kind(), bench.call(), 0, result->front()).has_value();
          }
        }
      }
    }
  }
}

TEST(ReplayedWeightVariance, OfAProductWithAStoredMatrix) {
  const Bench bench =
      Bench("Mul").in(array({2}, {2, 3})).in(array({2}, {1, 1})).delta(1, array({2}, {0.5, 0}));
  const auto variance = replayed_weight_variance(bench.kind(), bench.call(), 0, bench.first());
  ASSERT_TRUE(variance.has_value());
  EXPECT_THAT(*variance, ElementsAre(1, 0));
}

TEST(Estimate, CountsMultiplyAdds) {
  const tensor::Shape x = {1, 8, 10, 10};
  const tensor::Shape w = {4, 8, 3, 3};
  const std::vector<const tensor::Shape*> inputs = {&x, &w, nullptr};
  const std::vector<tensor::Shape> outputs = {{1, 4, 8, 8}};
  const Cost cost = estimate(*find_kind("Conv"), inputs, outputs);
  EXPECT_EQ(cost.reduction, 72U);
  EXPECT_EQ(cost.multiply_adds, 72U * 256U);
  EXPECT_GE(cost.bytes, 8U * (800U + 288U + 256U));
}

TEST(Estimate, HugeShapesDoNotWrap) {
  const tensor::Shape huge(8, std::uint64_t{1} << 60);
  const std::vector<const tensor::Shape*> inputs = {&huge, &huge, &huge};
  const std::vector<tensor::Shape> outputs = {huge, huge};
  EXPECT_GT(estimate(*find_kind("MatMul"), inputs, outputs).bytes, std::uint64_t{1} << 60);
}

TEST(Load, DecodesByLogicalOrder) {
  tensor::Tensor t;
  t.desc.dtype = tensor::DType::f32;
  t.desc.shape = {2, 2};
  t.desc.strides = {1, 2};
  const std::vector<float> data = {1, 2, 3, 4};
  std::vector<std::byte> bytes(sizeof(float) * data.size());
  std::memcpy(bytes.data(), data.data(), bytes.size());
  t.bytes = own_bytes(std::move(bytes));
  const auto view = tensor::stored_view(t);
  ASSERT_TRUE(view.has_value());
  const auto loaded = load(*view);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_THAT(loaded->values, ElementsAre(1, 3, 2, 4));
  Limits small;
  small.max_elements = 3;
  EXPECT_FALSE(load(*view, small).has_value());
}

}  // namespace
}  // namespace opdrift::replay::test
