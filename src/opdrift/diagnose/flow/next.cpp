#include "opdrift/diagnose/flow/next.hpp"

#include <algorithm>

#include "opdrift/base/shell_words.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/dump_switch.hpp"
#include "opdrift/diagnose/fixes/fusion_switch.hpp"
#include "opdrift/diagnose/flow/precision_cause.hpp"
#include "opdrift/diagnose/next_command.hpp"

namespace opdrift::diagnose::flow {

namespace {

/// What one experiment changes of the base command.
struct Change {
  std::vector<AtcSetting> settings;
  std::vector<std::string> remove;
  std::vector<GeneratedFile> files;
};

Change high_change(const StepInput& input, const Experiment& /*experiment*/) {
  return {{{"precision_mode", high_precision_mode(input)}}, {"precision_mode_v2"}, {}};
}

Change mixed_change(const StepInput& /*input*/, const Experiment& experiment) {
  Change change{{{"keep_dtype", "keep_dtype.cfg"}, {"precision_mode", "force_fp16"}},
                {"precision_mode_v2"},
                {keep_file(experiment.keep)}};
  if (!experiment.customize.empty()) {
    change.settings.emplace_back("customize_dtypes", "customize_dtypes.cfg");
    change.files.push_back(customize_file(experiment.customize));
  }
  return change;
}

Change buffer_change(const StepInput& /*input*/, const Experiment& /*experiment*/) {
  return {{{"buffer_optimize", "off_optimize"}}, {}, {}};
}

Change reuse_change(const StepInput& /*input*/, const Experiment& /*experiment*/) {
  return {{{"disable_reuse_memory", "1"}}, {}, {}};
}

Change fusion_change(const StepInput& /*input*/, const Experiment& /*experiment*/) {
  return {{{"fusion_switch_file", "fusion_switch.cfg"}},
          {"optimization_switch"},
          {{"fusion_switch.cfg", fixes::write_fusion_switch(fixes::all_fusion_off())}}};
}

Change aipp_change(const StepInput& /*input*/, const Experiment& /*experiment*/) {
  return {{}, {"insert_op_conf"}, {}};
}

Change quant_change(const StepInput& /*input*/, const Experiment& /*experiment*/) {
  return {{}, {"compression_optimize_conf"}, {}};
}

struct RoleRow {
  std::string_view role;  ///< or what it begins with
  Change (*change)(const StepInput& input, const Experiment& experiment);
};

constexpr RoleRow kRoles[] = {
    {"high", &high_change},     {"mixed_", &mixed_change},  {"nobuf", &buffer_change},
    {"noreuse", &reuse_change}, {"nofuse", &fusion_change}, {"noaipp", &aipp_change},
    {"noquant", &quant_change},
};

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// Only what is to be added, where the base command is not known.
std::string settings_text(const Change& change) {
  std::vector<std::string> words;
  for (const auto& [name, value] : change.settings) {
    words.push_back("--" + name + "=" + value);
  }
  std::string text = shell_command(words);
  for (const std::string& name : change.remove) {
    text += change.settings.empty() ? (text.empty() ? "without --" : ", --") + name : "";
  }
  return text;
}

/// The model's name in a dump switch: what the base command calls it.
std::string model_name(const Facts& facts) {
  std::string output = facts.options.get("output").value_or("model");
  output = output.substr(output.rfind('/') + 1);
  const bool named = output.size() > 3 && output.substr(output.size() - 3) == ".om";
  return named ? output.substr(0, output.size() - 3) : output;
}

/// "base.vs.high" as options of opdrift: "--base base_dump --high high_dump".
std::string dump_command(std::string_view pair) {
  const std::size_t cut = pair.find(".vs.");
  std::vector<std::string> words = {"opdrift", "diagnose"};
  for (const std::string_view side : {pair.substr(0, cut), pair.substr(cut + 4)}) {
    words.push_back(begins_with(side, "mixed_") ? "--mixed" : "--" + std::string(side));
    words.push_back(std::string(side) + "_dump");
  }
  return shell_command(words);
}

NextStep dump_step(const StepInput& input, std::string_view pair) {
  fixes::DumpSwitch dump;
  dump.models = {model_name(input.facts)};
  NextStep next;
  next.command = dump_command(pair);
  next.files = {{"acl.json", fixes::write_dump_switch(dump)}};
  return next;
}

NextStep bisect_step(const StepInput& input) {
  NextStep next;
  const std::string model = input.facts.options.get("model").value_or("model.onnx");
  next.command = shell_command({"opdrift", "bisect", "start", model, "--golden", "golden_dump"});
  return next;
}

NextStep atc_step(const StepInput& input, const Experiment& experiment) {
  NextStep next;
  for (const RoleRow& row : kRoles) {
    if (begins_with(experiment.role, row.role)) {
      Change change = row.change(input, experiment);
      next.command = input.facts.options.values.empty()
                         ? settings_text(change)
                         : next_atc_command(input.facts.options, experiment.role, change.settings,
                                            change.remove);
      next.files = std::move(change.files);
      break;
    }
  }
  return next;
}

}  // namespace

NextStep next_step(const StepInput& input, const Experiment& experiment) {
  constexpr std::string_view kDump = "dump ";
  NextStep next;
  if (begins_with(experiment.role, kDump)) {
    next = dump_step(input, std::string_view(experiment.role).substr(kDump.size()));
  } else if (experiment.role == "bisect") {
    next = bisect_step(input);
  } else {
    next = atc_step(input, experiment);
  }
  next.role = experiment.role;
  next.why = experiment.why;
  return next;
}

}  // namespace opdrift::diagnose::flow
