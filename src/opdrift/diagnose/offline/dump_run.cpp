#include "opdrift/diagnose/offline/dump_run.hpp"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/offline/aipp.hpp"
#include "opdrift/diagnose/offline/device_model.hpp"
#include "opdrift/diagnose/offline/device_run.hpp"
#include "opdrift/diagnose/offline/golden_run.hpp"
#include "opdrift/diagnose/offline/input_files.hpp"
#include "opdrift/diagnose/offline/model_kind.hpp"
#include "opdrift/diagnose/offline/workspace.hpp"
#include "opdrift/engine/dump_store.hpp"

namespace opdrift::diagnose::offline {

namespace {

using pipeline::RunLogLevel;

/// One model with its shapes.
class ModelDump {
 public:
  ModelDump(const CompareOptions& options, Workspace workspace)
      : options_(options),
        workspace_(std::move(workspace)),
        session_(workspace_.folder, options.cancel,
                 [this](const std::string& text) { info(text); }) {
    end_.folder = workspace_.folder;
  }

  Outcome<CompareEnd> run(ModelKind kind, const std::string& key) {
    if (kind == ModelKind::offline) {
      OPDRIFT_TRY(device_, open_device_model(options_.golden_model));
    }
    std::vector<std::string> shapes = {options_.input_shape};
    if (!options_.shape_range.empty()) {
      OPDRIFT_TRY(shapes, expand_ranges(options_.shape_range));
    }
    for (const std::string& shape : shapes) {
      const std::string folder =
          workspace_.folder + (options_.shape_range.empty() ? "" : "/" + shape_folder(shape));
      OPDRIFT_CHECK_OK(dump_shape(shape, folder));
    }
    if (session_.waiting()) {
      OPDRIFT_CHECK_OK(session_.write_script(options_.again));
      OPDRIFT_CHECK_OK(mark_waiting(workspace_, key));
      end_.waiting = true;
    } else {
      unmark_waiting(workspace_);
    }
    return std::move(end_);
  }

 private:
  void info(const std::string& text) const {
    if (options_.log) {
      options_.log(RunLogLevel::info, text);
    }
  }

  Outcome<InputFiles> inputs(const std::string& shape, const std::string& folder) const {
    std::vector<InputShape> dims;
    if (!shape.empty()) {
      OPDRIFT_TRY(dims, parse_shapes(shape));
    }
    InputRequest request;
    request.files = options_.inputs;
    request.folder = folder + "/input";
    if (device_) {
      OPDRIFT_TRY(request.wanted, wanted_inputs(device_->graph, dims));
      request.image = device_->image();
    } else {
      OPDRIFT_TRY(const io::onnx::Model model, io::onnx::open_model(options_.golden_model));
      OPDRIFT_TRY(request.wanted, wanted_inputs(model.graph, dims));
    }
    return make_input_files(request);
  }

  Done dump_shape(const std::string& shape, const std::string& folder) {
    OPDRIFT_TRY(const InputFiles files, inputs(shape, folder));
    if (device_) {
      OPDRIFT_TRY(DeviceStep step,
                  device_step(*device_, shape, options_.output_size, folder + "/dump_data/npu"));
      step.title = "dumps of the model" + (shape.empty() ? "" : ", shape " + shape);
      step.inputs = files.device;
      step.device = options_.device;
      OPDRIFT_TRY(std::string found, session_.dumps(step));
      keep(std::move(found));
      return Unit{};
    }
    GoldenRun golden;
    golden.model = options_.golden_model;
    golden.inputs = files.golden;
    golden.dump_folder = folder + "/dump_data/onnx";
    golden.model_folder = folder + "/model";
    golden.optimise = options_.optimise;
    golden.library = options_.library;
    golden.version = options_.version;
    golden.cancel = options_.cancel;
    OPDRIFT_TRY(const GoldenDump made, run_golden(golden));
    for (const std::string& note : made.notes) {
      info(note);
    }
    keep(golden.dump_folder);
    return Unit{};
  }

  void keep(std::string folder) {
    if (!folder.empty()) {
      info("the dumps are in " + folder);
      end_.results.push_back(std::move(folder));
    }
  }

  const CompareOptions& options_;
  Workspace workspace_;
  DeviceSession session_;
  std::optional<DeviceModel> device_;
  CompareEnd end_;
};

}  // namespace

Outcome<CompareEnd> dump_offline(const CompareOptions& options) {
  OPDRIFT_CHECK_OK(check_options(options));
  OPDRIFT_TRY(const ModelKind kind, model_kind(options.golden_model));
  if (kind != ModelKind::onnx && kind != ModelKind::offline) {
    return failed(Number::not_supported, "only ONNX and offline models can be dumped here",
                  options.golden_model);
  }
  const std::string key =
      command_key({"dump", options.golden_model, join(options.inputs, ","), options.input_shape,
                   options.shape_range, options.device, options.output_size});
  OPDRIFT_TRY(Workspace workspace, open_workspace(options.output, key));
  const std::uint64_t room = engine::free_space(workspace.folder);
  if (room < kLeastFreeBytes) {
    return failed(Number::write_file,
                  "expected 2 GB or more of free disk, found " + human_bytes(room),
                  workspace.folder);
  }
  return ModelDump(options, std::move(workspace)).run(kind, key);
}

}  // namespace opdrift::diagnose::offline
