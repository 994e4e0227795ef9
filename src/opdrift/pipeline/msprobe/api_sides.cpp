#include "opdrift/pipeline/msprobe/api_sides.hpp"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "opdrift/base/file_kind.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/msprobe/api_run_reader.hpp"
#include "opdrift/io/msprobe/yaml_tree.hpp"
#include "opdrift/match/api_mapping.hpp"
#include "opdrift/match/layer_mapping.hpp"

namespace opdrift::pipeline {

namespace {

using graph::ApiRun;
using io::YamlNode;

void log(const ApiCompareOptions& options, RunLogLevel level, const std::string& text) {
  if (options.log) {
    options.log(level, text);
  }
}

std::string beside(const std::string& json, std::string_view name) {
  return std::string(io::folder_of(json)) + std::string(name);
}

/// Both files at once, each on its own thread.
Status read_both(const std::string& target_json, const std::string& golden_json, ApiSides& sides,
                 const ApiCompareOptions& options) {
  const io::ApiRunOptions reading{.debug = sides.debug};
  std::array<std::optional<Result<ApiRun>>, 2> runs;
  const std::array<const std::string*, 2> paths = {&target_json, &golden_json};
  parallel_for(2, options.jobs,
               [&](std::size_t i) { runs[i].emplace(io::read_api_run(*paths[i], reading)); });
  for (const auto& run : runs) {
    if (!run->has_value()) {
      return run->error();
    }
  }
  sides.target = std::move(*runs[0]).value();
  sides.golden = std::move(*runs[1]).value();
  return Unit{};
}

Result<FrameworkRules> framework_rules(const ApiSides& sides, const ApiCompareOptions& options) {
  const auto framework = [&](const ApiRun& run) -> std::string {
    if (run.framework.empty()) {
      log(options, RunLogLevel::warning, run.path + " names no framework; pytorch is assumed.");
      return "pytorch";
    }
    return run.framework;
  };
  const std::string target = framework(sides.target);
  const std::string golden = framework(sides.golden);
  const bool target_ms = target == "mindspore" || target == "mindtorch";
  if (target == "pytorch" && golden == "pytorch") {
    return FrameworkRules::pytorch;
  }
  if (target_ms && golden == "pytorch") {
    return FrameworkRules::cross;
  }
  if (target_ms && golden == "mindspore") {
    return FrameworkRules::mindspore;
  }
  return Error{ErrorCode::bad_combination,
               "a run of " + target + " cannot be compared with one of " + golden};
}

Result<verdict::RowMode> row_mode(const ApiSides& sides) {
  const auto& target = sides.target;
  const auto& golden = sides.golden;
  if (target.task != golden.task || target.kind != golden.kind) {
    return Error{ErrorCode::bad_combination, "Please check the dump task is consistent."};
  }
  switch (target.kind) {
    case graph::RunTask::tensor: return verdict::RowMode::real_data;
    case graph::RunTask::statistics: return verdict::RowMode::statistics;
    case graph::RunTask::checksum: return verdict::RowMode::checksum;
    case graph::RunTask::structure:
    case graph::RunTask::other: break;
  }
  return Error{ErrorCode::unsupported,
               "task '" + target.task +
                   "' cannot be compared: expected "
                   "tensor or statistics",
               target.path};
}

Result<match::NamePairs> name_pairs(const std::string& path) {
  OPDRIFT_TRY(const YamlNode root, io::read_yaml(path));
  if (root.kind != YamlNode::Kind::map) {
    return Error{ErrorCode::malformed, "expected a mapping of names to names", path};
  }
  match::NamePairs pairs;
  for (const auto& [from, to] : root.members) {
    if (to.kind != YamlNode::Kind::scalar) {
      return Error{ErrorCode::malformed, "expected a name as value of " + from, path};
    }
    pairs.emplace_back(from, to.text);
  }
  return pairs;
}

Result<std::vector<std::uint64_t>> positions(const YamlNode& rule,
                                             std::initializer_list<std::string_view> names,
                                             const std::string& path) {
  std::vector<std::uint64_t> values;
  const YamlNode* list = nullptr;
  for (const std::string_view name : names) {
    list = list == nullptr ? rule.find(name) : list;
  }
  if (list == nullptr || list->is_null()) {
    return values;
  }
  for (const YamlNode& item : list->items) {
    const auto value = parse_u64(item.text);
    if (!value) {
      return Error{ErrorCode::malformed, "expected positions, found '" + item.text + "'", path};
    }
    values.push_back(*value);
  }
  return values;
}

Result<match::ApiRule> api_rule(const YamlNode& node, const std::string& path) {
  match::ApiRule rule;
  const YamlNode* target = node.find("ms_api");
  const YamlNode* golden = node.find("pt_api");
  if (target == nullptr || golden == nullptr) {
    return Error{ErrorCode::malformed, "expected ms_api and pt_api in every rule", path};
  }
  rule.target_api = target->text;
  rule.golden_api = golden->text;
  OPDRIFT_TRY(rule.inputs.target, positions(node, {"ms_args"}, path));
  OPDRIFT_TRY(rule.inputs.golden, positions(node, {"pt_args"}, path));
  OPDRIFT_TRY(rule.outputs.target, positions(node, {"ms_outputs", "ms_output"}, path));
  OPDRIFT_TRY(rule.outputs.golden, positions(node, {"pt_outputs", "pt_output"}, path));
  OPDRIFT_TRY(rule.parameters.target, positions(node, {"ms_parameters"}, path));
  OPDRIFT_TRY(rule.parameters.golden, positions(node, {"pt_parameters"}, path));
  OPDRIFT_TRY(rule.parameters_grad.target, positions(node, {"ms_parameters_grad"}, path));
  OPDRIFT_TRY(rule.parameters_grad.golden, positions(node, {"pt_parameters_grad"}, path));
  return rule;
}

bool lengths_agree(const match::ApiRule& rule) {
  for (const match::PositionPairs* pairs :
       {&rule.inputs, &rule.outputs, &rule.parameters, &rule.parameters_grad}) {
    if (pairs->target.size() != pairs->golden.size()) {
      return false;
    }
  }
  return true;
}

Result<std::vector<match::ApiRule>> api_rules(const std::string& path,
                                              const ApiCompareOptions& options) {
  std::vector<match::ApiRule> rules;
  if (path.empty()) {
    return rules;
  }
  OPDRIFT_TRY(const YamlNode root, io::read_yaml(path));
  if (root.kind != YamlNode::Kind::list) {
    return Error{ErrorCode::malformed, "expected a list of rules", path};
  }
  for (const YamlNode& node : root.items) {
    OPDRIFT_TRY(match::ApiRule rule, api_rule(node, path));
    if (lengths_agree(rule)) {
      rules.push_back(std::move(rule));
    } else {
      log(options, RunLogLevel::warning,
          "The rule for " + rule.target_api + " lists different numbers of positions; skipped.");
    }
  }
  return rules;
}

/// What layer mapping knows of one side; nothing when the side has neither file.
struct LayerSide {
  io::CallStacks stacks;
  io::CallParents parents;
  match::CallContext context;
};

Result<std::unique_ptr<LayerSide>> layer_side(const std::string& json) {
  const std::string stack = beside(json, "stack.json");
  const std::string construct = beside(json, "construct.json");
  const bool has_stack = is_file(stack);
  const bool has_construct = is_file(construct);
  if (has_stack != has_construct) {
    return Error{ErrorCode::not_found, "layer mapping needs both stack.json and construct.json",
                 std::string(io::folder_of(json))};
  }
  if (!has_stack) {
    return std::unique_ptr<LayerSide>();
  }
  auto side = std::make_unique<LayerSide>();
  OPDRIFT_TRY(side->stacks, io::read_call_stacks(stack));
  OPDRIFT_TRY(side->parents, io::read_call_parents(construct));
  side->context.parent_of = side->parents.parent_of;
  side->context.stack_of = [raw = side.get()](std::string_view name) {
    return raw->stacks.find(name);
  };
  return side;
}

Result<match::LayerRules> layer_rules(const std::string& path) {
  match::LayerRules rules;
  if (path.empty()) {
    return rules;
  }
  OPDRIFT_TRY(const YamlNode root, io::read_yaml(path));
  for (const auto& [type, members] : root.members) {
    match::NamePairs& pairs = rules[type];
    for (const auto& [from, to] : members.members) {
      pairs.emplace_back(from, to.text);
    }
  }
  return rules;
}

/// A plain YAML scalar where that is safe, else in single quotes.
std::string yaml_text(const std::string& text) {
  constexpr std::string_view kPlain = "._-/<>";
  for (const char c : text) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!word && kPlain.find(c) == std::string_view::npos) {
      return "'" + replace_all(text, "'", "''") + "'";
    }
  }
  return text;
}

Result<match::NamePairs> layer_pairs(const ApiSides& sides, const ApiCompareOptions& options) {
  OPDRIFT_TRY(const match::LayerRules rules, layer_rules(*options.layer_mapping));
  OPDRIFT_TRY(const auto target, layer_side(sides.target.path));
  OPDRIFT_TRY(const auto golden, layer_side(sides.golden.path));
  match::NamePairs pairs;
  if (target == nullptr || golden == nullptr) {
    for (const graph::ApiLeaf& leaf : sides.target.leaves) {
      pairs.emplace_back(leaf.name, "N/A");
    }
  } else {
    pairs = match::map_layers(sides.target, target->context, sides.golden, golden->context, rules);
  }
  std::string yaml;
  for (const auto& [from, to] : pairs) {
    yaml += yaml_text(from) + ": " + yaml_text(to) + "\n";
  }
  const std::string path = options.output_folder + "/data_mapping_" + time_stamp(false) + ".yaml";
  OPDRIFT_CHECK_OK(io::write_file(path, yaml));
  return pairs;
}

Result<match::ApiMatchOptions> match_options(const ApiSides& sides,
                                             const ApiCompareOptions& options) {
  match::ApiMatchOptions matching;
  matching.jobs = options.jobs;
  matching.debug = sides.debug;
  matching.cross_framework = sides.rules == FrameworkRules::cross;
  if (!options.data_mapping.empty()) {
    OPDRIFT_TRY(const match::NamePairs pairs, name_pairs(options.data_mapping));
    matching.translate = match::data_translation(pairs);
    matching.check_dtypes = false;
    return matching;
  }
  if (options.layer_mapping && matching.cross_framework) {
    OPDRIFT_TRY(const match::NamePairs pairs, layer_pairs(sides, options));
    matching.translate = match::data_translation(pairs);
    matching.check_dtypes = false;
    return matching;
  }
  if (options.cell_mapping) {
    match::NamePairs pairs;
    if (!options.cell_mapping->empty()) {
      OPDRIFT_TRY(pairs, name_pairs(*options.cell_mapping));
    }
    matching.translate = match::cell_translation(std::move(pairs));
  } else if (options.api_mapping) {
    OPDRIFT_TRY(std::vector<match::ApiRule> rules, api_rules(*options.api_mapping, options));
    matching.translate = match::api_translation(sides.target, sides.golden, std::move(rules));
  }
  matching.fuzzy = options.fuzzy;
  return matching;
}

Status check_mappings(const ApiSides& sides, const ApiCompareOptions& options) {
  if (options.api_mapping && sides.rules == FrameworkRules::pytorch) {
    return Error{ErrorCode::invalid_argument, "Argument -am is not supported in PyTorch framework"};
  }
  if (options.layer_mapping && sides.rules != FrameworkRules::cross) {
    log(options, RunLogLevel::warning,
        "Layer mapping pairs MindSpore with PyTorch runs; it has no effect here.");
  }
  return Unit{};
}

void log_fuzzy(const ApiSides& sides, const ApiCompareOptions& options) {
  for (const match::ApiPair& pair : sides.match.pairs) {
    if (options.fuzzy && pair.unmatched == match::ApiUnmatched::name) {
      log(options, RunLogLevel::warning,
          std::string(sides.target.leaves[pair.target].name) + " can not fuzzy match");
    }
  }
}

}  // namespace

Result<ApiSides> open_api_sides(const std::string& target_json, const std::string& golden_json,
                                const ApiCompareOptions& options) {
  ApiSides sides;
  sides.debug = target_json.ends_with("debug.json");
  const std::string stack = beside(target_json, "stack.json");
  if (is_file(stack)) {
    OPDRIFT_TRY(sides.stacks, io::read_call_stacks(stack));
  } else {
    std::string folder(io::folder_of(target_json));
    folder = folder.size() > 1 ? folder.substr(0, folder.size() - 1) : folder;
    log(options, RunLogLevel::warning, "stack.json is not found in dump dir " + folder + ".");
  }
  log(options, RunLogLevel::info,
      "Please check whether the input data belongs to you. If not, there may be security risks.");
  OPDRIFT_CHECK_OK(read_both(target_json, golden_json, sides, options));
  OPDRIFT_TRY(sides.rules, framework_rules(sides, options));
  OPDRIFT_TRY(sides.mode, row_mode(sides));
  OPDRIFT_CHECK_OK(check_mappings(sides, options));
  for (const ApiRun* run : {&sides.target, &sides.golden}) {
    if (run->entries.empty()) {
      log(options, RunLogLevel::warning, "No APIs found in dump.json.");
    }
    for (const std::string& warning : run->warnings) {
      log(options, RunLogLevel::warning, warning);
    }
  }
  if (sides.target.leaves.empty() || sides.golden.leaves.empty()) {
    return sides;
  }
  log(options, RunLogLevel::info, "Matching APIs/Modules in progress...");
  OPDRIFT_TRY(const match::ApiMatchOptions matching, match_options(sides, options));
  sides.match = match::match_api_runs(sides.target, sides.golden, matching);
  log_fuzzy(sides, options);
  log(options, RunLogLevel::info, "APIs/Modules match done.");
  return sides;
}

}  // namespace opdrift::pipeline
