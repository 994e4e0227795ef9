#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"

/// A whole comparison of an offline model with the model it was built from. Below the folder of the
/// run (workspace.hpp), with ranges of shapes in a folder per shape:
///
///   input/                   what both sides get, input_files.hpp
///   dump_data/npu/           device dumps of the target       run_on_device.sh makes what is
///   dump_data/npu_golden/    of a golden offline model        missing, device_run.hpp
///   dump_data/onnx/          golden dump, golden_run.hpp
///   model/                   models the golden run was made of
///   result_<time>.csv        whole_network.hpp; advisor_summary.txt
///   result_summary.xlsx      with ranges: all tables
namespace opdrift::diagnose::offline {

struct CompareOptions {
  std::string golden_model;
  std::string target_model;
  std::string weights;  ///< of a .prototxt
  std::vector<std::string> inputs;
  std::string output = ".";
  std::string input_shape;
  std::string shape_range;
  std::string device = "0";
  std::string output_size;
  std::string custom_op;
  std::string fusion_switch;
  std::string quantised;    ///< graph of the quantiser
  std::string target_path;  ///< with golden_path and rule: two dumps, no model
  std::string golden_path;
  std::string rule;
  std::string target_dump;  ///< dumps of the target that exist already
  std::string golden_dump;  ///< the same of a golden offline model
  std::int64_t max_elements = 0;
  bool advisor = false;
  bool dump = true;
  bool convert = false;
  bool localise = false;
  bool single_op = false;
  bool optimise = true;
  std::string tool_kit;  ///< folder of the device's compiler, looked into before PATH
  std::string library;   ///< of ONNX Runtime
  std::string version;   ///< of opdrift
  std::string again;     ///< the command, for the script
  const CancelFlag* cancel = nullptr;
  pipeline::RunLog log;
  std::function<void(const std::string&)> print;  ///< the tables for a reader
};

struct CompareEnd {
  std::string folder;
  bool waiting = false;              ///< for device dumps; run_on_device.sh says how to make them
  std::vector<std::string> results;  ///< csv files
};

/// What contradicts itself in the options, before anything is read. Numbers: 4 for --convert,
/// --custom-op and --locat without dumps; 1 for --single-op with one of these, for values out of
/// their range, and for -mp, -gp and --ops-json that are not given together.
Done check_options(const CompareOptions& options);

Outcome<CompareEnd> compare_offline(const CompareOptions& options);

}  // namespace opdrift::diagnose::offline
