#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "opdrift/base/parallel.hpp"
#include "opdrift/pipeline/msprobe/run_log.hpp"

namespace opdrift::pipeline {

/// Row colours of a workbook.
enum class Highlight : std::uint8_t {
  none,
  result,   ///< by Result: error red, warning yellow, pass green
  classic,  ///< by the thresholds of the releases that coloured rows
};

/// One comparison of dump.json runs.
struct ApiCompareOptions {
  std::string target_path;
  std::string golden_path;
  std::string output_folder;
  bool xlsx = false;
  bool fuzzy = false;
  std::string data_mapping;                 ///< yaml, "" for none
  std::optional<std::string> cell_mapping;  ///< yaml, or "" for the built-in renaming alone
  std::optional<std::string> api_mapping;
  std::optional<std::string> layer_mapping;
  bool diff_analyze = false;
  bool log_rows = false;
  bool reference_tables = false;  ///< exactly what the reference writes, its known slips included
  bool golden_only_rows = false;  ///< add the leaves that only the golden has, at the end
  bool accuracy_column = false;   ///< add "Accuracy Reached or Not"
  Highlight highlight = Highlight::none;
  std::size_t jobs = 0;
  const CancelFlag* cancel = nullptr;
  RunLog log;
};

}  // namespace opdrift::pipeline
