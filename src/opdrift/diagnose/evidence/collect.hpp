#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/diagnose/flow/limits.hpp"

/// Dumps, models, result tables and verdicts to the facts of the decision flow.
///
/// Comparisons that are made, as far as both sides are given: base against golden, high, nobuf,
/// noreuse, nofuse and noquant; the last mixed run against high; high against golden (for its
/// verdict); the outputs of the framework against those of the golden (export); a second base dump
/// against the first (repeat).
namespace opdrift::diagnose::evidence {

struct CollectOptions {
  std::map<std::string, std::string> dumps;   ///< role -> folder; "repeat" is a second base dump
  std::vector<std::string> mixed;             ///< dumps of the rounds of the keep list, in order
  std::string keep;                           ///< keep_dtype file of the last round
  std::string graph;                          ///< of the base run's model: om, json or ge text
  std::map<std::string, std::string> graphs;  ///< of further runs, by role
  std::string model;                          ///< ONNX, of the golden
  std::string weights;                        ///< what that was exported from: npz, folder, state
  std::vector<std::string> input_names;       ///< of the original model
  std::string aipp;                           ///< AIPP file of the base model
  std::string command;                        ///< of the build; "": as the graph says
  std::string device_soc;
  std::vector<std::pair<std::string, std::string>> verdicts;  ///< role and pass or fail
  std::vector<std::string> results;  ///< result tables of base against golden, or "PAIR=FILE"
  std::string online;                ///< folder of input_* and output_* of the online run
  std::string offline;               ///< the same of the offline run
  flow::Limits limits;
  std::size_t jobs = 0;
  const CancelFlag* cancel = nullptr;
  std::function<void(std::string_view what)> stage;  ///< told before each comparison
};

/// Fails when a folder, a model or a table that was given cannot be read at all, for a verdict that
/// is neither pass nor fail, and when cancelled. What is wrong with single tensors is left out.
Result<flow::Facts> collect_facts(const CollectOptions& options);

}  // namespace opdrift::diagnose::evidence
