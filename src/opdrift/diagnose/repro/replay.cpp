#include "opdrift/diagnose/repro/replay.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/check_op/feed.hpp"
#include "opdrift/diagnose/check_op/pieces.hpp"
#include "opdrift/diagnose/on_the_fly/dump_inputs.hpp"
#include "opdrift/diagnose/repro/bundle.hpp"
#include "opdrift/diagnose/repro/repro_verdict.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/output_check.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/pipeline/align_pair.hpp"

namespace opdrift::diagnose {

namespace {

namespace onnx = io::onnx;
using Json = nlohmann::json;

constexpr std::uint64_t kMaxDescriptionBytes = 1 << 20;

Result<Json> read_description(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  if (bytes.size() > kMaxDescriptionBytes) {
    return Error{ErrorCode::limit,
                 "expected a description of at most 1 MiB, found " + human_bytes(bytes.size()),
                 path};
  }
  OPDRIFT_TRY(Json json, parse_json<Json>(as_text(bytes.span), path));
  const bool known = json.is_object() && json_text(json, "schema") == "opdrift.repro" &&
                     json.value("schema_version", Json()) == 1;
  if (!known) {
    return Error{ErrorCode::bad_json, "expected a description with schema opdrift.repro, version 1",
                 path};
  }
  return json;
}

/// Bundles hold their weights themselves, so that nothing outside of them is ever read.
Status check_weights(const onnx::Model& model, const std::string& path) {
  for (const onnx::Tensor& constant : model.graph.initializers) {
    if (constant.external) {
      return Error{ErrorCode::malformed,
                   "expected weights inside the model, constant '" + printable(constant.name) +
                       "' lies in another file",
                   path};
    }
  }
  return Unit{};
}

class Replayer {
 public:
  Replayer(const ReplayOptions& options, OpenBundle bundle)
      : options_(options), bundle_(std::move(bundle)) {}

  Result<Replay> run() {
    OPDRIFT_TRY(const Json description, read_description(bundle_.file(kBundleDescription)));
    replay_.operator_name = json_text(description, "operator");
    replay_.operator_type = json_text(description, "type");
    const std::string model_path = bundle_.file(kBundleModel);
    OPDRIFT_TRY(placed_.model, onnx::open_model(model_path));
    OPDRIFT_CHECK_OK(check_weights(placed_.model, model_path));
    placed_.folder = bundle_.folder();
    OPDRIFT_TRY(golden_, pipeline::index_dump(bundle_.file("golden"), verdict::RunSide::golden,
                                              options_.compare.jobs));
    if (const Status ran = run_operator(); !ran) {
      replay_.not_run = ran.error().message;
    }
    OPDRIFT_TRY(replay_.compared, compare_bundle(bundle_.folder(), options_.compare));
    name_sides();
    return std::move(replay_);
  }

 private:
  Status run_operator() {
    OPDRIFT_TRY(const auto runtime, engine::Runtime::load(options_.library));
    engine::InputOptions given;
    given.tensors = inputs_in_dump(placed_.model.graph, golden_);
    for (const onnx::ValueInfo* input : engine::required_inputs(placed_.model.graph)) {
      const bool found =
          std::any_of(given.tensors.begin(), given.tensors.end(),
                      [&](const engine::InputTensor& t) { return t.name == input->name; });
      if (!found) {
        return Error{ErrorCode::not_found,
                     "the bundle lacks the golden input '" + printable(input->name) + "'"};
      }
    }
    OPDRIFT_TRY(const engine::ModelInputs inputs, engine::make_inputs(placed_.model.graph, given));
    OPDRIFT_TRY(const auto session, engine::open_model(*runtime, placed_, {}));
    std::vector<std::string> outputs;
    for (const onnx::ValueInfo& output : placed_.model.graph.outputs) {
      outputs.push_back(output.name);
    }
    OPDRIFT_TRY(const std::vector<engine::RunValue> values, session->run(inputs.tensors, outputs));
    replay_.library_version = runtime->version();
    return check_outputs(outputs, values);
  }

  Status check_outputs(const std::vector<std::string>& outputs,
                       const std::vector<engine::RunValue>& values) {
    const TargetValues golden = target_values(placed_.model.graph, golden_);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto found = golden.made.find(outputs[i]);
      if (found == golden.made.end() || !values[i].tensor) {
        continue;
      }
      OPDRIFT_TRY(const tensor::Tensor loaded, pipeline::load(golden_.tensors[found->second]));
      OPDRIFT_TRY(const tensor::View view, pipeline::logical_view(loaded));
      engine::RunValue recorded;
      OPDRIFT_TRY(recorded.tensor, as_fed(view, values[i].tensor->desc.dtype));
      replay_.checks.push_back(engine::check_output(outputs[i], recorded, values[i]));
    }
    return Unit{};
  }

  /// A bundle may have been unpacked somewhere that is gone afterwards.
  void name_sides() {
    const std::string folder = bundle_.folder() + "/";
    const auto shorten = [&](std::string& path) {
      if (path.starts_with(folder)) {
        path.erase(0, folder.size());
      }
    };
    shorten(replay_.compared.target_path);
    shorten(replay_.compared.golden_path);
    for (verdict::TensorResult& row : replay_.compared.tensors) {
      shorten(row.target_path);
      shorten(row.golden_path);
    }
    for (verdict::LedgerEntry& entry : replay_.compared.ledger) {
      shorten(entry.path);
    }
  }

  const ReplayOptions& options_;
  OpenBundle bundle_;
  engine::PlacedModel placed_;
  pipeline::DumpIndex golden_;
  Replay replay_;
};

}  // namespace

Result<Replay> replay_repro(const ReplayOptions& options) {
  OPDRIFT_TRY(OpenBundle bundle, OpenBundle::open(options.bundle));
  return Replayer(options, std::move(bundle)).run();
}

}  // namespace opdrift::diagnose
