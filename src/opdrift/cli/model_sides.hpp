#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/on_the_fly/model_side.hpp"
#include "opdrift/engine/inputs.hpp"

namespace opdrift::cli {

/// Options of commands whose sides may be models.
struct ModelSideOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> dims;
  std::string target_settings;
  std::string golden_settings;
  std::string library;
};

void add_model_side_options(CLI::App& app, ModelSideOptions& options);

/// Reads `--input NAME=FILE` (or FILE alone) and `--dim NAME=N`. Fails with invalid_argument.
Status read_input_words(const std::vector<std::string>& inputs,
                        const std::vector<std::string>& dims, engine::InputOptions& out);

/// Runs the sides that are models, showing progress when `progress`. `output` is the folder of the
/// results, "" for none. Fails with invalid_argument where an option needs a model and there is
/// none, and as prepare_sides does.
Result<diagnose::Sides> run_model_sides(const std::string& target, const std::string& golden,
                                        const ModelSideOptions& options, const std::string& output,
                                        bool progress);

/// Adds the model of the sides to the graphs of a comparison that names none itself.
void add_model_of_sides(const diagnose::Sides& sides, std::vector<std::string>& graphs);

}  // namespace opdrift::cli
