#include "opdrift/cli/model_sides.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/version.hpp"
#include "opdrift/graph/graph_file.hpp"

namespace opdrift::cli {

namespace {

Result<engine::RunSettings> settings_of(const std::string& option, const std::string& text) {
  auto settings = engine::parse_run_settings(text);
  if (!settings) {
    settings.error().message.insert(0, option + ": ");
  }
  return settings;
}

/// An option about running a model makes no sense where none is run.
Status check_use(const ModelSideOptions& options, bool target, bool golden) {
  const auto refuse = [](const std::string& option, const std::string& side) {
    return Error{ErrorCode::invalid_argument,
                 option + ": expected " + side + " to be an .onnx file, found a dump"};
  };
  if (!target && !options.target_settings.empty()) {
    return refuse("--target-options", "TARGET");
  }
  if (!golden && !options.golden_settings.empty()) {
    return refuse("--golden-options", "GOLDEN");
  }
  if (!target && !golden && !(options.inputs.empty() && options.dims.empty())) {
    return refuse(options.inputs.empty() ? "--dim" : "--input", "a side");
  }
  return Unit{};
}

}  // namespace

void add_model_side_options(CLI::App& app, ModelSideOptions& options) {
  app.add_option("-i,--input", options.inputs,
                 "input of a side that is a model: NAME=FILE, or FILE for a single one; repeatable")
      ->allow_extra_args(false);
  app.add_option("--dim", options.dims, "NAME=N for an open extent of such a model; repeatable")
      ->allow_extra_args(false);
  app.add_option("--target-options", options.target_settings,
                 "how a TARGET that is a model is run: precision=fp32|fp16|bf16, "
                 "optimize=none|basic|extended|all, provider=NAME, threads=N, seed=N, separated by "
                 "commas");
  app.add_option("--golden-options", options.golden_settings, "the same for GOLDEN");
  app.add_option("--onnxruntime", options.library, "path of libonnxruntime.so");
}

Status read_input_words(const std::vector<std::string>& inputs,
                        const std::vector<std::string>& dims, engine::InputOptions& out) {
  for (const std::string& input : inputs) {
    const std::size_t cut = input.find('=');
    out.files.push_back(cut == std::string::npos
                            ? engine::InputFile{"", input}
                            : engine::InputFile{input.substr(0, cut), input.substr(cut + 1)});
  }
  for (const std::string& dim : dims) {
    const std::size_t cut = dim.rfind('=');
    const auto extent =
        cut == std::string::npos ? std::nullopt : parse_u64(std::string_view(dim).substr(cut + 1));
    if (!extent) {
      return Error{ErrorCode::invalid_argument, "--dim '" + dim + "': expected NAME=NUMBER"};
    }
    out.dims[dim.substr(0, cut)] = *extent;
  }
  return Unit{};
}

Result<diagnose::Sides> run_model_sides(const std::string& target, const std::string& golden,
                                        const ModelSideOptions& options, const std::string& output,
                                        bool progress) {
  OPDRIFT_CHECK_OK(
      check_use(options, diagnose::is_model_side(target), diagnose::is_model_side(golden)));
  diagnose::SidesOptions sides;
  sides.target = target;
  sides.golden = golden;
  sides.output = output;
  sides.library = options.library;
  sides.opdrift_version = kVersion;
  sides.cancel = &interrupt_flag();
  OPDRIFT_CHECK_OK(read_input_words(options.inputs, options.dims, sides.inputs));
  OPDRIFT_TRY(sides.target_settings, settings_of("--target-options", options.target_settings));
  OPDRIFT_TRY(sides.golden_settings, settings_of("--golden-options", options.golden_settings));
  std::unique_ptr<Progress> bar;
  std::string shown;
  sides.progress = [&](const std::string& side, const engine::DumpProgress& state) {
    if (side != shown) {
      bar.reset();  // takes its line away first
      bar = std::make_unique<Progress>("running " + side, progress);
      shown = side;
    }
    bar->update(state.done, state.total, state.bytes);
  };
  return diagnose::prepare_sides(sides);
}

void add_model_of_sides(const diagnose::Sides& sides, std::vector<std::string>& graphs) {
  const bool named = std::any_of(graphs.begin(), graphs.end(), [](const std::string& path) {
    return !graph::is_graph_file(path);
  });
  if (!named && !sides.model().empty()) {
    graphs.push_back(sides.model());
  }
}

}  // namespace opdrift::cli
