#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/flow/diagnosis.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/diagnose/flow/step.hpp"
#include "opdrift/engine/dump.hpp"
#include "opdrift/verdict/gates.hpp"

/// The decision flow with ONNX Runtime as the device, so that it can make its own experiments:
///
///   golden    f32, graph as it is
///   base      the precision and optimisation asked for
///   high      f32, the optimisation asked for
///   mixed_<k> as base, the operators of the keep list in f32
///   nofuse    as base, graph as it is
///
/// After each run the flow is asked what comes next, until it has no experiment that can be made
/// here. While the outputs fail though no operator is beyond the limit, that limit moves towards 1.
/// Buffers and memory reuse are the library's own: these runs count as failed. When fusion is to
/// blame, optimisers are switched off one at a time, and the first that makes the outputs pass is
/// named.
namespace opdrift::diagnose::autorun {

struct AutoOptions {
  std::string model;
  std::string folder;  ///< for dumps and reports, made if missing
  engine::InputOptions inputs;
  engine::Precision precision = engine::Precision::fp16;
  engine::Optimization optimization = engine::Optimization::none;
  verdict::Gates rule;  ///< what net outputs have to pass; without gates: the output limit
  bool rule_given = false;
  flow::FlowOptions flow;
  std::size_t max_rounds = 64;  ///< of the keep list
  bool keep_dumps = false;      ///< leave the dumps in the folder
  std::string library;          ///< of ONNX Runtime
  unsigned threads = 0;
  std::string opdrift_version;
  const CancelFlag* cancel = nullptr;
  std::function<void(std::string_view what)> stage;
};

struct AutoReport {
  flow::Diagnosis diagnosis;
  flow::Facts facts;
  std::vector<std::string> runs;  ///< what was run and how it ended, in order
};

/// Fails as dump_model does for the golden and the base run, and when cancelled.
Result<AutoReport> run_auto(const AutoOptions& options);

}  // namespace opdrift::diagnose::autorun
