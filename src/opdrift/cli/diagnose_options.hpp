#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/autorun/auto_run.hpp"
#include "opdrift/diagnose/evidence/collect.hpp"
#include "opdrift/diagnose/flow/step.hpp"

namespace opdrift::cli {

/// Options of `opdrift diagnose`, as written.
struct DiagnoseOptions {
  std::string facts;
  std::string output;
  std::string step = "C";
  std::vector<std::string> limits;
  std::vector<std::string> verdicts;
  std::vector<std::string> graphs;
  bool greedy = false;
  bool strict = false;
  bool json = false;
  bool quiet = false;
  std::vector<std::string> inputs;  ///< of --auto
  std::vector<std::string> dims;
  std::string precision = "fp16";
  std::string optimize = "none";
  std::string rule;
  diagnose::autorun::AutoOptions automatic;
  diagnose::evidence::CollectOptions evidence;
};

void add_diagnose_options(CLI::App& app, DiagnoseOptions& options);

/// Fails with invalid_argument.
Result<diagnose::flow::FlowOptions> flow_options(const DiagnoseOptions& options);

/// The evidence that was asked for. Fails with invalid_argument, also when none was.
Result<diagnose::evidence::CollectOptions> collect_options(const DiagnoseOptions& options);

/// What --auto was asked for. Fails with invalid_argument.
Result<diagnose::autorun::AutoOptions> auto_options(const DiagnoseOptions& options);

}  // namespace opdrift::cli
