#include "opdrift/diagnose/offline/golden_run.hpp"

#include <filesystem>
#include <map>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <nlohmann/json.hpp>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/engine/dump.hpp"
#include "opdrift/engine/dump_names.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/surgery/save_part.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;
namespace onnx = io::onnx;
using Json = nlohmann::json;

constexpr std::string_view kGearMark = "ascend_mbatch_batch_";
constexpr int kOnnxFloat = 1;
constexpr int kOnnxDouble = 11;

/// Links `to` to the content of `from`; a copy where links are not to be had.
Done link_or_copy(const std::string& from, const std::string& to) {
  std::error_code problem;
  fs::remove(to, problem);
  fs::create_hard_link(from, to, problem);
  if (problem) {
    fs::copy_file(from, to, problem);
  }
  if (problem) {
    return failed(Number::write_file, "cannot write: " + problem.message(), to);
  }
  return Unit{};
}

/// Every character that could mean something to an expression is taken as itself.
std::string quoted_pattern(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || static_cast<unsigned char>(c) >= 0x80;
    quoted += plain ? "" : "\\";
    quoted += c;
  }
  return quoted;
}

std::string net_output_pattern(const onnx::Model& model) {
  std::vector<std::string> names;
  for (const onnx::ValueInfo& output : model.graph.outputs) {
    names.push_back(quoted_pattern(output.name));
  }
  return "^(" + join(names, "|") + ")$";
}

/// One run from model to files.
class Golden {
 public:
  explicit Golden(const GoldenRun& run) : run_(run) {}

  Outcome<GoldenDump> make() {
    OPDRIFT_CHECK_OK(prepare());
    OPDRIFT_TRY(model_, onnx::open_model(run_.model));
    folder_ = onnx::folder_of_model(run_.model);
    OPDRIFT_CHECK_OK(dump());
    OPDRIFT_CHECK_OK(read_manifest());
    if (run_.all_outputs) {
      engine::name_nodes(model_);
      OPDRIFT_CHECK_OK(write_node_inputs());
      OPDRIFT_CHECK_OK(write_new_model());
    }
    return std::move(made_);
  }

 private:
  Done prepare() const {
    std::error_code problem;
    fs::remove_all(run_.dump_folder, problem);
    fs::create_directories(run_.dump_folder, problem);
    if (!problem) {
      fs::create_directories(run_.model_folder, problem);
    }
    if (problem) {
      return failed(Number::write_file, "cannot make the folder: " + problem.message(),
                    run_.dump_folder);
    }
    return Unit{};
  }

  Done dump() {
    engine::DumpOptions options;
    options.model = run_.model;
    options.output_folder = run_.dump_folder;
    options.inputs.files = run_.inputs;
    options.session_optimization =
        run_.optimise ? engine::Optimization::all : engine::Optimization::none;
    options.library = run_.library;
    options.opdrift_version = run_.version;
    options.check_outputs = false;
    options.cancel = run_.cancel;
    options.only = run_.all_outputs ? "" : net_output_pattern(model_);
    OPDRIFT_TRY(const engine::DumpReport report, engine::dump_model(options));
    if (!report.complete) {
      return Error{ErrorCode::cancelled, "interrupted", run_.dump_folder};
    }
    made_.tensors = report.files;
    made_.notes = report.notes;
    manifest_ = report.manifest;
    return Unit{};
  }

  /// Learns which file holds which value, and moves the manifest out of the dump.
  Done read_manifest() {
    OPDRIFT_TRY(const Bytes bytes, map_file(manifest_));
    const Json manifest = Json::parse(as_text(bytes.span), nullptr, false);
    if (!manifest.is_object()) {
      return failed(Number::json_parse, "expected the manifest that was just written", manifest_);
    }
    for (const Json& input : manifest["inputs"]) {
      keep_file(input);
    }
    for (const Json& op : manifest["operators"]) {
      for (const Json& output : op["outputs"]) {
        keep_file(output);
      }
    }
    time_us_ = manifest["run"].value("time_us", std::uint64_t{0});
    for (const onnx::ValueInfo& output : model_.graph.outputs) {
      made_.net_outputs.push_back(path_of(output.name));
    }
    std::error_code problem;
    fs::rename(manifest_, run_.model_folder + "/manifest.json", problem);
    if (problem) {
      return failed(Number::write_file, "cannot move: " + problem.message(), manifest_);
    }
    return Unit{};
  }

  void keep_file(const Json& value) {
    const std::string file = value.value("file", "");
    if (!file.empty()) {
      files_.emplace(value.value("tensor", ""), run_.dump_folder + "/" + file);
    }
  }

  std::string path_of(const std::string& tensor) const {
    const auto found = files_.find(tensor);
    return found == files_.end() ? std::string() : found->second;
  }

  Done write_node_inputs() {
    for (const onnx::Tensor& constant : model_.graph.initializers) {
      constants_.emplace(constant.name, &constant);
    }
    engine::DumpNames names(time_us_);
    for (const onnx::Node& node : model_.graph.nodes) {
      const std::string stem = names.claim_stem("input_" + node.name);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (run_.cancel != nullptr && run_.cancel->cancelled()) {
          return Error{ErrorCode::cancelled, "interrupted", run_.dump_folder};
        }
        if (known(node.inputs[i])) {
          OPDRIFT_CHECK_OK(
              write_node_input(node.inputs[i], run_.dump_folder + "/" + names.file_for(stem, i)));
        }
      }
    }
    return add_mappings(names.mapping_csv());
  }

  bool known(const std::string& tensor) const {
    const auto constant = constants_.find(tensor);
    return files_.contains(tensor) ||
           (constant != constants_.end() && (constant->second->data_type == kOnnxFloat ||
                                             constant->second->data_type == kOnnxDouble));
  }

  Done write_node_input(const std::string& tensor, const std::string& path) {
    const std::string present = path_of(tensor);
    if (!present.empty()) {
      return link_or_copy(present, path);
    }
    OPDRIFT_TRY(const tensor::Tensor constant, onnx::load(*constants_.at(tensor), folder_));
    OPDRIFT_CHECK_OK(write_tensor(path, constant));
    files_.emplace(tensor, path);
    return Unit{};
  }

  Done add_mappings(const std::string& csv) const {
    for (const std::vector<std::string>& row : io::parse_csv(csv)) {
      if (row.size() == 2) {
        OPDRIFT_CHECK_OK(io::append_name_mapping(run_.dump_folder, row[0], row[1]));
      }
    }
    return Unit{};
  }

  Done write_new_model() {
    std::vector<std::string> values;
    for (const engine::NodeOutput& output : engine::node_outputs(model_.graph)) {
      values.push_back(output.tensor);
    }
    engine::expose(model_, values);
    const std::string path = run_.model_folder + "/new_" + fs::path(run_.model).filename().string();
    OPDRIFT_TRY([[maybe_unused]] const engine::SavedPart saved,
                engine::save_part(path, {model_, folder_}));
    return Unit{};
  }

  const GoldenRun& run_;
  onnx::Model model_;
  std::string folder_;  // of external data
  std::string manifest_;
  std::uint64_t time_us_ = 0;
  std::unordered_map<std::string, std::string> files_;  // by tensor
  std::unordered_map<std::string, const onnx::Tensor*> constants_;
  GoldenDump made_;
};

}  // namespace

Outcome<GoldenDump> run_golden(const GoldenRun& run) {
  return Golden(run).make();
}

std::optional<std::uint64_t> gear_of_dump(const std::string& dump_folder) {
  const auto names = io::list_files(dump_folder);
  for (const std::string& name : names ? *names : std::vector<std::string>{}) {
    const std::size_t at = name.rfind(kGearMark);
    if (at != std::string::npos) {
      const std::string_view rest = std::string_view(name).substr(at + kGearMark.size());
      return parse_u64(rest.substr(0, rest.find_first_not_of("0123456789")));
    }
  }
  return std::nullopt;
}

Done name_for_gear(const std::string& golden_folder, std::uint64_t gear) {
  OPDRIFT_TRY(const std::vector<std::string> names, io::list_files(golden_folder));
  for (const std::string& name : names) {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || !name.ends_with(".npy") ||
        name.find(kGearMark) != std::string::npos) {
      continue;
    }
    const std::string mark = "_" + std::string(kGearMark) + std::to_string(gear);
    OPDRIFT_CHECK_OK(
        link_or_copy(golden_folder + "/" + name,
                     golden_folder + "/" + name.substr(0, dot) + mark + name.substr(dot)));
  }
  return Unit{};
}

Outcome<std::set<std::string>> output_nodes_of(const std::string& model) {
  OPDRIFT_TRY(const onnx::Model opened, onnx::open_model(model));
  const std::vector<std::string> names = onnx::node_names(opened.graph);
  std::unordered_set<std::string> outputs;
  for (const onnx::ValueInfo& output : opened.graph.outputs) {
    outputs.insert(output.name);
  }
  std::set<std::string> nodes;
  for (const engine::NodeOutput& output : engine::node_outputs(opened.graph)) {
    if (outputs.contains(output.tensor)) {
      nodes.insert(names[output.node]);
    }
  }
  return nodes;
}

}  // namespace opdrift::diagnose::offline
