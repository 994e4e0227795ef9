#include "opdrift/diagnose/bisect/session.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "unit/engine/model_testing.hpp"

#include "opdrift/engine/dump.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::diagnose {
namespace {

namespace fs = std::filesystem;
namespace onnx = io::onnx;
using engine::testing::empty_model;
using engine::testing::floats;
using engine::testing::TempFolder;

/// x -> a -> b -> c -> d -> y
onnx::Model chain_model() {
  onnx::Model model = empty_model();
  model.graph.inputs = {floats("x", {{4, ""}})};
  model.graph.nodes = {onnx::make_node("Abs", "net/a", {"x"}, {"va"}),
                       onnx::make_node("Relu", "net/b", {"va"}, {"vb"}),
                       onnx::make_node("Neg", "net/c", {"vb"}, {"vc"}),
                       onnx::make_node("Abs", "网络/d", {"vc"}, {"y"})};
  model.graph.outputs = {floats("y", {{4, ""}})};
  return model;
}

void write_npy_file(const std::string& path, const std::vector<float>& values) {
  tensor::Tensor tensor;
  tensor.desc.dtype = tensor::DType::f32;
  tensor.desc.shape = {values.size()};
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::copy_n(reinterpret_cast<const std::byte*>(values.data()), bytes.size(), bytes.begin());
  tensor.bytes = own_bytes(std::move(bytes));
  ASSERT_TRUE(io::write_npy(path, tensor::stored_view(tensor).value()));
}

class Dialogue : public ::testing::Test {
 protected:
  Dialogue() {
    EXPECT_TRUE(onnx::write_model(folder_ / "model.onnx", chain_model()));
    fs::create_directory(folder_ / "golden");
    golden("x", {1, -2, 3, -4});
    golden("net_a", {1, 2, 3, 4});
    golden("net_b", {1, 2, 3, 4});
    golden("net_c", {-1, -2, -3, -4});
    golden("网络_d", {1, 2, 3, 4});
  }

  void golden(const std::string& stem, const std::vector<float>& values) {
    write_npy_file(folder_ / ("golden/" + stem + ".0.1700000000000000.npy"), values);
  }

  SessionState started(Direction direction = Direction::suffix) {
    SessionOptions options;
    options.folder = folder_ / "search";
    options.model = folder_ / "model.onnx";
    options.golden = folder_ / "golden";
    options.direction = direction;
    auto state = start_session(options);
    EXPECT_TRUE(state) << state.error().to_string();
    return state ? std::move(state).value() : SessionState{};
  }

  SessionState reopened() {
    auto state = open_session(folder_ / "search");
    EXPECT_TRUE(state) << state.error().to_string();
    return state ? std::move(state).value() : SessionState{};
  }

  std::string next_cut() {
    const auto step = next_step(reopened(), false);
    EXPECT_TRUE(step) << step.error().to_string();
    return step ? step->cut : "?";
  }

  void say(const std::string& cut, Outcome outcome) {
    SessionState state = reopened();
    EXPECT_TRUE(record_probe(state, {cut, outcome, "", ""}));
  }

  TempFolder folder_;
};

TEST_F(Dialogue, GoesOnFromItsFileUntilTheAnswer) {
  started();
  EXPECT_EQ(next_cut(), "net/c");
  say("net/c", Outcome::good);
  EXPECT_EQ(next_cut(), "net/b");
  say("net/b", Outcome::bad);
  EXPECT_EQ(next_cut(), "");
  const auto step = next_step(reopened(), false);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->answer.first, 1U);
  EXPECT_FALSE(step->answer.assumed);
}

TEST_F(Dialogue, WritesWhatTheDeviceNeeds) {
  started();
  const auto step = next_step(reopened(), true);
  ASSERT_TRUE(step) << step.error().to_string();
  const auto model = onnx::open_model(step->folder + "/device.onnx");
  ASSERT_TRUE(model) << model.error().to_string();
  ASSERT_EQ(model->graph.nodes.size(), 2U);
  EXPECT_EQ(model->graph.nodes[0].name, "net/c");
  EXPECT_EQ(model->graph.inputs[0].name, "vb");
  EXPECT_EQ(io::testing::content_of(step->folder + "/inputs/0_vb.bin"),
            io::testing::text_of(std::vector<float>{1, 2, 3, 4}));
  const std::string script = io::testing::content_of(step->folder + "/commands.sh");
  EXPECT_NE(script.find("atc --model=device.onnx --framework=5"), std::string::npos) << script;
  EXPECT_NE(script.find("--input_shape=vb:4"), std::string::npos) << script;
  EXPECT_NE(script.find("inputs/0_vb.bin"), std::string::npos) << script;
  EXPECT_FALSE(fs::exists(step->folder + "/golden.onnx"));
}

TEST_F(Dialogue, APrefixComesWithTheGoldenRest) {
  started(Direction::prefix);
  const auto step = next_step(reopened(), true);
  ASSERT_TRUE(step) << step.error().to_string();
  EXPECT_EQ(step->cut, "net/b");
  const auto device = onnx::open_model(step->folder + "/device.onnx");
  const auto golden = onnx::open_model(step->folder + "/golden.onnx");
  ASSERT_TRUE(device);
  ASSERT_TRUE(golden);
  EXPECT_EQ(device->graph.outputs[0].name, "vb");
  EXPECT_EQ(golden->graph.inputs[0].name, "vb");
  EXPECT_EQ(golden->graph.outputs[0].name, "y");
}

TEST_F(Dialogue, JudgesAResultFolder) {
  const SessionState state = started();
  fs::create_directory(folder_ / "result");
  const std::string file = folder_ / "result/pure_infer_data_0.npy";
  write_npy_file(file, {1, 2, 3, 4});
  const auto good = judge_results(state, "net/c", {folder_ / "result"});
  ASSERT_TRUE(good) << good.error().to_string();
  EXPECT_EQ(good->outcome, Outcome::good);
  write_npy_file(file, {1, 2, 3, 9});
  const auto bad = judge_results(state, "net/c", {folder_ / "result"});
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->outcome, Outcome::bad);
  const auto pair =
      judge_results(state, "net/c", {file, folder_ / "golden/网络_d.0.1700000000000000.npy"});
  ASSERT_TRUE(pair) << pair.error().to_string();
  EXPECT_EQ(pair->outcome, Outcome::bad);
}

TEST_F(Dialogue, ReadsPlainBytesOfHalfPrecision) {
  const SessionState state = started();
  fs::create_directory(folder_ / "result");
  const std::uint16_t halves[] = {0x3C00, 0x4000, 0x4200, 0x4400};  // 1 2 3 4
  folder_.file("result/output_0.bin", {reinterpret_cast<const char*>(halves), sizeof halves});
  const auto good = judge_results(state, "net/c", {folder_ / "result"});
  ASSERT_TRUE(good) << good.error().to_string();
  EXPECT_EQ(good->outcome, Outcome::good);
}

TEST_F(Dialogue, RunsTheGoldenRestOfAPrefix) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const SessionState state = started(Direction::prefix);
  fs::create_directory(folder_ / "result");
  write_npy_file(folder_ / "result/out_0.npy", {1, 2, 3, 40});
  const auto bad = judge_results(state, "net/b", {folder_ / "result"});
  ASSERT_TRUE(bad) << bad.error().to_string();
  EXPECT_EQ(bad->outcome, Outcome::bad);
}

TEST_F(Dialogue, MissingGoldenTensorsAreNamed) {
  started();
  fs::remove(folder_ / "golden/net_b.0.1700000000000000.npy");
  const auto step = next_step(reopened(), true);
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::not_found);
  EXPECT_NE(step.error().message.find("net/b"), std::string::npos);
}

TEST_F(Dialogue, AChangedModelIsRefused) {
  started();
  ASSERT_TRUE(onnx::write_model(folder_ / "model.onnx", engine::testing::small_model()));
  const auto step = next_step(reopened(), true);
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::mismatch);
}

TEST_F(Dialogue, ASecondStartDoesNotForgetTheFirst) {
  SessionState state = started();
  EXPECT_FALSE(start_session(state.options));
  ASSERT_TRUE(reset_session(state.options.folder));
  EXPECT_FALSE(fs::exists(state.options.folder));
  EXPECT_TRUE(start_session(state.options));
}

TEST_F(Dialogue, UnknownCutsAreRefused) {
  SessionState state = started();
  const Status refused = record_probe(state, {"net/z", Outcome::bad, "", ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
}

TEST_F(Dialogue, ADamagedStateIsRefused) {
  const std::string path = started().options.folder + "/state.json";
  for (const std::string text :
       {"", "{", "[]", R"({"schema":"opdrift.bisect"})",
        R"({"schema":"opdrift.bisect","cuts":[1]})",
        R"({"schema":"opdrift.bisect","cuts":["a"],"probes":[{"cut":"a","outcome":"odd"}]})"}) {
    folder_.file("search/state.json", text);
    const auto state = open_session(folder_ / "search");
    ASSERT_FALSE(state) << text;
    EXPECT_EQ(state.error().code, ErrorCode::bad_json) << text;
  }
}

TEST_F(Dialogue, TheLogRepeatsTheSearch) {
  SessionState state = started();
  ASSERT_TRUE(record_probe(state, {"net/c", Outcome::bad, "cosine 0.5", ""}));
  const std::string script = replay_script(state);
  EXPECT_NE(script.find("opdrift bisect bad --cut net/c"), std::string::npos) << script;
}

}  // namespace
}  // namespace opdrift::diagnose
