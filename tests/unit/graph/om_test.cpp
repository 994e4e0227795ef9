#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "om_testing.hpp"

#include "opdrift/base/protobuf_cursor.hpp"
#include "opdrift/graph/graph_file.hpp"
#include "opdrift/graph/om/container.hpp"
#include "opdrift/graph/om/inout_info.hpp"
#include "opdrift/graph/om/model_file.hpp"
#include "opdrift/graph/om/model_graph.hpp"

namespace opdrift::graph {
namespace {

using testing::fixtures_of;
using testing::fs::path;

// Expected values: the .expect.json beside each file.
TEST(OmContainer, ReadsHeaderAndPartitionsOfTheSharedFiles) {
  const path folder = fixtures_of("om");
  if (folder.empty()) {
    GTEST_SKIP() << "no fixtures of om";
  }
  std::size_t compared = 0;
  for (const auto& entry : testing::fs::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    const path expect = folder / (stem + ".expect.json");
    if (entry.path().extension() != ".om" || !exists(expect)) {
      continue;
    }
    const nlohmann::json wanted = testing::read_json(expect);
    const auto file = open_om(entry.path().string());
    ASSERT_TRUE(file.has_value()) << file.error().to_string();
    EXPECT_EQ(file->header.model_type, wanted["model_type"]) << stem;
    if (!wanted.contains("partitions")) {
      continue;
    }
    EXPECT_EQ(file->header.version, wanted["version"]) << stem;
    EXPECT_EQ(file->header.name, wanted["name"]) << stem;
    EXPECT_EQ(file->entry_bytes(), wanted["table_entry_bytes"]) << stem;
    EXPECT_EQ(file->header.model_length, wanted["model_length"]) << stem;
    EXPECT_EQ(file->header.length, wanted["length"]) << stem;
    ASSERT_EQ(file->partitions.size(), wanted["partitions"].size()) << stem;
    for (std::size_t i = 0; i < file->partitions.size(); ++i) {
      const OmPartition& found = file->partitions[i];
      const nlohmann::json& partition = wanted["partitions"][i];
      EXPECT_EQ(found.table, partition["table"]) << stem;
      EXPECT_EQ(found.type, partition["type"]) << stem;
      EXPECT_EQ(partition_name(found.type, file->header.mobile), partition["type_name"]) << stem;
      EXPECT_EQ(found.offset, partition["file_offset"]) << stem;
      EXPECT_EQ(found.size, partition["size"]) << stem;
    }
    ++compared;
  }
  EXPECT_GT(compared, 3u);
}

TEST(GraphFile, RefusesTheDamagedSharedFilesInOneLine) {
  const path folder = fixtures_of("om");
  if (folder.empty()) {
    GTEST_SKIP() << "no fixtures of om";
  }
  const nlohmann::json reasons = testing::read_json(folder / "bad.json");
  for (const auto& [name, reason] : reasons.items()) {
    const path file = folder / name;
    if (!exists(file)) {
      continue;
    }
    const auto graph = read_graph_file(file.string());
    ASSERT_FALSE(graph.has_value()) << name << ": " << reason;
    EXPECT_EQ(graph.error().to_string().find('\n'), std::string::npos);
    EXPECT_EQ(graph.error().path, file.string());
  }
}

// The graph of an offline model and that of its JSON rendering, every field of it.
TEST(GraphFile, OfflineModelAndItsJsonGiveTheSameGraph) {
  const path folder = fixtures_of("om");
  if (folder.empty()) {
    GTEST_SKIP() << "no fixtures of om";
  }
  std::size_t compared = 0;
  for (const auto& entry : testing::fs::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    const path expect = folder / (stem + ".expect.json");
    if (entry.path().extension() != ".om" || !exists(expect)) {
      continue;
    }
    const nlohmann::json wanted = testing::read_json(expect);
    const auto models = wanted.value("models", nlohmann::json::array());
    for (const nlohmann::json& model : models) {
      path json_file;
      if (model.contains("json_equals")) {
        json_file = folder / model["json_equals"].get<std::string>();
      } else if (model.contains("json")) {
        json_file = path(::testing::TempDir()) / (stem + ".json");
        std::ofstream(json_file) << model["json"];
      }
      if (json_file.empty() || !exists(json_file)) {
        continue;
      }
      const std::string number = std::to_string(model["table"].get<int>());
      for (const bool attributes : {false, true}) {
        const auto from_json = read_graph_file(json_file.string(), {.attributes = attributes});
        const auto from_om =
            read_graph_file(entry.path().string(), {.attributes = attributes, .model = number});
        ASSERT_TRUE(from_json.has_value()) << from_json.error().to_string();
        ASSERT_TRUE(from_om.has_value()) << from_om.error().to_string();
        const nlohmann::json difference =
            nlohmann::json::diff(testing::to_json(*from_json), testing::to_json(*from_om));
        EXPECT_TRUE(difference.empty()) << stem << " " << difference.dump().substr(0, 2000);
        EXPECT_TRUE(from_om->warnings.empty());
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 3u);
}

/// Builds offline models byte by byte.
class OmBuilder {
 public:
  struct Partition {
    std::uint32_t type;
    std::string content;
  };

  bool wide = true;
  std::uint8_t model_type = 0;
  std::uint32_t model_num = 1;
  std::uint64_t alignment = 1;
  std::string name = "made";

  void add_table(const std::vector<Partition>& partitions) {
    const std::uint64_t table_bytes =
        std::size_t{wide ? 8U : 4U} + partitions.size() * std::size_t{wide ? 24U : 12U};
    const std::uint64_t start = 256 + body_.size() + table_bytes;
    std::string table;
    put(table, partitions.size(), 4);
    put(table, 0, wide ? 4 : 0);
    std::string data;
    const auto pad = [&] {
      while ((start + data.size()) % alignment != 0) {
        data += '\0';
      }
    };
    for (const Partition& partition : partitions) {
      pad();
      // Of a bundle offsets count from the end of the header.
      const std::uint64_t offset = data.size() + (model_type == kBundleModel ? table_bytes : 0);
      put(table, partition.type, 4);
      put(table, 0, wide ? 4 : 0);
      put(table, offset, wide ? 8 : 4);
      put(table, partition.content.size(), wide ? 8 : 4);
      data += partition.content;
    }
    pad();
    body_ += table + data;
  }

  std::string file() const {
    std::string header = "IMOD";
    put(header, 256, 4);
    put(header, wide ? 0x20000000 : 0x10000000, 4);
    header.append(64, '\0');
    put(header, wide ? 0 : body_.size(), 4);
    header += {'\0', '\0', static_cast<char>(model_type), '\0'};
    header += name + std::string(32 - name.size(), '\0');
    header.append(4 + 32 + 4, '\0');
    put(header, wide ? model_num : 0, 4);
    header.append(20 + 1 + 3, '\0');
    put(header, wide ? body_.size() + (model_type == kBundleModel ? 256 : 0) : 0, 8);
    header.append(256 - header.size(), '\0');
    return header + body_;
  }

 private:
  static void put(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      out += static_cast<char>(value >> (8 * i));
    }
  }

  std::string body_;
};

/// A ModelDef with these operators in one graph.
std::string model_of(const std::vector<std::string>& operators) {
  ProtobufWriter graph;
  for (const std::string& name : operators) {
    ProtobufWriter op;
    op.text(1, name);
    op.text(2, "Relu");
    graph.message(6, op);
  }
  ProtobufWriter model;
  model.text(1, "m");
  model.message(7, graph);
  return std::string(as_text(model.view()));
}

Result<OmFile> parse(const std::string& content, bool salvage = false) {
  return parse_om(Bytes{as_bytes(content), nullptr}, "made.om", {.salvage = salvage});
}

Result<ModelFile> open_model(const std::string& content, const GraphFileOptions& options = {}) {
  return parse_model_file(Bytes{as_bytes(content), nullptr}, "made.om", options);
}

std::vector<std::string> operators_of(const Result<ModelFile>& file) {
  std::vector<std::string> names;
  const auto graph = file ? graph_of_model(file->model, false) : Result<Graph>(file.error());
  EXPECT_TRUE(graph.has_value()) << graph.error().to_string();
  for (std::size_t i = 0; graph && i < graph->operators.size(); ++i) {
    names.push_back(graph->operators[i].name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(OmContainer, SeveralTablesFollowEachOtherAlsoWhenAligned) {
  for (const std::uint64_t alignment : {std::uint64_t{1}, std::uint64_t{32}}) {
    OmBuilder builder;
    builder.model_num = 2;
    builder.alignment = alignment;
    builder.add_table({{0, model_of({"root"})}, {1, std::string(13, 'w')}});
    builder.add_table({{0, model_of({"inner"})}, {2, "task"}});
    const std::string content = builder.file();
    const auto file = parse(content);
    ASSERT_TRUE(file.has_value()) << file.error().to_string();
    ASSERT_EQ(file->models.size(), 2u);
    EXPECT_EQ(file->partitions[3].table, 1u);
    EXPECT_EQ(operators_of(open_model(content)), Names{"root"});
    EXPECT_EQ(operators_of(open_model(content, {.model = "1"})), Names{"inner"});
  }
}

TEST(OmContainer, DescriptionLiesInTheFileItself) {
  OmBuilder builder;
  builder.wide = false;
  builder.add_table({{1, std::string(1000, 'w')}, {0, model_of({"a"})}});
  const std::string content = builder.file();
  const auto file = parse(content);
  ASSERT_TRUE(file.has_value()) << file.error().to_string();
  EXPECT_EQ(as_text(file->models[0].model_def).data(), content.data() + file->partitions[1].offset);
}

std::string bundle_of(const std::vector<std::string>& files) {
  OmBuilder builder;
  builder.model_type = kBundleModel;
  std::vector<OmBuilder::Partition> partitions = {{25, std::string(8, '\0')}};
  for (const std::string& file : files) {
    partitions.push_back({24, file});
  }
  builder.add_table(partitions);
  return builder.file();
}

std::string named_model(const std::string& name) {
  OmBuilder builder;
  builder.name = name;
  builder.add_table({{0, model_of({name + "_op"})}});
  return builder.file();
}

TEST(OmContainer, BundleOfOneNeedsNoChoice) {
  EXPECT_EQ(operators_of(open_model(bundle_of({named_model("a")}))), Names{"a_op"});
}

TEST(OmContainer, BundleOfSeveralAsksWhichOne) {
  const std::string content = bundle_of({named_model("a"), bundle_of({named_model("b")})});
  const auto unchosen = open_model(content);
  ASSERT_FALSE(unchosen.has_value());
  EXPECT_EQ(unchosen.error().code, ErrorCode::ambiguous);
  EXPECT_NE(unchosen.error().message.find("0 \"a\", 1 \"b\""), std::string::npos);
  EXPECT_EQ(operators_of(open_model(content, {.model = "b"})), Names{"b_op"});
  EXPECT_EQ(operators_of(open_model(content, {.model = "0"})), Names{"a_op"});
  EXPECT_FALSE(open_model(content, {.model = "c"}).has_value());
}

TEST(OmContainer, BundlesInsideEachOtherHaveALimit) {
  std::string content = named_model("a");
  for (int i = 0; i < 4; ++i) {
    content = bundle_of({content});
  }
  EXPECT_EQ(operators_of(open_model(content)), Names{"a_op"});
  EXPECT_EQ(parse(bundle_of({content})).error().code, ErrorCode::limit);
}

TEST(OmContainer, CutFileIsRefusedButCanBeSalvaged) {
  OmBuilder builder;
  builder.add_table({{0, model_of({"first", "second", "third_with_a_long_name"})}, {1, "weights"}});
  std::string content = builder.file();
  content.resize(content.size() - 20);
  const auto refused = open_model(content);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::truncated);
  const auto saved = open_model(content, {.salvage = true});
  EXPECT_EQ(operators_of(saved), (Names{"first", "second"}));
  EXPECT_FALSE(saved->warnings().empty());
}

TEST(OmContainer, DamageInsideAnOperatorCostsThatOneAndTheRest) {
  std::string model = model_of({"first", "second", "third"});
  // The length of the second operator's name now passes the operator's end.
  model[model.find("second") - 1] = '\x7f';
  OmBuilder builder;
  builder.add_table({{0, model}});
  EXPECT_FALSE(open_model(builder.file()).has_value());
  EXPECT_EQ(operators_of(open_model(builder.file(), {.salvage = true})), Names{"first"});
}

TEST(GraphFile, TellsKindsByContent) {
  const auto kind_of = [](std::string_view text) { return graph_file_kind(as_bytes(text)); };
  EXPECT_EQ(kind_of("IMOD...."), GraphFileKind::offline_model);
  EXPECT_EQ(kind_of("\xEF\xBB\xBF \n{\"graph\""), GraphFileKind::atc_json);
  EXPECT_EQ(kind_of("# made\nname: \"g\""), GraphFileKind::ge_text);
  EXPECT_EQ(kind_of("graph {"), GraphFileKind::ge_text);
  EXPECT_EQ(kind_of("PK\x03\x04"), GraphFileKind::zip);
  EXPECT_EQ(kind_of("\x08\x08\x12\x07pytorch"), GraphFileKind::unknown);
  EXPECT_EQ(kind_of("no graph at all"), GraphFileKind::unknown);
  EXPECT_EQ(kind_of(""), GraphFileKind::unknown);
}

TEST(GraphFile, ZipArchivesAreNotReadHere) {
  const auto graph = open_model("PK\x03\x04 and more");
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().code, ErrorCode::unsupported);
  EXPECT_NE(graph.error().message.find("zip archive"), std::string::npos);
}

// A text graph and its JSON rendering, written by hand, give the same graph.
TEST(GraphFile, TextGraphAndJsonGiveTheSameGraph) {
  const path folder = path(::testing::TempDir());
  const path text = folder / "ge_proto_00000001_Build.txt";
  std::ofstream(text) << R"(name: "m"
graph { name: "g"
  op { name: "层" type: "Relu" id: 4 input: "x:0" input: "y:-1"
    attr { key: "_datadump_original_op_names" value { list { s: "a" s: "b" val_type: VT_LIST_STRING } } }
    attr { key: "alpha" value { f: 0.1 } }
    input_desc { dtype: DT_FLOAT layout: "ND" shape { dim: -1 dim: 8 }
      attr { key: "shape_range" value { list_list_int {
        list_list_i { list_i: 1 list_i: 4 } list_list_i { list_i: 8 list_i: 8 } } } } }
    output_desc { dtype: DT_FLOAT16 layout: "NC1HWC0" shape { dim: [1, 2] }
      attr { key: "origin_shape" value { list { i: 1 i: 2 } } }
      attr { key: "_datadump_origin_name" value { s: "\345\261\202" } } } } }
)";
  const path json = folder / "same.json";
  std::ofstream(json)
      << R"({"name":"m","graph":[{"name":"g","op":[{"name":"层","type":"Relu","id":4,
    "input":["x:0","y:-1"],"attr":[
      {"key":"alpha","value":{"f":"0.1"}},
      {"key":"_datadump_original_op_names","value":{"list":{"s":["a","b"],"val_type":"VT_LIST_STRING"}}}],
    "input_desc":[{"dtype":"DT_FLOAT","layout":"ND","shape":{"dim":[-1,8]},"attr":[{"key":"shape_range",
      "value":{"list_list_int":{"list_list_i":[{"list_i":[1,4]},{"list_i":[8,8]}]}}}]}],
    "output_desc":[{"dtype":"DT_FLOAT16","layout":"NC1HWC0","shape":{"dim":[1,2]},"attr":[
      {"key":"origin_shape","value":{"list":{"i":[1,2]}}},
      {"key":"_datadump_origin_name","value":{"s":"\\345\\261\\202"}}]}]}]}]})";
  const auto from_text = read_graph_file(text.string(), {.attributes = true});
  const auto from_json = read_graph_file(json.string(), {.attributes = true});
  ASSERT_TRUE(from_text.has_value()) << from_text.error().to_string();
  ASSERT_TRUE(from_json.has_value()) << from_json.error().to_string();
  EXPECT_EQ(testing::to_json(*from_text), testing::to_json(*from_json));
  EXPECT_EQ(from_text->operators[0].input_descs[0].ranges, (std::vector<std::int64_t>{1, 4, 8, 8}));
  EXPECT_EQ(from_text->operators[0].outputs[0].origin_name, "层");
}

/// The little-endian bytes of these numbers, the first of each pair, in as many bytes as the
/// second.
std::string bytes_of(const std::vector<std::pair<std::uint64_t, int>>& numbers) {
  std::string text;
  for (const auto& [value, bytes] : numbers) {
    for (int i = 0; i < bytes; ++i) {
      text += static_cast<char>(value >> (8 * i));
    }
  }
  return text;
}

// By hand: one FLOAT16 (1) NCHW (0) tensor "x" of [2,3], 12 bytes; gears 1 and 4.
TEST(InoutInfo, ReadsTensorsAndGears) {
  std::string tensor = bytes_of({{1, 4}, {12, 8}, {0, 4}, {1, 4}, {1, 4}, {16, 4}, {0, 4}, {0, 4}});
  tensor += "x" + bytes_of({{2, 8}, {3, 8}});
  const std::string content = bytes_of({{0, 4}, {tensor.size(), 4}}) + tensor +
                              bytes_of({{2, 4}, {20, 4}, {2, 4}, {1, 8}, {4, 8}});
  const auto info = parse_inout_info(as_bytes(content), 0);
  ASSERT_TRUE(info.has_value()) << info.error().to_string();
  ASSERT_EQ(info->inputs.size(), 1u);
  EXPECT_EQ(info->inputs[0].name, "x");
  EXPECT_EQ(info->inputs[0].dtype, "FLOAT16");
  EXPECT_EQ(info->inputs[0].format, "NCHW");
  EXPECT_EQ(info->inputs[0].bytes, 12u);
  EXPECT_EQ(info->inputs[0].dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(info->batch_gears, (std::vector<std::uint64_t>{1, 4}));
  EXPECT_FALSE(parse_inout_info(as_bytes(std::string_view(content).substr(0, 30)), 0).has_value());
}

TEST(InoutInfo, AttributesNumberTypesDifferentlyFromTheProto) {
  EXPECT_EQ(attribute_dtype_name(0), "FLOAT");
  EXPECT_EQ(proto_dtype_name(1), "FLOAT");
  EXPECT_EQ(attribute_dtype_name(9), "INT64");
  EXPECT_EQ(proto_dtype_name(8), "INT64");
  EXPECT_EQ(attribute_dtype_name(27), "BF16");
  EXPECT_EQ(attribute_dtype_name(5), "type 5");
  EXPECT_EQ(attribute_format_name(0x0303), "NC1HWC0");
}

}  // namespace
}  // namespace opdrift::graph
