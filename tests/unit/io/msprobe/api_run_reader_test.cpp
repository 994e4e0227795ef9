#include "opdrift/io/msprobe/api_run_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace opdrift::io {

namespace {

constexpr std::string_view kHead =
    R"({"task": "statistics", "level": "mix", "framework": "pytorch", "data": {)";

Result<graph::ApiRun> parse(const std::string& data, const ApiRunOptions& options = {}) {
  return parse_api_run(json_from(std::string(kHead) + data + "}}"), "dump.json", options);
}

std::string tensor(const std::string& more = "") {
  return R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3], "Max": 1.0, )"
         R"("Min": -1e-05, "Mean": NaN, "Norm": Infinity, "requires_grad": true)" +
         more + "}";
}

std::string call(const std::string& name, const std::string& input) {
  return "\"" + name + R"(": {"input_args": [)" + input + "]}";
}

const graph::ApiLeaf& only_leaf(const Result<graph::ApiRun>& run) {
  static const graph::ApiLeaf kNone;
  EXPECT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run ? run->leaves.size() : 0, 1U);
  return run && run->leaves.size() == 1 ? run->leaves.front() : kNone;
}

}  // namespace

TEST(ApiRunReader, ReadsATensorLeaf) {
  const auto run = parse(call("Torch.add.0.forward", tensor()));
  const graph::ApiLeaf& leaf = only_leaf(run);
  EXPECT_EQ(leaf.name, "Torch.add.0.forward.input.0");
  EXPECT_EQ(run->dtype_of(leaf), "torch.float32");
  EXPECT_EQ(leaf.shape, "[2, 3]");
  EXPECT_EQ(leaf.statistics[0].text(), "1.0");
  EXPECT_EQ(leaf.statistics[1].text(), "-1e-05");
  EXPECT_EQ(leaf.statistics[2].text(), "nan");
  EXPECT_EQ(leaf.statistics[3].text(), "inf");
  EXPECT_EQ(leaf.requires_grad, graph::GradFlag::yes);
  EXPECT_EQ(leaf.data_name, "-1");
}

// Python prints 1.50 as 1.5, 1E3 as 1000.0 and keeps integers of any size.
TEST(ApiRunReader, NumbersHavePythonsText) {
  const auto run = parse(call("Torch.a.0.forward",
                              R"({"type": "x", "dtype": "d", "Max": 1.50, "Min": 1E3,)"
                              R"( "Mean": 123456789012345678901234567890, "Norm": 1e400})"));
  const graph::ApiLeaf& leaf = only_leaf(run);
  EXPECT_EQ(leaf.statistics[0].text(), "1.5");
  EXPECT_EQ(leaf.statistics[1].text(), "1000.0");
  EXPECT_EQ(leaf.statistics[2].text(), "123456789012345678901234567890");
  EXPECT_EQ(leaf.statistics[3].text(), "inf");
}

TEST(ApiRunReader, ADataNameNamesTheLeaf) {
  const auto run = parse(
      call("Torch.add.0.forward", tensor(R"(, "data_name": "Torch.x.0.forward.input.7.pt")")));
  EXPECT_EQ(only_leaf(run).name, "Torch.x.0.forward.input.7");
  EXPECT_EQ(only_leaf(run).data_name, "Torch.x.0.forward.input.7.pt");
}

TEST(ApiRunReader, PlainValuesKeepTheirPythonType) {
  const auto run = parse(
      R"("Torch.f.0.forward": {"input_args": [null, [], {}, 0, {"type": "int", "value": 5},)"
      R"( {"type": "str", "value": "same"}, {"type": "bool", "value": true},)"
      R"( {"type": "torch.Size", "value": [2, 3]}, {"type": "slice", "value": [1, null, 2]},)"
      R"( {"type": "ellipsis", "value": "..."}], "input_kwargs": {"k": {"a.b": {"type": "float",)"
      R"( "value": 1.5}}, "src": {"type": "int", "value": 1}, "group": {"type":)"
      R"( "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "g"}}})");
  ASSERT_TRUE(run) << run.error().to_string();
  const auto dtype = [&](std::size_t i) { return run->dtype_of(run->leaves[i]); };
  ASSERT_EQ(run->leaves.size(), 10U);
  EXPECT_TRUE(run->leaves[0].missing_argument);
  EXPECT_EQ(dtype(1), "<class 'int'>");
  EXPECT_EQ(run->leaves[1].name, "Torch.f.0.forward.input.4");
  EXPECT_EQ(dtype(2), "<class 'str'>");
  EXPECT_EQ(run->leaves[3].statistics[0].text(), "True");
  EXPECT_EQ(run->leaves[4].shape, "[2, 3]");
  EXPECT_EQ(run->leaves[5].shape, "(3,)");
  EXPECT_EQ(dtype(6), "ellipsis");
  EXPECT_EQ(run->leaves[7].name, "Torch.f.0.forward.input.k.a.b");
  EXPECT_EQ(run->leaves[8].checksum, "1");
  EXPECT_EQ(run->leaves[9].statistics[0].text(), "[0, 1]");
}

TEST(ApiRunReader, ARepeatedCallKeepsItsPlaceWithItsLastValue) {
  const auto run =
      parse(call("Torch.a.0.forward", tensor()) + "," + call("Torch.b.0.forward", tensor()) + "," +
            call("Torch.a.0.forward", "null"));
  ASSERT_TRUE(run);
  ASSERT_EQ(run->entries.size(), 2U);
  EXPECT_EQ(run->entries[0].name, "Torch.a.0.forward");
  EXPECT_TRUE(run->leaves[run->entries[0].first_leaf].missing_argument);
}

TEST(ApiRunReader, ARepeatedKeyKeepsItsLastValue) {
  const auto run = parse(
      call("Torch.a.0.forward", R"({"type": "t", "dtype": "d", "Max": 1, "Min": 2, "Max": 3})"));
  EXPECT_EQ(only_leaf(run).statistics[0].text(), "3");
}

TEST(ApiRunReader, ChecksumsMakeAChecksumRun) {
  EXPECT_EQ(parse(call("Torch.a.0.forward", tensor(R"(, "md5": "0a")")))->kind,
            graph::RunTask::checksum);
  EXPECT_EQ(parse(call("Torch.a.0.forward", tensor()))->kind, graph::RunTask::statistics);
}

TEST(ApiRunReader, EntriesWithoutDirectionAreReported) {
  const auto run = parse(call("NoDirection.x.0", tensor()));
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->leaves.empty());
  EXPECT_EQ(run->warnings.size(), 1U);
  EXPECT_EQ(parse(call("x.0.debug", tensor()), {.debug = true})->leaves.size(), 1U);
}

TEST(ApiRunReader, TextForSpreadsheetsIsRefused) {
  EXPECT_FALSE(parse(call("=cmd.0.forward", tensor())));
  EXPECT_FALSE(parse(call("Torch.a.0.forward", R"({"type": "str", "value": "a;@b"})")));
  EXPECT_FALSE(parse(call("Torch.a.0.forward", R"({"type": "t", "dtype": "d", "shape": 3})")));
  EXPECT_FALSE(parse(call("Torch.a.0.forward", R"({"type": "t", "requires_grad": 1})")));
}

TEST(ApiRunReader, EveryPrefixOfAFileIsRefusedWithAPlace) {
  const std::string whole = std::string(kHead) + call("Torch.a.0.forward", tensor()) + "}}";
  ASSERT_TRUE(parse_api_run(json_from(whole), "x"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto run = parse_api_run(json_from(whole.substr(0, size)), "x");
    ASSERT_FALSE(run) << size;
    EXPECT_TRUE(run.error().code != ErrorCode::bad_json || run.error().offset) << size;
  }
}

TEST(ApiRunReader, NestingHasALimit) {
  const std::string deep = std::string(450, '[') + "null" + std::string(450, ']');
  const auto run = parse(call("Torch.a.0.forward", deep));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::limit);
  const std::string deeper = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_FALSE(parse(call("Torch.a.0.forward", deeper)));
}

TEST(ApiRunReader, BrokenJsonIsRefused) {
  for (const char* text :
       {"", "[]", "nul", "{\"task\"}", "{\"a\": 1} x", "{\"a\": 01}", "{\"a\": +1}", "{\"a\": nan}",
        "{\"a\": 1.}", "{\"a\": [1}", "{\"a\": \"\x01\"}", "{\"a\": \"\xff\"}"}) {
    EXPECT_FALSE(parse_api_run(json_from(text), "x")) << text;
  }
}

TEST(ApiRunReader, TaskAndDataAreRequired) {
  EXPECT_FALSE(parse_api_run(json_from(R"({"data": {}})"), "x"));
  EXPECT_FALSE(parse_api_run(json_from(R"({"task": "tensor"})"), "x"));
  EXPECT_FALSE(parse_api_run(json_from(R"({"task": "tensor", "data": []})"), "x"));
}

// Escapes and other scripts survive; the name is kept outside the file.
TEST(ApiRunReader, NamesMayBeEscapedOrChinese) {
  const auto run = parse(call("Torch.\\u5377\\u79ef.0.forward", tensor()) + "," +
                         call("Torch.卷积.1.forward", tensor()));
  ASSERT_TRUE(run);
  EXPECT_EQ(run->leaves[0].name, "Torch.卷积.0.forward.input.0");
  EXPECT_EQ(run->leaves[1].name, "Torch.卷积.1.forward.input.0");
}

}  // namespace opdrift::io
