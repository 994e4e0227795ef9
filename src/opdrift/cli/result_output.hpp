#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "opdrift/base/result.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::cli {

/// What ends in exit code 1 (or 2, for what could not be read).
struct FailOn {
  bool differ = false;
  bool unmatched_golden = false;
  bool unmatched_target = false;
  bool unreadable = false;
};

/// Options of every command that shows a comparison.
struct ResultOptions {
  std::string output;   ///< folder; "" writes nothing
  std::string formats;  ///< "": csv and json in the folder, nothing without one
  std::string fail_on = "differ,unreadable";
  std::size_t rows = 12;
  bool quiet = false;
};

/// Reads a result.json. Fails when it cannot be read or is none.
Result<verdict::RunResult> read_result(const std::string& path);

/// The names of all reports, "json, csv, ...".
std::string report_names();

void add_result_options(CLI::App& app, ResultOptions& options);

/// Whether the result goes to standard output in the format asked for, in place of the table.
bool prints_format(const ResultOptions& options);

/// Reads --fail-on and checks --format. Fails with invalid_argument.
Result<FailOn> check_result_options(const ResultOptions& options);

/// Writes the chosen result files, prints the table and names the files, or prints the result in
/// one format where no folder is given. Returns the exit code:
/// 0 agree, 1 differ, 2 nothing compared, unreadable, interrupted or not written.
int show_result(const verdict::RunResult& result, const ResultOptions& options,
                const FailOn& fail_on);

}  // namespace opdrift::cli
