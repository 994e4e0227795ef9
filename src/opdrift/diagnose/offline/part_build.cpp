#include "opdrift/diagnose/offline/part_build.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "opdrift/diagnose/offline/model_kind.hpp"
#include "opdrift/graph/model_facts.hpp"

namespace opdrift::diagnose::offline {

namespace {

constexpr auto kOfWholeModels = std::to_array<std::string_view>({"check_report",
                                                                 "dump_mode",
                                                                 "dynamic_batch_size",
                                                                 "dynamic_dims",
                                                                 "dynamic_image_size",
                                                                 "framework",
                                                                 "input_format",
                                                                 "input_fp16_nodes",
                                                                 "input_hint_shape",
                                                                 "input_shape",
                                                                 "input_shape_range",
                                                                 "insert_op_conf",
                                                                 "is_input_adjust_hw_layout",
                                                                 "is_output_adjust_hw_layout",
                                                                 "json",
                                                                 "mode",
                                                                 "model",
                                                                 "om",
                                                                 "op_name_map",
                                                                 "out_nodes",
                                                                 "output",
                                                                 "output_type",
                                                                 "singleop",
                                                                 "weight"});

}  // namespace

PartBuild part_build(const DeviceModel& target, const std::string& tool_kit) {
  PartBuild build;
  build.program = atc_program(tool_kit);
  build.soc_version = graph::text_attribute(target.graph.attributes, "soc_version");
  for (auto& [name, value] : graph::build_options(target.graph).values) {
    if (std::find(kOfWholeModels.begin(), kOfWholeModels.end(), name) == kOfWholeModels.end()) {
      build.options.values.emplace_back(std::move(name), std::move(value));
    }
  }
  return build;
}

BuildStep build_step(const PartBuild& build, const std::string& model, const std::string& folder,
                     const std::string& title) {
  BuildStep step;
  step.title = title;
  step.folder = folder;
  step.words = {build.program, "--framework=5", "--model=" + model,
                "--output=" + folder + "/" + stem_of(model)};
  if (!build.soc_version.empty() && !build.options.get("soc_version")) {
    step.words.push_back("--soc_version=" + build.soc_version);
  }
  for (const auto& [name, value] : build.options.values) {
    step.words.push_back("--" + name + (value.empty() ? "" : "=" + value));
  }
  return step;
}

}  // namespace opdrift::diagnose::offline
