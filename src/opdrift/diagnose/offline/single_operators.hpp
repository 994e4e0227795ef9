#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "opdrift/diagnose/offline/analyser.hpp"
#include "opdrift/diagnose/offline/device_run.hpp"
#include "opdrift/diagnose/offline/part_build.hpp"

/// Every operator on its own, on the device (--single-op): the golden model is broken into its
/// operators (engine/surgery/break_apart.hpp), which get golden inputs, so that no error is handed
/// down. In <run>/single_op:
///
///   broken.onnx            all operators
///   <i>_broken.onnx        those whose inputs and outputs take a quarter of the device's free
///                          memory together
///   <i>_broken/            its inputs, model, dumps and result
///   single_op_summary.csv  the rows of all parts, each once; cells without content are NaN
///
/// Inputs of a part have the shapes of the golden run. Whole numbers of at most one dimension and
/// 64 elements, as shapes and indices are, become constants where the operator reads something
/// else too: the compiler wants to know them.
namespace opdrift::diagnose::offline {

struct SingleJob {
  std::string model;   ///< golden, ONNX
  std::string golden;  ///< its dump
  std::string folder;
  std::string device = "0";
  std::set<std::string> output_nodes;
  std::uint64_t max_elements = 0;
  std::uint64_t memory = 0;  ///< free on the device
  const CancelFlag* cancel = nullptr;
  PartBuild build;
};

struct SingleEnd {
  bool waiting = false;
  std::string csv;
  ResultTable table;
  std::vector<Alarm> alarms;
  std::vector<std::string> notes;  ///< operators that were not compared
};

/// Parts that fail cost their rows only, which say why. Fails as breaking the model and writing do,
/// and with no_dump_file when no part could be compared.
Outcome<SingleEnd> compare_single_operators(const SingleJob& job, DeviceSession& device);

}  // namespace opdrift::diagnose::offline
