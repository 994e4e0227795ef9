#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/offline/compare_run.hpp"

/// The dump of one model, without a comparison. Of CompareOptions these count: golden_model (the
/// model to dump, ONNX or offline), inputs, output, input_shape, shape_range, device, output_size,
/// optimise and what a run needs. Folders are those of a comparison.
namespace opdrift::diagnose::offline {

/// Least room on the disk that a dump is begun with.
inline constexpr std::uint64_t kLeastFreeBytes = std::uint64_t{2} << 30;

/// `results` are the folders with dumps. Fails with write_file (less room than kLeastFreeBytes),
/// not_supported (a model that cannot be run here) and as compare_offline does.
Outcome<CompareEnd> dump_offline(const CompareOptions& options);

}  // namespace opdrift::diagnose::offline
