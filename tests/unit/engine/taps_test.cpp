#include "opdrift/engine/taps.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "unit/engine/model_testing.hpp"

#include "opdrift/engine/tapped_session.hpp"

namespace opdrift::engine {
namespace {

namespace onnx = io::onnx;
using testing::floats;

/// Negates eight times: a -> v0 -> ... -> v7.
onnx::Model chain() {
  onnx::Model model = testing::empty_model();
  model.graph.inputs = {floats("a", {{2, ""}})};
  std::string from = "a";
  for (int i = 0; i < 8; ++i) {
    const std::string to = "v" + std::to_string(i);
    model.graph.nodes.push_back(onnx::make_node("Neg", to, {from}, {to}));
    from = to;
  }
  return model;
}

std::vector<Tap> taps_of_chain() {
  std::vector<Tap> taps;
  for (int i = 0; i < 8; ++i) {
    taps.push_back({"v" + std::to_string(i), ""});
  }
  return taps;
}

NamedTensor one_and_two() {
  const std::vector<float> values = {1, 2};
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  tensor::Tensor tensor;
  tensor.desc.dtype = tensor::DType::f32;
  tensor.desc.shape = {2};
  tensor.bytes = own_bytes({bytes, bytes + sizeof(float) * 2});
  return {"a", std::move(tensor)};
}

/// Runs a tapped model with `a` = {1, 2}, or without inputs.
Result<std::vector<RunValue>> run(onnx::Model model, const std::string& last,
                                  const RunHooks& hooks) {
  OPDRIFT_TRY(const auto runtime, Runtime::load());
  const bool fed = !model.graph.inputs.empty();
  OPDRIFT_TRY(const auto session, open_tapped(*runtime, {std::move(model), ""}, {}));
  const std::vector<NamedTensor> inputs =
      fed ? std::vector<NamedTensor>{one_and_two()} : std::vector<NamedTensor>{};
  const std::vector<std::string> outputs = {last};
  return session->run(inputs, outputs, hooks);
}

float first_of(const RunValue& value) {
  float first = 0;
  std::memcpy(&first, value.tensor.value().bytes.span.data(), sizeof first);
  return first;
}

// Relu, Neg and the like may work in place, so a value has to be shown before the next is made.
TEST(Taps, ShowEachValueBeforeTheNextIsMade) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  onnx::Model model = chain();
  const std::string last = add_taps(model, taps_of_chain());
  std::vector<std::size_t> order;
  std::set<const std::byte*> places;
  RunHooks hooks;
  hooks.show = [&](std::size_t tap, const RunValue& value, const RunValue& beside) -> Status {
    order.push_back(tap);
    places.insert(value.tensor.value().bytes.span.data());
    EXPECT_EQ(first_of(value), tap % 2 == 0 ? -1.0F : 1.0F);
    EXPECT_FALSE(beside.tensor);
    return Unit{};
  };
  ASSERT_TRUE(run(std::move(model), last, hooks));
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_LE(places.size(), 3U) << "memory was not used again";
}

TEST(Taps, AFailureOfTheHookEndsTheRunWithIt) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  onnx::Model model = chain();
  const std::string last = add_taps(model, taps_of_chain());
  std::size_t shown = 0;
  RunHooks hooks;
  hooks.show = [&](std::size_t tap, const RunValue&, const RunValue&) -> Status {
    ++shown;
    return tap == 2 ? Status(Error{ErrorCode::write_failed, "the disk is full"}) : Status(Unit{});
  };
  const auto values = run(std::move(model), last, hooks);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, ErrorCode::write_failed);
  EXPECT_EQ(values.error().message, "the disk is full");
  EXPECT_EQ(shown, 3U);
}

TEST(Taps, ASourceIsFilledWhenItIsNeededAndShownBeside) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  onnx::Model model = chain();
  model.graph.inputs.clear();
  const std::vector<Source> sources = {{"a", testing::kFloat, {2}}, {"other", testing::kInt64, {}}};
  add_sources(model, sources);
  const std::vector<Tap> taps = {{"v0", "other"}};
  const std::string last = add_taps(model, taps);
  RunHooks hooks;
  hooks.shapes = {{2}, {}};
  hooks.fill = [&](std::size_t source, std::span<std::byte> bytes) -> Status {
    EXPECT_EQ(bytes.size(), 8U);
    const float floats[2] = {5, 6};
    const std::int64_t integer = 7;
    source == 0 ? std::memcpy(bytes.data(), floats, 8) : std::memcpy(bytes.data(), &integer, 8);
    return Unit{};
  };
  bool shown = false;
  hooks.show = [&](std::size_t, const RunValue& value, const RunValue& beside) -> Status {
    shown = true;
    EXPECT_EQ(first_of(value), -5.0F);
    EXPECT_EQ(beside.tensor.value().desc.dtype, tensor::DType::i64);
    EXPECT_EQ(static_cast<int>(beside.tensor->bytes.span[0]), 7);
    return Unit{};
  };
  const auto values = run(std::move(model), last, hooks);
  ASSERT_TRUE(values) << values.error().to_string();
  EXPECT_TRUE(shown);
}

TEST(Taps, OtherKindsThanTensorsAreForeseen) {
  onnx::Model model = chain();
  EXPECT_FALSE(may_hold_other_kinds(model));
  onnx::Graph inner;
  inner.nodes = {onnx::make_node("SplitToSequence", "", {"v0"}, {"s"})};
  model.graph.nodes.push_back(
      onnx::make_node("If", "i", {"c"}, {"list"}, {testing::body("then_branch", inner)}));
  EXPECT_TRUE(may_hold_other_kinds(model));
}

}  // namespace
}  // namespace opdrift::engine
