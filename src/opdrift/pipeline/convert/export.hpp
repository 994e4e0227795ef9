#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/tensor/format.hpp"
#include "opdrift/tensor/layout_plugin.hpp"

namespace opdrift::pipeline {

/// What tensors are written as: a file each (npy, bin, txt, pt, dump) or all in one (npz, stats).
enum class ExportType : std::uint8_t { npy, npz, bin, txt, pt, dump, stats };

std::optional<ExportType> export_type_by_name(std::string_view name);

struct ExportOptions {
  std::string output_folder;
  ExportType type = ExportType::npy;
  std::optional<tensor::Format> format;  ///< bring every tensor into this format first
  tensor::Shape shape;                   ///< logical shape wanted; empty: the original shape
  std::vector<tensor::LayoutPlugin> layout_plugins;  ///< go before the built-in conversions
  std::string only;                                  ///< regular expression on operator names
  std::size_t jobs = 0;
  const CancelFlag* cancel = nullptr;
  std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)> progress;
};

/// What became of one tensor.
struct ExportedTensor {
  std::string label;
  std::string path;         ///< written file; "" when it failed
  std::string problem;      ///< why it failed, or a remark
  tensor::TensorDesc desc;  ///< of the source
  std::optional<metrics::SideStats> stats;
};

/// Writes every tensor of a dump. Files are named after operator, role and index, with odd
/// characters replaced; names that collide or are too long get a number. Each line tells its own
/// failure. Fails when the folder cannot be made or an option makes no sense.
Result<std::vector<ExportedTensor>> export_dump(const DumpIndex& index,
                                                const ExportOptions& options);

}  // namespace opdrift::pipeline
