#include "opdrift/pipeline/metric_columns.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::pipeline {

namespace {

Error unknown_metric(std::string_view entry) {
  std::vector<std::string_view> names;
  for (const metrics::Algorithm& algorithm : metrics::all_algorithms()) {
    names.push_back(algorithm.name);
    names.insert(names.end(), algorithm.aliases.begin(), algorithm.aliases.end());
  }
  const std::string hint = did_you_mean(entry, names);
  return Error{ErrorCode::invalid_argument, "--metrics '" + printable(entry) + "': no such metric" +
                                                (hint.empty() ? "; " : hint + " ") +
                                                "'opdrift list metrics' shows all"};
}

bool is_plugin(const std::vector<metrics::Plugin>& plugins, std::string_view name) {
  return std::any_of(plugins.begin(), plugins.end(),
                     [&](const metrics::Plugin& plugin) { return plugin.name() == name; });
}

Status read_list(const std::string& list, MetricColumns& columns) {
  if (to_lower(trim(list)) == "all") {
    for (const metrics::Algorithm& algorithm : metrics::all_algorithms()) {
      columns.algorithms.push_back(&algorithm);
    }
    return Unit{};
  }
  for (const std::string_view part : split(list, ',')) {
    const std::string_view entry = trim(part);
    const metrics::Algorithm* const algorithm = metrics::find_algorithm(entry);
    if (algorithm == nullptr) {
      if (!is_plugin(columns.plugins, entry)) {
        return unknown_metric(entry);
      }
      continue;
    }
    auto& chosen = columns.algorithms;
    if (std::find(chosen.begin(), chosen.end(), algorithm) == chosen.end()) {
      chosen.push_back(algorithm);
    }
  }
  return Unit{};
}

bool is_scalar(const tensor::Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](std::uint64_t extent) { return extent == 1; });
}

verdict::MetricValue value_of(const metrics::Algorithm& algorithm,
                              const verdict::TensorResult& tensor) {
  const metrics::AlgorithmValue value = algorithm.compute(
      {.measurement = *tensor.measurement, .scalar_tensor = is_scalar(tensor.target_shape)});
  return {value.value, metrics::format_value(algorithm, value), value.note_text};
}

}  // namespace

std::vector<std::string> MetricColumns::names() const {
  std::vector<std::string> all;
  for (const metrics::Algorithm* algorithm : algorithms) {
    all.emplace_back(algorithm->name);
  }
  for (const metrics::Plugin& plugin : plugins) {
    all.emplace_back(plugin.name());
  }
  return all;
}

Result<MetricColumns> choose_metrics(const std::string& list,
                                     const std::vector<std::string>& plugin_files) {
  MetricColumns columns;
  for (const std::string& file : plugin_files) {
    OPDRIFT_TRY(metrics::Plugin plugin, metrics::Plugin::load(file));
    columns.plugins.push_back(std::move(plugin));
  }
  if (!list.empty()) {
    columns.usual = false;
    OPDRIFT_CHECK_OK(read_list(list, columns));
  }
  std::unordered_set<std::string> seen;
  for (const std::string& name : columns.names()) {
    if (!seen.insert(name).second) {
      return Error{ErrorCode::invalid_argument, "two metrics are named '" + name + "'"};
    }
  }
  return columns;
}

void add_algorithm_values(const MetricColumns& columns, verdict::RunResult& result) {
  result.metric_names = columns.names();
  result.usual_metrics = columns.usual;
  for (verdict::TensorResult& tensor : result.tensors) {
    if (!tensor.measurement || tensor.statistics_only || result.metric_names.empty()) {
      continue;
    }
    std::vector<verdict::MetricValue> values;
    for (const metrics::Algorithm* algorithm : columns.algorithms) {
      values.push_back(value_of(*algorithm, tensor));
    }
    // Plug-ins have put theirs here while the tensors were at hand.
    tensor.metric_values.resize(columns.plugins.size());
    tensor.metric_values.insert(tensor.metric_values.begin(), values.begin(), values.end());
  }
}

Result<std::vector<verdict::MetricValue>> plugin_values(const MetricColumns& columns,
                                                        const tensor::View& golden,
                                                        const tensor::View& target,
                                                        const PluginLimits& limits) {
  std::vector<verdict::MetricValue> values;
  for (const metrics::Plugin& plugin : columns.plugins) {
    metrics::PluginOptions options;
    options.max_elements = limits.max_elements;
    options.cancel = limits.cancel;
    const auto value = plugin.run(golden, target, options);
    if (value) {
      values.push_back({value->value, value->text, value->note_text});
    } else if (value.error().code == ErrorCode::cancelled) {
      return value.error();
    } else {
      values.push_back({metrics::kNan, "", value.error().to_string()});
    }
  }
  return values;
}

}  // namespace opdrift::pipeline
