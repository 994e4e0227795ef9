#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "dump_folders.hpp"

#include "opdrift/pipeline/network/batch.hpp"
#include "opdrift/pipeline/network/compare.hpp"
#include "opdrift/pipeline/network/report.hpp"

namespace opdrift::pipeline {
namespace {

const std::vector<float> kValues = {1, 2, 3, 4};
const std::vector<float> kOther = {1, 2, 3, 5};

/// Two folders and a graph, with the options to compare them.
struct Net {
  TestFolder folder;
  std::string target = folder.sub("npu");
  std::string golden = folder.sub("golden");
  NetworkOptions options;

  explicit Net(const GraphJson& graph) { options.graph_json = folder.file("g.json", graph.text()); }
  Net() = default;

  NetworkResult compare() {
    options.target_path = target;
    options.golden_path = golden;
    auto result = compare_network(options);
    EXPECT_TRUE(result.has_value()) << (result.has_value() ? "" : result.error().to_string());
    return result.has_value() ? *std::move(result) : NetworkResult{};
  }
};

std::vector<std::string> labels(const NetworkResult& result) {
  std::vector<std::string> names;
  for (const NetworkRow& row : result.rows) {
    names.push_back(row.whole_operator ? "(" + row.target_names + ")" : row.label());
  }
  return names;
}

const NetworkRow& row_of(const NetworkResult& result, const std::string& label) {
  for (const NetworkRow& row : result.rows) {
    if (row.label() == label) {
      return row;
    }
  }
  ADD_FAILURE() << "no row " << label;
  return result.rows.front();
}

std::string dump_name(const std::string& type, const std::string& name, int time) {
  return type + "." + name + ".1.1." + std::to_string(1700000000000000LL + time);
}

/// data -> a -> b, with goldens of all three.
Net chain() {
  Net net(GraphJson().plain("data", {}, "Data").plain("a", {"data:0"}).plain("b", {"a:0"}));
  write_device_dump(net.target, dump_name("Data", "data", 1), {{true, kValues, {}}});
  write_device_dump(net.target, dump_name("Add", "a", 2),
                    {{false, kValues, {}}, {true, kOther, {}}});
  write_device_dump(net.target, dump_name("Add", "b", 3),
                    {{false, kOther, {}}, {true, kValues, {}}});
  for (const char* name : {"data", "a", "b"}) {
    write_array(net.golden, std::string(name) + ".0.1700000000000000.npy", kValues);
  }
  return net;
}

TEST(NetworkCompare, InputsThenOutputsInGroupOrder) {
  Net net = chain();
  const NetworkResult result = net.compare();
  EXPECT_EQ(labels(result), (std::vector<std::string>{"data:output:0", "a:input:0", "a:output:0",
                                                      "b:input:0", "b:output:0"}));
  EXPECT_EQ(row_of(result, "data:output:0").state, RowState::equal);
  EXPECT_EQ(row_of(result, "a:output:0").state, RowState::compared);
  EXPECT_EQ(row_of(result, "b:input:0").golden_tensor, "a:0");
  EXPECT_DOUBLE_EQ(row_of(result, "a:output:0").measurement->max_abs.value, 1.0);
  EXPECT_TRUE(result.failures.empty());
  EXPECT_EQ(result.network_inputs, (std::vector<std::string>{"data"}));
}

TEST(NetworkCompare, ThreadsDoNotChangeTheTable) {
  Net net = chain();
  std::string first;
  for (const std::size_t jobs : {1U, 2U, 7U}) {
    net.options.jobs = jobs;
    net.options.algorithms = {"CosineSimilarity", "MaxAbsoluteError"};
    const MsaccucmpTable table = msaccucmp_table(net.compare(), {});
    const std::string text = report::render_msaccucmp(table.columns, table.rows);
    first = first.empty() ? text : first;
    EXPECT_EQ(text, first);
  }
}

TEST(NetworkCompare, EveryFileAndTensorIsInTheLedgerOnce) {
  Net net = chain();
  write_device_dump(net.target, dump_name("Add", "a", 1), {{true, kValues, {}}});  // older
  write_device_dump(net.target, dump_name("Add", "stranger", 9), {{true, kValues, {}}});
  write_array(net.golden, "unused.0.1700000000000000.npy", kValues);
  std::ofstream(net.golden + "/notes.txt") << "x";
  const NetworkResult result = net.compare();
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> files;
  for (const verdict::LedgerEntry& entry : result.ledger) {
    EXPECT_TRUE(seen.insert({entry.path, entry.tensor}).second) << entry.path << entry.tensor;
    files.insert(entry.path);
  }
  EXPECT_EQ(files.size(), 5u + 5u);
  const auto state_of = [&result](const std::string& part) {
    for (const verdict::LedgerEntry& entry : result.ledger) {
      if (entry.path.find(part) != std::string::npos) {
        return entry.state;
      }
    }
    return verdict::LedgerState::skipped;
  };
  EXPECT_EQ(state_of("stranger"), verdict::LedgerState::unmatched);
  EXPECT_EQ(state_of("unused"), verdict::LedgerState::unmatched);
  EXPECT_EQ(state_of("notes.txt"), verdict::LedgerState::ignored);
  EXPECT_EQ(state_of(dump_name("Add", "a", 1)), verdict::LedgerState::superseded);
}

TEST(NetworkCompare, OneBrokenFileIsOneRow) {
  Net net = chain();
  std::ofstream(net.target + "/" + dump_name("Add", "a", 2), std::ios::binary) << "broken file!!!";
  std::ofstream(net.golden + "/b.0.1700000000000000.npy", std::ios::binary) << "no array";
  const NetworkResult result = net.compare();
  EXPECT_EQ(labels(result),
            (std::vector<std::string>{"data:output:0", "(a)", "b:input:0", "b:output:0"}));
  EXPECT_EQ(result.rows[1].state, RowState::unreadable);
  EXPECT_EQ(row_of(result, "b:output:0").state, RowState::unreadable);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].operator_name, "a");
}

TEST(NetworkCompare, CancelledRunsKeepWhatWasDone) {
  Net net = chain();
  CancelFlag cancel;
  cancel.cancel();
  net.options.cancel = &cancel;
  const NetworkResult result = net.compare();
  EXPECT_TRUE(result.interrupted);
}

TEST(NetworkCompare, L1FusionComparesTheYoungestDump) {
  const std::string l1 = R"(,{"key":"_L1_fusion_sub_graph_no","value":{"s":"3"}})";
  GraphJson graph;
  graph.op("p", "A", {}, "\"orig\"", "orig", l1).op("q", "A", {"p:0"}, "\"orig\"", "orig", l1);
  Net net(graph);
  write_device_dump(net.target, dump_name("A", "p", 1), {{true, kOther, {}}});
  write_device_dump(net.target, dump_name("A", "q", 2), {{true, kValues, {}}});
  write_array(net.golden, "orig.0.1700000000000000.npy", kValues);
  const NetworkResult result = net.compare();
  EXPECT_EQ(labels(result), (std::vector<std::string>{"q:output:0"}));
  EXPECT_EQ(result.rows[0].target_names, "p,q");
  EXPECT_EQ(result.rows[0].state, RowState::equal);
}

TEST(NetworkCompare, L1FusionWithoutDumpGivesOneEmptyRow) {
  const std::string l1 = R"(,{"key":"_L1_fusion_sub_graph_no","value":{"s":"3"}})";
  GraphJson graph;
  graph.op("p", "A", {}, "\"p\"", "p", l1).op("q", "A", {}, "\"q\"", "q", l1).plain("z", {});
  Net net(graph);
  write_device_dump(net.target, dump_name("A", "z", 1), {{true, kOther, {}}});
  write_array(net.golden, "z.0.1700000000000000.npy", kValues);
  const NetworkResult result = net.compare();
  EXPECT_EQ(labels(result), (std::vector<std::string>{"(p,q)", "z:output:0"}));
  EXPECT_FALSE(result.rows[0].reason.empty());
}

/// Two builds of one model with padding operators the other build does not have.
Net two_builds() {
  GraphJson fused;
  fused.plain("data", {}, "Data");
  fused.op("pad1", "Pad", {"data:0"}, "", "");
  fused.op("conv", "Conv", {"pad1:0"}, "\"c\",\"r\"", "r");
  fused.op("pad2", "Pad", {"conv:0"}, "", "");
  Net net(fused);
  GraphJson unfused;
  unfused.plain("data", {}, "Data");
  unfused.op("c_off", "Conv", {}, "\"c\"", "c").op("r_off", "Relu", {}, "\"r\"", "r");
  net.options.close_fusion_json = net.folder.file("cf.json", unfused.text());
  for (const char* name : {"data", "pad1", "conv", "pad2"}) {
    write_device_dump(net.target, dump_name("X", name, 1), {{true, kValues, {}}});
  }
  for (const char* name : {"data", "c_off", "r_off"}) {
    write_device_dump(net.golden, dump_name("X", name, 1), {{true, kValues, {}}});
  }
  return net;
}

TEST(NetworkCompare, CloseFusionKeepsAllOperatorsUnlessAsTheReference) {
  Net net = two_builds();
  const NetworkResult own = net.compare();
  EXPECT_EQ(labels(own), (std::vector<std::string>{"data:output:0", "pad1:output:0",
                                                   "conv:output:0", "pad2:output:0"}));
  EXPECT_EQ(row_of(own, "conv:output:0").golden_tensor, "r_off:0");
  EXPECT_EQ(row_of(own, "conv:output:0").golden_names, "c_off,r_off");
  net.options.reference = true;
  EXPECT_EQ(labels(net.compare()),
            (std::vector<std::string>{"data:output:0", "conv:output:0", "pad2:output:0"}));
}

TEST(NetworkCompare, WithoutGraphOperatorsPairByName) {
  Net net;
  write_device_dump(net.target, dump_name("Add", "late", 9), {{true, kValues, {}}});
  write_device_dump(net.target, dump_name("Add", "early", 1), {{true, kOther, {}}});
  write_device_dump(net.target, dump_name("Add", "mine", 5), {{true, kOther, {}}});
  write_device_dump(net.golden, dump_name("Add", "late", 1), {{true, kValues, {}}});
  write_device_dump(net.golden, dump_name("Add", "early", 2), {{true, kValues, {}}});
  write_device_dump(net.golden, dump_name("Add", "other", 3), {{true, kValues, {2, 2}}});
  const NetworkResult result = net.compare();
  EXPECT_EQ(labels(result),
            (std::vector<std::string>{"early:output:0", "(mine)", "late:output:0", "(*)"}));
  EXPECT_EQ(result.rows[1].golden_names, "*");
  EXPECT_EQ(result.rows[3].golden_names, "other");
  EXPECT_EQ(result.rows[0].operator_type, "Add");
  ASSERT_EQ(result.failures.size(), 2u);
  EXPECT_EQ(result.failures[0].error.code, ErrorCode::not_found);
}

TEST(NetworkCompare, HalvesThatDoNotFitAreLeftOut) {
  Net net;
  write_device_dump(net.target, dump_name("Add", "a", 1),
                    {{false, kValues, {}}, {false, kValues, {}}, {true, kValues, {}}});
  write_device_dump(net.golden, dump_name("Add", "a", 1),
                    {{false, kValues, {}}, {true, kValues, {}}});
  write_device_dump(net.target, dump_name("Add", "b", 2), {{true, kValues, {4}}});
  write_device_dump(net.golden, dump_name("Add", "b", 2), {{true, kValues, {2, 2}}});
  const NetworkResult result = net.compare();
  EXPECT_EQ(labels(result), (std::vector<std::string>{"a:output:0", "(b)"}));
  EXPECT_TRUE(result.rows[1].halves_failed);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].error.code, ErrorCode::malformed);
}

TEST(NetworkCompare, CombinationsOfKindsAreChecked) {
  Net net = chain();
  net.options.target_path = net.target;
  net.options.golden_path = net.golden;
  NetworkOptions without_graph = net.options;
  without_graph.graph_json.clear();
  EXPECT_EQ(compare_network(without_graph).error().code, ErrorCode::invalid_argument);
  NetworkOptions swapped = net.options;
  std::swap(swapped.target_path, swapped.golden_path);
  EXPECT_EQ(compare_network(swapped).error().code, ErrorCode::bad_combination);
  NetworkOptions with_close = net.options;
  with_close.close_fusion_json = net.options.graph_json;
  EXPECT_EQ(compare_network(with_close).error().code, ErrorCode::invalid_argument);
}

TEST(NetworkCompare, RangeChoosesGroupsAndShowsIds) {
  Net net = chain();
  net.options.range = "2,3,1";
  const NetworkResult result = net.compare();
  EXPECT_EQ(labels(result).front(), "a:input:0");
  EXPECT_EQ(result.rows.front().sequence, 2);
  EXPECT_EQ(result.rows.front().index, 1u);
}

TEST(NetworkCompare, SlicesOfOneOperatorAreJoinedAndInputsTakeTheProducersNumbers) {
  Net net(GraphJson().plain("a", {}).plain("b", {"a:0"}));
  const std::string slices =
      R"({"threadMode":true,"slice_instance_num":2,"outputCutList":[[2]],)"
      R"("input_tensor_slice":[[[{"lower":0,"higher":2}]],[[{"lower":2,"higher":4}]]],)"
      R"("output_tensor_slice":[[[{"lower":0,"higher":2}]],[[{"lower":2,"higher":4}]]]})";
  for (const int thread : {0, 1}) {
    const std::vector<float> part = {kValues[static_cast<std::size_t>(2 * thread)],
                                     kValues[static_cast<std::size_t>(2 * thread + 1)]};
    const std::string tail = ".4.0." + std::to_string(thread) + ".0";
    write_device_dump(net.target, dump_name("Add", "a", 1) + tail, {{true, part, {4}}}, slices);
    write_device_dump(net.target, dump_name("Add", "b", 2) + tail,
                      {{false, part, {4}}, {true, part, {4}}}, slices);
  }
  write_array(net.golden, "a.0.1700000000000000.npy", kValues);
  write_array(net.golden, "b.0.1700000000000000.npy", kValues);
  const NetworkResult result = net.compare();
  EXPECT_EQ(labels(result), (std::vector<std::string>{"a:output:0", "b:input:0", "b:output:0"}));
  for (const NetworkRow& row : result.rows) {
    EXPECT_EQ(row.state, RowState::equal) << row.label() << " " << row.reason;
    EXPECT_EQ(row.measurement->count, 4u);
  }
}

TEST(NetworkCompare, MappingMeasuresNothing) {
  Net net = chain();
  net.options.mapping_only = true;
  const NetworkResult result = net.compare();
  for (const NetworkRow& row : result.rows) {
    EXPECT_FALSE(row.measurement.has_value());
  }
  const auto mapping = msaccucmp_mapping(result);
  EXPECT_EQ(mapping[1].target_path, net.target + "/" + dump_name("Add", "a", 2));
  EXPECT_EQ(mapping[1].golden_path, net.golden + "/data.0.1700000000000000.npy");
}

TEST(NetworkBatch, TakesTheLargestStepAndMatchesByNumber) {
  TestFolder folder;
  const std::string graphs = folder.sub("graphs");
  std::ofstream(graphs + "/a.json") << GraphJson().plain("x", {}).text("ge_1_71");
  std::ofstream(graphs + "/b.json") << GraphJson().plain("x", {}).text("ge_2_73");
  for (const char* step : {"m/20260101000001/0/ge_1_71/5/9", "m/20260101000001/0/ge_1_71/5/10",
                           "m/20260101000001/0/other_7_73/5/0"}) {
    folder.sub(step);
  }
  const auto batch = find_batch(folder.sub("m/20260101000001"), graphs);
  ASSERT_TRUE(batch.has_value()) << batch.error().to_string();
  ASSERT_EQ(batch->items.size(), 2u);
  EXPECT_EQ(batch->items[0].result_prefix, "0_ge_1_71_9_");
  EXPECT_EQ(batch->items[1].result_prefix, "0_other_7_73_0_");
  EXPECT_EQ(batch->warnings.size(), 1u);
  EXPECT_EQ(find_batch(folder.sub("m"), graphs).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace opdrift::pipeline
