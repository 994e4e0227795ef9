#pragma once

#include <string>

#include "opdrift/diagnose/offline/device_model.hpp"
#include "opdrift/diagnose/offline/device_run.hpp"
#include "opdrift/graph/atc_options.hpp"

namespace opdrift::diagnose::offline {

/// How parts of the golden model are built: with the options the target was built with, but for
/// those that name its inputs, outputs and shapes, which a part does not have.
struct PartBuild {
  std::string program;  ///< atc_program
  graph::AtcOptions options;
  std::string soc_version;  ///< where the options do not say; "" for neither
};

PartBuild part_build(const DeviceModel& target, const std::string& tool_kit);

/// Builds `model`, an ONNX file, to `<folder>/<its stem>.om`.
BuildStep build_step(const PartBuild& build, const std::string& model, const std::string& folder,
                     const std::string& title);

}  // namespace opdrift::diagnose::offline
