#include "opdrift/diagnose/offline/prepare.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/diagnose/offline/aipp.hpp"
#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/diagnose/offline/golden_run.hpp"
#include "opdrift/graph/model_facts.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;

class Preparation {
 public:
  Preparation(const CompareOptions& options, const Workspace& workspace, DeviceSession& session)
      : options_(options), workspace_(workspace), session_(session) {}

  Outcome<Prepared> run() {
    OPDRIFT_CHECK_OK(open_models());
    OPDRIFT_CHECK_OK(build_golden());
    OPDRIFT_CHECK_OK(prepare_shapes());
    return std::move(made_);
  }

 private:
  bool golden_is_onnx() const { return made_.golden_is_onnx(); }

  Done open_models() {
    OPDRIFT_TRY(const ModelKind target, model_kind(options_.target_model));
    if (target != ModelKind::offline) {
      return failed(
          Number::not_supported,
          "only offline models (.om) can be the target here; " + way_around(target, false),
          options_.target_model);
    }
    OPDRIFT_TRY(made_.golden_kind, model_kind(options_.golden_model));
    OPDRIFT_TRY(made_.target, open_device_model(options_.target_model));
    OPDRIFT_CHECK_OK(write_graph_json(options_.target_model, workspace_.folder + "/model"));
    if (made_.golden_kind == ModelKind::offline) {
      OPDRIFT_TRY(made_.golden, open_device_model(options_.golden_model));
      OPDRIFT_CHECK_OK(write_graph_json(options_.golden_model, workspace_.folder + "/model"));
    } else if (!golden_is_onnx()) {
      OPDRIFT_CHECK_OK(check_dumped_golden());
    } else {
      OPDRIFT_TRY(made_.output_nodes, output_nodes_of(options_.golden_model));
    }
    if (!options_.fusion_switch.empty() && (!golden_is_onnx() || made_.target.image())) {
      return failed(Number::bad_parameter,
                    "--fusion-switch-file needs a golden ONNX model and a target without AIPP");
    }
    if (!golden_is_onnx() && !options_.custom_op.empty()) {
      return failed(Number::bad_parameter, "--custom-op needs a golden ONNX model");
    }
    if ((options_.localise || options_.single_op) &&
        (!golden_is_onnx() || !options_.fusion_switch.empty())) {
      return failed(
          Number::bad_parameter,
          "--locat and --single-op cut the golden model up, so it has to be an ONNX model "
          "without --fusion-switch-file");
    }
    return Unit{};
  }

  /// Models that cannot be run here take part with dumps.
  Done check_dumped_golden() const {
    std::error_code problem;
    if (options_.golden_dump.empty()) {
      return failed(Number::not_supported,
                    "opdrift cannot run this model; " + way_around(made_.golden_kind, true),
                    options_.golden_model);
    }
    if (!fs::is_directory(options_.golden_dump, problem)) {
      return failed(Number::no_dump_file, "expected a folder with golden dumps",
                    options_.golden_dump);
    }
    if (!options_.dump) {
      return failed(Number::not_supported,
                    "--dump False needs a golden ONNX model; 'opdrift compare-outputs' compares "
                    "files of outputs");
    }
    return Unit{};
  }

  /// With a fusion switch the golden side is the same model, built once more.
  Done build_golden() {
    if (options_.fusion_switch.empty()) {
      made_.golden_path = made_.golden ? options_.golden_model : "";
      return Unit{};
    }
    std::error_code problem;
    if (!fs::is_regular_file(options_.fusion_switch, problem)) {
      return failed(Number::bad_path, "no such file", options_.fusion_switch);
    }
    const graph::AtcOptions atc = graph::build_options(made_.target.graph);
    const std::string soc = graph::text_attribute(made_.target.graph.attributes, "soc_version");
    BuildStep step;
    step.title = "the model with fusion as " + options_.fusion_switch + " says";
    step.folder = workspace_.folder;
    step.words = {atc_program(options_.tool_kit),
                  "--framework=5",
                  "--soc_version=" + atc.get("soc_version").value_or(soc),
                  "--model=" + absolute_path(options_.golden_model),
                  "--output=" + workspace_.folder + "/close_fusion_om_model",
                  "--fusion_switch_file=" + absolute_path(options_.fusion_switch)};
    if (const auto shape = atc.get("input_shape")) {
      step.words.push_back("--input_shape=" + *shape);
    }
    OPDRIFT_TRY(const std::string built, session_.model(step));
    made_.golden_path = workspace_.folder + "/close_fusion_om_model.om";
    if (!built.empty()) {
      made_.golden_path = built;
      OPDRIFT_TRY(made_.golden, open_device_model(built));
    }
    return Unit{};
  }

  Done prepare_shapes() {
    std::vector<std::string> shapes = {options_.input_shape};
    if (!options_.shape_range.empty()) {
      OPDRIFT_TRY(shapes, expand_ranges(options_.shape_range));
    }
    for (const std::string& shape : shapes) {
      ShapeRun run;
      run.name = options_.shape_range.empty() ? "" : shape_folder(shape);
      run.folder = workspace_.folder + (run.name.empty() ? "" : "/" + run.name);
      OPDRIFT_CHECK_OK(prepare_inputs(shape, run));
      OPDRIFT_CHECK_OK(find_dumps(shape, run));
      made_.shapes.push_back(std::move(run));
    }
    return Unit{};
  }

  Done prepare_inputs(const std::string& shape, ShapeRun& run) {
    std::vector<InputShape> dims;
    if (!shape.empty()) {
      OPDRIFT_TRY(dims, parse_shapes(shape));
    }
    if (golden_is_onnx()) {
      OPDRIFT_TRY(const io::onnx::Model model, io::onnx::open_model(options_.golden_model));
      OPDRIFT_TRY(run.wanted, wanted_inputs(model.graph, dims));
      OPDRIFT_CHECK_OK(add_device_sizes(run.wanted, made_.target.graph));
    } else {
      OPDRIFT_TRY(run.wanted, wanted_inputs(made_.target.graph, dims));
    }
    if (made_.target.image()) {
      OPDRIFT_CHECK_OK(set_image_sizes(run.wanted, made_.target.graph));
    }
    InputRequest request;
    request.files = options_.inputs;
    request.folder = run.folder + "/input";
    request.wanted = run.wanted;
    request.image = made_.target.image();
    OPDRIFT_TRY(run.inputs, make_input_files(request));
    return Unit{};
  }

  Done find_dumps(const std::string& shape, ShapeRun& run) {
    if (options_.single_op && !made_.target.image()) {
      return Unit{};  // operators get golden inputs; only those of an image come out of a dump
    }
    OPDRIFT_TRY(run.target_dump, device_dump(shape, run, "npu", options_.target_dump,
                                             "dumps of the target model", &made_.target));
    if (!golden_is_onnx() && !made_.golden_on_device()) {
      run.golden_dump = options_.golden_dump + (run.name.empty() ? "" : "/" + run.name);
    }
    if (!made_.golden_on_device()) {
      return Unit{};
    }
    OPDRIFT_TRY(run.golden_dump,
                device_dump(shape, run, "npu_golden", options_.golden_dump,
                            "dumps of the golden model", made_.golden ? &*made_.golden : nullptr));
    return Unit{};
  }

  /// `model` is null while it has to be built.
  Outcome<std::string> device_dump(const std::string& shape, const ShapeRun& run,
                                   const std::string& folder, const std::string& given,
                                   const std::string& title, const DeviceModel* model) {
    if (!given.empty()) {
      const std::string place = run.name.empty() ? given : given + "/" + run.name;
      std::string found = options_.dump ? find_dump_folder(place) : place;
      if (found.empty() || (!options_.dump && find_output_files(place).empty())) {
        return failed(Number::no_dump_file, "expected device dumps, found none", place);
      }
      return found;
    }
    // A model that has to be built takes the inputs and shapes of the target.
    OPDRIFT_TRY(DeviceStep step,
                device_step(model == nullptr ? made_.target : *model, shape, options_.output_size,
                            run.folder + "/dump_data/" + folder));
    if (model == nullptr) {
      step.model = made_.golden_path;
      step.model_names = {stem_of(made_.golden_path)};
    }
    step.title = title + (run.name.empty() ? "" : ", shape " + shape);
    step.inputs = run.inputs.device;
    step.device = options_.device;
    step.dump = options_.dump;
    if (!step.model.ends_with(".om")) {
      step.title += " (put the .om this graph was made from in place of " + step.model + ")";
    }
    return session_.dumps(step);
  }

  const CompareOptions& options_;
  const Workspace& workspace_;
  DeviceSession& session_;
  Prepared made_;
};

}  // namespace

Outcome<Prepared> prepare_comparison(const CompareOptions& options, const Workspace& workspace,
                                     DeviceSession& session) {
  return Preparation(options, workspace, session).run();
}

}  // namespace opdrift::diagnose::offline
