#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/base/shared_object.hpp"
#include "opdrift/metrics/algorithms/algorithm.hpp"
#include "opdrift/metrics/plugin.h"
#include "opdrift/tensor/view.hpp"

namespace opdrift::metrics {

struct PluginOptions {
  std::string options;             ///< handed to the plugin as it stands
  std::uint64_t max_elements = 0;  ///< compare only the first N elements; 0: all
  const CancelFlag* cancel = nullptr;
};

/// An algorithm out of a shared object; see plugin.h. Loading runs the code of the object, so only
/// paths a user named on purpose may come here. Copies share the object, which stays loaded as long
/// as one of them lives.
class Plugin {
 public:
  /// Fails with not_found, or `unsupported` when the file is no plugin of this version.
  static Result<Plugin> load(const std::string& path);

  std::string_view name() const { return table_->name; }
  std::string_view summary() const { return table_->summary; }

  /// Streams both tensors through the plugin on this thread. Fails as measure() does. A failure of
  /// the plugin is a value "NaN" with its message as note text.
  Result<AlgorithmValue> run(const tensor::View& golden, const tensor::View& target,
                             const PluginOptions& options = {}) const;

 private:
  Plugin(SharedObject library, const opdrift_plugin* table)
      : library_(std::move(library)), table_(table) {}

  SharedObject library_;
  const opdrift_plugin* table_;
};

}  // namespace opdrift::metrics
