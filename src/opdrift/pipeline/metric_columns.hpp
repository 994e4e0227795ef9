#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/metrics/plugin.hpp"
#include "opdrift/metrics/registry.hpp"
#include "opdrift/tensor/view.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// Metrics a user asked for, beside or in place of the usual ones:
///
///   list   = "all" | entry *("," entry)       "all": every algorithm of the registry
///   entry  = name | alias | reference index   of metrics/registry.hpp, in any case
///          | name of a plug-in that is loaded
///
/// Columns follow the list; plug-ins stand behind it in the order they were loaded.
struct MetricColumns {
  std::vector<const metrics::Algorithm*> algorithms;
  std::vector<metrics::Plugin> plugins;
  bool usual = true;  ///< false: a list was given

  std::vector<std::string> names() const;
  bool needs_divergence() const { return metrics::needs_divergence(algorithms); }
};

/// Loads the plug-ins and reads the list; an empty list leaves the usual metrics. Fails with what
/// loading fails with, or invalid_argument: an unknown entry (with near names) or two metrics of
/// one name.
Result<MetricColumns> choose_metrics(const std::string& list,
                                     const std::vector<std::string>& plugin_files);

/// Adds the values of the algorithms to every row with a measurement of tensors, and an empty value
/// per plug-in. Rows of statistics have no values.
void add_algorithm_values(const MetricColumns& columns, verdict::RunResult& result);

struct PluginLimits {
  std::uint64_t max_elements = 0;  ///< 0: all
  const CancelFlag* cancel = nullptr;
};

/// The values of the plug-ins for one pair. What a plug-in cannot do is a value with a note; only
/// an interruption fails.
Result<std::vector<verdict::MetricValue>> plugin_values(const MetricColumns& columns,
                                                        const tensor::View& golden,
                                                        const tensor::View& target,
                                                        const PluginLimits& limits);

}  // namespace opdrift::pipeline
