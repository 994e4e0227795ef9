#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/pipeline/msprobe/api_compare.hpp"
#include "opdrift/pipeline/msprobe/classic_colours.hpp"
#include "opdrift/pipeline/msprobe/comm_graph.hpp"
#include "opdrift/pipeline/msprobe/merge_results.hpp"
#include "opdrift/pipeline/msprobe/table_file.hpp"
#include "opdrift/pipeline/msprobe/torchair_folders.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;
using io::testing::content_of;
using io::testing::TempFolder;

std::string touch(const TempFolder& folder, const std::string& path,
                  const std::string& content = "x") {
  fs::create_directories(fs::path(folder / path).parent_path());
  return folder.file(path, content);
}

RankCall call(const std::string& name, bool differs, std::vector<long long> partners = {}) {
  RankCall one;
  one.name = name;
  one.differs = differs;
  one.partners = std::move(partners);
  return one;
}

std::string tensor(double max) {
  return R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": )" +
         std::to_string(max) + R"(, "Min": 0.0, "Mean": 1.0, "Norm": 1.0, "requires_grad": false})";
}

std::string run_json(double max) {
  return R"({"task": "statistics", "level": "mix", "framework": "pytorch", "data": {)"
         R"("Torch.add.0.forward": {"input_args": [)" +
         tensor(max) + R"(], "output": [)" + tensor(max) + "]}}}";
}

}  // namespace

// 2,500,000 rows: three files, the header in each.
TEST(TableFile, LongTablesAreCut) {
  const TempFolder folder;
  TableSpec spec;
  spec.stem = folder / "t";
  spec.columns = {"n"};
  spec.rows = 2'500'000;
  const auto files =
      write_table(spec, even_cuts(spec.rows, 100'000),
                  [](std::uint64_t first, std::uint64_t count, report::CellBlock& block) -> Status {
                    for (std::uint64_t i = first; i < first + count; ++i) {
                      block.text(std::to_string(i));
                    }
                    return Unit{};
                  });
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 3U);
  EXPECT_TRUE(files->at(1).ends_with("t_part_2.csv"));
  EXPECT_TRUE(content_of(files->at(1)).starts_with("n\n1000000\n"));
}

TEST(TableFile, FormulasStopTheTable) {
  const TempFolder folder;
  TableSpec spec;
  spec.stem = folder / "t";
  spec.columns = {"n"};
  spec.rows = 1;
  const auto files = write_table(
      spec, even_cuts(1, 1), [](std::uint64_t, std::uint64_t, report::CellBlock& block) -> Status {
        block.text("=1");
        return Unit{};
      });
  EXPECT_FALSE(files);
  EXPECT_TRUE(folder.names().empty());
}

TEST(CommGraph, TheStageInFrontOfCommunicationComesFirst) {
  const std::vector<RankCalls> ranks = {
      {0,
       {call("Torch.a.0.forward", true), call("Distributed.all_reduce.0.forward", false),
        call("Torch.b.0.forward", true)}}};
  EXPECT_EQ(find_differences(ranks, DiffStage::before).front().call, 0U);
  EXPECT_EQ(find_differences(ranks, DiffStage::after).front().call, 2U);
}

// Rank 1 differs between its first and second communication, rank 0 only behind its second: the
// former has the smaller layer.
TEST(CommGraph, TheSmallestLayerIsReported) {
  const std::vector<RankCalls> ranks = {
      {0,
       {call("Distributed.all_reduce.0.forward", false, {0, 1}),
        call("Distributed.all_reduce.1.forward", false, {0, 1}), call("Torch.x.0.forward", true),
        call("Distributed.all_reduce.2.forward", true, {0, 1})}},
      {1,
       {call("Distributed.all_reduce.0.forward", false, {0, 1}), call("Torch.y.0.forward", true),
        call("Distributed.all_reduce.1.forward", true, {0, 1})}}};
  const auto hits = find_differences(ranks, DiffStage::between);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].rank, 1U);
  EXPECT_EQ(hits[0].call, 1U);
}

TEST(CommGraph, NamesTellCommunication) {
  EXPECT_TRUE(is_communication("Distributed.all_reduce.0.forward"));
  EXPECT_TRUE(is_communication("MintDistributed.isend.0.forward"));
  EXPECT_FALSE(is_communication("Distributed.barrier.0.forward"));
  EXPECT_FALSE(is_communication("Torch.gather.0.forward"));
  EXPECT_TRUE(is_ignored_call("Torch.empty_like.0.forward"));
}

TEST(TorchairFolders, NamesMayHoldDotsAndLargerFilesWin) {
  const TempFolder folder;
  const std::string base = "worldsize1_global_rank0/20240101000000/0/graph/7/3/";
  touch(folder, base + "Add.a.b/");
  fs::remove(folder / (base + "Add.a.b"));
  touch(folder, base + "Add.scope.add_1.10.2.170", "xx");
  touch(folder, base + "Add.scope.add_1.11.2.171", "x");
  touch(folder, base + "Mul.mul_min_max.12.2.172_min_max.npz");
  touch(folder, base + "tooshort.1.2");
  std::vector<std::string> warnings;
  const auto groups =
      scan_ge(folder / "worldsize1_global_rank0",
              [&](RunLogLevel, std::string_view text) { warnings.emplace_back(text); });
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].size(), 1U);
  EXPECT_EQ(groups[0][0].id, 3U);
  ASSERT_EQ(groups[0][0].files.size(), 2U);
  EXPECT_EQ(groups[0][0].files[0].name, "scope.add_1");
  EXPECT_TRUE(groups[0][0].files[0].path.ends_with(".170"));
  EXPECT_TRUE(groups[0][0].files[1].reduced);
  EXPECT_EQ(groups[0][0].files[1].name, "mul_min_max");
  EXPECT_EQ(warnings.size(), 2U);
}

// Releases before 7.1.0 number tokens from 1 and have no rank folders.
TEST(TorchairFolders, OldTokensAreOneLess) {
  const TempFolder folder;
  for (const char* token : {"1", "2"}) {
    touch(folder,
          std::string("data_dump/") + token + "/gm_1_dump/mm-aten.mm.default.INPUT.10.1.npy");
    touch(folder,
          std::string("data_dump/") + token + "/gm_1_dump/mm-aten.mm.default.INPUT.2.1.npy");
  }
  const auto groups = scan_fx(folder.path(), false, {});
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].size(), 2U);
  EXPECT_EQ(groups[0][1].id, 1U);
  const FxNode& node = groups[0][0].nodes.at("mm-aten.mm.default");
  EXPECT_EQ(node.inputs.begin()->first, 2U);
  EXPECT_EQ(node.inputs.size(), 2U);
}

TEST(TorchairFolders, NewTokensKeepTheirNumber) {
  const TempFolder folder;
  touch(folder, "graph_1/0/a-b.OUTPUT.0.1.npy");
  touch(folder, "graph_1/5/a-b.OUTPUT.0.1.npy");
  const auto groups = scan_fx(folder.path(), true, {});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0][1].id, 5U);
}

TEST(ApiCompare, RankFoldersAreSortedByNumber) {
  const TempFolder folder;
  for (const char* name : {"rank10", "rank2", "rank02", "rank", "rankx", "other"}) {
    fs::create_directories(folder / name);
  }
  std::vector<std::string> names;
  for (const RankFolder& rank : rank_folders(folder.path())) {
    names.push_back(rank.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"rank", "rank2", "rank10"}));
}

TEST(ApiCompare, AllCommonStepsAreCompared) {
  const TempFolder folder;
  for (const char* step : {"step0", "step2"}) {
    touch(folder, std::string("t/") + step + "/rank0/dump.json", run_json(1.0));
    touch(folder, std::string("g/") + step + "/rank0/dump.json", run_json(2.0));
  }
  touch(folder, "t/step9/rank0/dump.json", run_json(1.0));
  ApiCompareOptions options;
  options.target_path = folder / "t";
  options.golden_path = folder / "g";
  options.output_folder = folder / "out";
  const auto outcome = compare_api_runs(options);
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_EQ(outcome->files.size(), 2U);
  EXPECT_NE(outcome->files[1].find("/step2/compare_result_rank0_"), std::string::npos);
}

TEST(ApiCompare, FoldersWithoutRanksSayWhatWasLookedFor) {
  const TempFolder folder;
  fs::create_directories(folder / "t");
  fs::create_directories(folder / "g");
  ApiCompareOptions options;
  options.target_path = folder / "t";
  options.golden_path = folder / "g";
  options.output_folder = folder / "out";
  const auto outcome = compare_api_runs(options);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("rank<number>"), std::string::npos);
}

TEST(ClassicColours, GrowthBesideAnInputIsYellowAndRed) {
  graph::ApiLeaf leaf;
  leaf.name = "T.a.0.forward.output.0";
  leaf.statistics.fill(graph::ApiValue::of("1.0", graph::ApiValue::Kind::real));
  std::vector<ClassicRow> rows(2);
  rows[0].target = rows[0].golden = rows[1].target = rows[1].golden = &leaf;
  rows[1].output = true;
  rows[0].max_error = 2.0;
  rows[1].max_error = 30.0;
  EXPECT_EQ(classic_colour(rows, 1, false).colour, report::RowColour::yellow);
  rows[1].max_relative = 0.6;
  EXPECT_EQ(classic_colour(rows, 1, false).colour, report::RowColour::red);
  EXPECT_EQ(classic_colour(rows, 0, false).colour, report::RowColour::none);
}

TEST(MergeResults, NeedsTwoRanksWithProperNames) {
  const TempFolder folder;
  touch(folder, "in/compare_result_rank0_20240101000000.xlsx");
  MergeOptions options;
  options.input_folder = folder / "in";
  options.output_folder = folder / "out";
  options.config_path = folder.file("c.yaml", "api:\n- Torch\n");
  EXPECT_EQ(merge_results(options).error().code, ErrorCode::not_found);
  touch(folder, "in/other.xlsx");
  EXPECT_EQ(merge_results(options).error().code, ErrorCode::bad_name);
}

}  // namespace opdrift::pipeline
