#include "opdrift/diagnose/on_the_fly/model_side.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/on_the_fly/dump_inputs.hpp"

namespace opdrift::diagnose {

class SidesMaker {
 public:
  explicit SidesMaker(const SidesOptions& options) : options_(options) {}

  Result<Sides> run() {
    const bool target = is_model_side(options_.target);
    const bool golden = is_model_side(options_.golden);
    sides_.target_.path = options_.target;
    sides_.golden_.path = options_.golden;
    if (target != golden) {
      other_dump_ = target ? options_.golden : options_.target;
    }
    if ((target || golden) && options_.output.empty()) {
      OPDRIFT_TRY(sides_.temporary_, TemporaryFolder::create());
    }
    if (target) {
      OPDRIFT_CHECK_OK(
          run_model("target", options_.target_settings, options_.golden_settings, sides_.target_));
    }
    if (golden) {
      OPDRIFT_CHECK_OK(
          run_model("golden", options_.golden_settings, options_.target_settings, sides_.golden_));
    }
    return std::move(sides_);
  }

 private:
  Status run_model(const std::string& name, engine::RunSettings settings,
                   const engine::RunSettings& other, Sides::Side& side) {
    side.model = side.path;
    if (!settings.seed) {
      settings.seed = other.seed;  // both sides are to be fed alike
    }
    engine::DumpOptions dump;
    dump.model = side.model;
    dump.inputs = options_.inputs;
    engine::apply(settings, dump);
    OPDRIFT_CHECK_OK(take_inputs_of_dump(dump));
    const std::string& parent =
        options_.output.empty() ? sides_.temporary_->path() : options_.output;
    dump.output_folder = (std::filesystem::path(parent) / (name + "_dump")).string();
    dump.overwrite = true;
    dump.check_outputs = false;
    dump.library = options_.library;
    dump.opdrift_version = options_.opdrift_version;
    dump.cancel = options_.cancel;
    if (options_.progress) {
      dump.progress = [&](const engine::DumpProgress& state) { options_.progress(name, state); };
    }
    OPDRIFT_TRY(const engine::DumpReport report, engine::dump_model(dump));
    if (!report.complete) {
      return Error{ErrorCode::cancelled, "interrupted while the model was run", side.model};
    }
    side.path = report.folder;
    side.kind = "ONNX Runtime " + report.library_version + ", " + engine::describe(settings);
    note_run(name, side, report);
    return Unit{};
  }

  Status take_inputs_of_dump(engine::DumpOptions& dump) const {
    if (other_dump_.empty()) {
      return Unit{};
    }
    OPDRIFT_TRY(const io::onnx::Model model, io::onnx::open_model(dump.model));
    OPDRIFT_TRY(const pipeline::DumpIndex index,
                pipeline::index_dump(other_dump_, verdict::RunSide::target, 0));
    dump.inputs.tensors = inputs_in_dump(model.graph, index);
    return Unit{};
  }

  void note_run(const std::string& name, const Sides::Side& side,
                const engine::DumpReport& report) {
    note(name, side.model + " was run by " + side.kind);
    for (const engine::InputSource& input : report.inputs) {
      note(name, "input '" + input.tensor + "' (" + tensor::to_string(input.shape) + ") from " +
                     input.source);
    }
    for (const std::string& text : report.notes) {
      note(name, text);
    }
  }

  /// What holds of both sides is said once.
  void note(const std::string& name, const std::string& text) {
    const auto same = std::find(sides_.notes_.begin(), sides_.notes_.end(), "target: " + text);
    if (same != sides_.notes_.end()) {
      *same = "both sides: " + text;
    } else {
      sides_.notes_.push_back(name + ": " + text);
    }
  }

  const SidesOptions& options_;
  std::string other_dump_;
  Sides sides_;
};

bool is_model_side(const std::string& path) {
  return to_lower(path).ends_with(".onnx");
}

void Sides::rename(const Side& side, std::string& path) const {
  const std::string folder = side.path + "/";
  if (path.starts_with(folder)) {
    path.erase(0, folder.size());
  }
}

void Sides::describe(verdict::RunResult& result) const {
  result.notes.insert(result.notes.begin(), notes_.begin(), notes_.end());
  const std::pair<const Side*, bool> sides[] = {{&target_, true}, {&golden_, false}};
  for (const auto& [side, is_target] : sides) {
    if (side->model.empty()) {
      continue;
    }
    (is_target ? result.target_kind : result.golden_kind) = side->kind;
    if (!temporary_) {
      continue;
    }
    (is_target ? result.target_path : result.golden_path) = side->model;
    for (verdict::TensorResult& tensor : result.tensors) {
      rename(*side, is_target ? tensor.target_path : tensor.golden_path);
    }
    for (verdict::LedgerEntry& entry : result.ledger) {
      rename(*side, entry.path);
      entry.path = entry.path == side->path ? side->model : entry.path;
    }
  }
}

Result<Sides> prepare_sides(const SidesOptions& options) {
  return SidesMaker(options).run();
}

}  // namespace opdrift::diagnose
