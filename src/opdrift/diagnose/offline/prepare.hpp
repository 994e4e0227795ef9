#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "opdrift/diagnose/offline/compare_run.hpp"
#include "opdrift/diagnose/offline/device_model.hpp"
#include "opdrift/diagnose/offline/device_run.hpp"
#include "opdrift/diagnose/offline/input_files.hpp"
#include "opdrift/diagnose/offline/model_kind.hpp"
#include "opdrift/diagnose/offline/workspace.hpp"

/// The first half of a comparison: models, inputs and device dumps, for every shape.
namespace opdrift::diagnose::offline {

/// One shape of one comparison.
struct ShapeRun {
  std::string name;  ///< of the folder; "" without ranges
  std::string folder;
  std::vector<WantedInput> wanted;
  InputFiles inputs;
  std::string target_dump;  ///< "" while it has to wait
  std::string golden_dump;  ///< of a golden offline model
};

/// What the second half works on.
struct Prepared {
  ModelKind golden_kind = ModelKind::onnx;
  DeviceModel target;
  std::optional<DeviceModel> golden;  ///< a golden offline model, once it exists
  std::string golden_path;            ///< of it; "" when the golden side is ONNX
  std::set<std::string> output_nodes;
  std::vector<ShapeRun> shapes;

  bool golden_is_onnx() const { return golden_kind == ModelKind::onnx; }
  /// True when device dumps are the golden side.
  bool golden_on_device() const { return !golden_path.empty(); }
};

/// Dumps that have to wait are left to `session`. Fails as its steps do.
Outcome<Prepared> prepare_comparison(const CompareOptions& options, const Workspace& workspace,
                                     DeviceSession& session);

}  // namespace opdrift::diagnose::offline
