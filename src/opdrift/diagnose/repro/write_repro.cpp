#include "opdrift/diagnose/repro/write_repro.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "opdrift/base/temporary_folder.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/check_op/feed.hpp"
#include "opdrift/diagnose/check_op/piece_model.hpp"
#include "opdrift/diagnose/check_op/pieces.hpp"
#include "opdrift/diagnose/check_op/single_run.hpp"
#include "opdrift/diagnose/repro/bundle.hpp"
#include "opdrift/diagnose/repro/describe_repro.hpp"
#include "opdrift/diagnose/repro/repro_verdict.hpp"
#include "opdrift/engine/dump_store.hpp"
#include "opdrift/engine/manifest.hpp"
#include "opdrift/io/dump_manifest.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"
#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/pipeline/dump_index.hpp"

namespace opdrift::diagnose {

namespace {

namespace fs = std::filesystem;
namespace onnx = io::onnx;

/// The same in every bundle, so that two bundles of one operator are the same files.
constexpr std::uint64_t kFileTime = 1'000'000;

/// One side: what it has of the piece.
struct Side {
  std::string name;  ///< "golden", "target"
  std::string path;
  pipeline::DumpIndex index;
  TargetValues values;

  std::optional<std::size_t> find_input(const Piece& piece, const PieceInput& input,
                                        const onnx::Node& node) const {
    for (std::size_t i = 0; i < node.inputs.size() && piece.nodes.size() == 1; ++i) {
      const auto own = values.inputs.find(own_input_key(node.name, i));
      if (node.inputs[i] == input.value && own != values.inputs.end()) {
        return own->second;
      }
    }
    const auto made = values.made.find(input.value);
    return made == values.made.end() ? std::nullopt : std::optional(made->second);
  }
};

class ReproWriter {
 public:
  explicit ReproWriter(const ReproOptions& options) : options_(options) {}

  Result<Repro> run() {
    OPDRIFT_CHECK_OK(load());
    OPDRIFT_CHECK_OK(open_folder());
    OPDRIFT_CHECK_OK(write_model());
    OPDRIFT_CHECK_OK(write_side(golden_));
    OPDRIFT_CHECK_OK(write_side(target_));
    OPDRIFT_CHECK_OK(compare());
    OPDRIFT_CHECK_OK(describe());
    if (is_zip_path(options_.output)) {
      OPDRIFT_CHECK_OK(pack_bundle(folder_, options_.output));
    }
    made_.path = options_.output;
    return std::move(made_);
  }

 private:
  const onnx::Node& node() const { return placed_.model.graph.nodes[piece_.node]; }

  Status load() {
    OPDRIFT_TRY(placed_.model, onnx::open_model(options_.model));
    placed_.folder = onnx::folder_of_model(options_.model);
    engine::name_nodes(placed_.model);
    golden_ = {"golden", options_.golden, {}, {}};
    target_ = {"target", options_.target, {}, {}};
    for (Side* side : {&golden_, &target_}) {
      OPDRIFT_TRY(side->index, pipeline::index_dump(side->path, verdict::RunSide::target,
                                                    options_.compare.jobs));
      side->values = target_values(placed_.model.graph, side->index);
    }
    return find_piece();
  }

  /// The operator, with those that the target did together with it.
  Status find_piece() {
    TargetValues values = golden_.values;
    values.merged = target_.values.merged;
    std::vector<std::string_view> names;
    for (Piece& piece : cut_into_pieces(placed_.model.graph, values)) {
      names.push_back(placed_.model.graph.nodes[piece.node].name);
      if (names.back() == options_.operator_name) {
        piece_ = std::move(piece);
        return check_piece();
      }
    }
    return Error{ErrorCode::invalid_argument,
                 "the model has no operator '" + printable(options_.operator_name) + "'" +
                     did_you_mean(options_.operator_name, names),
                 options_.model};
  }

  Status check_piece() {
    if (!piece_.reason.empty()) {
      return Error{ErrorCode::not_found,
                   "operator '" + printable(options_.operator_name) + "': " + piece_.reason,
                   options_.golden};
    }
    std::erase_if(piece_.outputs, [&](const PieceOutput& output) {
      return !target_.values.made.contains(output.value);
    });
    if (piece_.outputs.empty()) {
      return Error{ErrorCode::not_found,
                   "none of the outputs of operator '" + printable(options_.operator_name) +
                       "' were dumped" + merged_elsewhere(),
                   options_.target};
    }
    return Unit{};
  }

  std::string merged_elsewhere() const {
    for (const auto& [value, operators] : target_.values.merged) {
      if (operators.contains(options_.operator_name)) {
        return "; the target does it together with the operator that makes '" + printable(value) +
               "'";
      }
    }
    return "";
  }

  Status open_folder() {
    if (is_zip_path(options_.output)) {
      OPDRIFT_TRY(temporary_, TemporaryFolder::create());
      folder_ = temporary_->path() + "/bundle";
    } else {
      folder_ = options_.output;
      OPDRIFT_CHECK_OK(clear_older_bundle());
    }
    std::error_code problem;
    fs::create_directories(folder_, problem);
    return problem ? Status(system_error(problem.value(), "cannot make the folder", folder_))
                   : Status(Unit{});
  }

  Status clear_older_bundle() const {
    std::error_code problem;
    if (!fs::exists(folder_, problem) || fs::is_empty(folder_, problem)) {
      return Unit{};
    }
    if (!OpenBundle::open(folder_)) {
      return Error{ErrorCode::invalid_argument,
                   "expected a new or empty folder or an older bundle, found other files", folder_};
    }
    for (const char* name : {"golden", "target", kBundleDescription, kBundleReadme, kBundleModel}) {
      fs::remove_all(fs::path(folder_) / name, problem);
    }
    return Unit{};
  }

  Result<tensor::View> view_of(const Side& side, std::size_t position) const {
    OPDRIFT_TRY(const tensor::Tensor loaded, pipeline::load(side.index.tensors[position]));
    return pipeline::logical_view(loaded);
  }

  /// Types are those of the golden's tensors where the file of the model does not tell them.
  Status write_model() {
    ElementTypes types;
    for (const auto* infos : {&placed_.model.graph.inputs, &placed_.model.graph.value_infos}) {
      for (const onnx::ValueInfo& info : *infos) {
        types.emplace(info.name, info.element_type);
      }
    }
    std::unordered_map<std::string, GivenInput> given;
    for (const PieceInput& input : piece_.inputs) {
      OPDRIFT_TRY(const tensor::View view, view_of(golden_, input.tensor));
      given[input.name] = {fed_type(types, input.value, view.tensor.desc.dtype), view.shape()};
    }
    const Piece* const pieces[] = {&piece_};
    alone_.model = model_of_pieces(placed_.model, pieces, given, PieceNames::original);
    alone_.model.path.clear();
    alone_.folder = placed_.folder;
    OPDRIFT_CHECK_OK(embed_external_data(alone_));
    return onnx::write_model(folder_ + "/" + kBundleModel, alone_.model);
  }

  /// The tensors of one side as a dump with a manifest.
  Status write_side(const Side& side) {
    OPDRIFT_TRY(engine::DumpStore store,
                engine::DumpStore::open(folder_ + "/" + side.name, false, kFileTime));
    engine::ManifestContent content;
    content.given = &alone_.model;
    content.run = &alone_.model;
    content.model_folder = alone_.folder;
    content.time_us = kFileTime;
    for (const PieceInput& input : piece_.inputs) {
      const auto position = side.find_input(piece_, input, node());
      if (!position) {
        made_.notes.push_back("the " + side.name + " did not dump input '" + input.value + "'");
        continue;
      }
      OPDRIFT_TRY(engine::DumpedValue value, write_value(store, side, *position, input.value, 0,
                                                         store.names().claim_stem(input.value)));
      content.inputs.push_back({std::move(value), side.path});
    }
    for (const onnx::Node& made : alone_.model.graph.nodes) {
      OPDRIFT_TRY(engine::ManifestOperator op, write_outputs(store, side, made));
      content.operators.push_back(std::move(op));
    }
    OPDRIFT_CHECK_OK(store.finish());
    engine::DumpOptions options;
    options.opdrift_version = options_.opdrift_version;
    engine::DumpReport report;
    return io::write_file(store.folder() + "/" + std::string(io::kManifestFileName),
                          engine::render_manifest(options, report, content));
  }

  Result<engine::ManifestOperator> write_outputs(engine::DumpStore& store, const Side& side,
                                                 const onnx::Node& made) {
    engine::ManifestOperator op;
    op.node = &made;
    op.originals = {made.name};
    const std::string stem = store.names().claim_stem(made.name);
    for (std::size_t i = 0; i < made.outputs.size(); ++i) {
      engine::DumpedValue value;
      value.tensor = made.outputs[i];
      value.skipped = "not dumped";
      const auto found = side.values.made.find(made.outputs[i]);
      if (made.op_type != "Constant" && found != side.values.made.end()) {
        OPDRIFT_TRY(value, write_value(store, side, found->second, made.outputs[i], i, stem));
      }
      op.outputs.push_back(std::move(value));
    }
    return op;
  }

  Result<engine::DumpedValue> write_value(engine::DumpStore& store, const Side& side,
                                          std::size_t position, const std::string& value,
                                          std::size_t index, const std::string& stem) const {
    OPDRIFT_TRY(const tensor::View view, view_of(side, position));
    engine::RunValue run;
    run.kind = onnx::ValueKind::tensor;
    OPDRIFT_TRY(run.tensor, as_fed(view, view.tensor.desc.dtype));
    return store.write(stem, index, value, run, engine::Precision::fp32);
  }

  Status compare() {
    OPDRIFT_TRY(made_.compared, compare_bundle(folder_, options_.compare));
    return Unit{};
  }

  Status describe() const {
    ReproDescription about{options_, made_, placed_.model, node(), {}};
    for (const std::size_t n : piece_.nodes) {
      if (n != piece_.node) {
        about.merged.push_back(placed_.model.graph.nodes[n].name);
      }
    }
    OPDRIFT_TRY(const std::string json, render_repro_json(about));
    OPDRIFT_CHECK_OK(io::write_file(folder_ + "/" + kBundleDescription, json));
    return io::write_file(folder_ + "/" + kBundleReadme, render_repro_readme(about));
  }

  const ReproOptions& options_;
  engine::PlacedModel placed_;
  engine::PlacedModel alone_;
  Side golden_;
  Side target_;
  Piece piece_;
  std::optional<TemporaryFolder> temporary_;
  std::string folder_;
  Repro made_;
};

}  // namespace

Result<Repro> write_repro(const ReproOptions& options) {
  return ReproWriter(options).run();
}

}  // namespace opdrift::diagnose
