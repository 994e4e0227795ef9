#include "opdrift/engine/surgery/instrument_file.hpp"

#include <filesystem>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opdrift/engine/dump_names.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;

constexpr std::uint64_t kMaxInlineBytes = 2'000'000'000;

std::string names_csv(const onnx::Graph& graph) {
  std::string text = "tensor,node,index,file stem\n";
  DumpNames names(0);
  for (const onnx::Node& node : graph.nodes) {
    const std::string stem = names.claim_stem(node.name);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) {
        text += csv_cell(node.outputs[i]) + "," + csv_cell(node.name) + "," + std::to_string(i) +
                "," + csv_cell(stem) + "\n";
      }
    }
  }
  return text;
}

/// The outputs of all nodes as graph outputs; returns how many have a type.
std::size_t expose_all(onnx::Model& model, const std::vector<std::string>& values, bool typed) {
  std::unordered_map<std::string, onnx::ValueInfo> stated;
  for (const auto* infos : {&model.graph.outputs, &model.graph.value_infos}) {
    for (const onnx::ValueInfo& info : *infos) {
      stated.emplace(info.name, info);
    }
  }
  expose(model, values);
  std::size_t known = 0;
  for (onnx::ValueInfo& output : model.graph.outputs) {
    const auto found = stated.find(output.name);
    if (typed && found != stated.end()) {
      output = found->second;
      ++known;
    }
  }
  return known;
}

}  // namespace

Result<InstrumentReport> instrument_file(const std::string& model, const std::string& output,
                                         bool typed) {
  std::error_code ignored;
  if (std::filesystem::equivalent(model, output, ignored)) {
    return Error{ErrorCode::invalid_argument, "the model and the new model are one file", output};
  }
  OPDRIFT_TRY(onnx::Model opened, onnx::open_model(model));
  InstrumentReport report;
  report.operators = opened.graph.nodes.size();
  report.named = name_nodes(opened);
  std::vector<std::string> values;
  for (const NodeOutput& value : node_outputs(opened.graph)) {
    values.push_back(value.tensor);
  }
  report.outputs = values.size();
  report.typed = expose_all(opened, values, typed);
  const std::string csv = names_csv(opened.graph);
  OPDRIFT_TRY(report.saved, save_part(output, {std::move(opened), onnx::folder_of_model(model)},
                                      {.max_inline_bytes = kMaxInlineBytes}));
  report.names_file = std::string(io::folder_of(output)) + "names.csv";
  OPDRIFT_CHECK_OK(io::write_file(report.names_file, csv));
  return report;
}

}  // namespace opdrift::engine
