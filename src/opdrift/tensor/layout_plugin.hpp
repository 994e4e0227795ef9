#pragma once

#include <span>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/base/shared_object.hpp"
#include "opdrift/tensor/align.hpp"
#include "opdrift/tensor/layout_plugin.h"
#include "opdrift/tensor/tensor.hpp"

namespace opdrift::tensor {

/// A conversion between two layouts out of a shared object; see layout_plugin.h. Loading runs the
/// code of the object, so only paths a user named on purpose may come here. Safe from any thread.
class LayoutPlugin {
 public:
  /// Fails with not_found, or `unsupported` when the file is no plugin of this version or names
  /// layouts that do not exist.
  static Result<LayoutPlugin> load(const std::string& path);

  Format from() const { return from_; }
  Format to() const { return to_; }
  std::string_view summary() const { return table_->summary; }

  /// Converts; a result in a layout without blocks is cut to the logical shape like that of
  /// convert_for_output, and a cut that fails leaves the padding. Fails with unsupported_dtype
  /// (less than a byte, or of unknown size), malformed (bytes do not fill the stored shape),
  /// conversion_failed (refused, with the plugin's message) or limit (the result would be more than
  /// 64 times the stored bytes).
  Result<ConvertedTensor> convert(const Tensor& tensor, const Shape& target_shape) const;

 private:
  LayoutPlugin(SharedObject library, const opdrift_layout_plugin* table, Format from, Format to)
      : library_(std::move(library)), table_(table), from_(from), to_(to) {}

  /// The converted tensor, padding included.
  Result<Tensor> run(const Tensor& tensor, const Shape& logical) const;

  SharedObject library_;
  const opdrift_layout_plugin* table_;
  Format from_;
  Format to_;
};

/// The plugin for a pair of layouts; of several the last. Null when there is none.
const LayoutPlugin* find_layout_plugin(std::span<const LayoutPlugin> plugins, Format from,
                                       Format to);

}  // namespace opdrift::tensor
