#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/report/cell_block.hpp"

/// Result tables as files.
///
///   csv    <stem>.csv; beyond 1,000,000 rows <stem>_part_<i>.csv, i from 1, each with the header
///   xlsx   <stem>.xlsx, sheet "Sheet1"; beyond 1,048,500 rows equal parts in "part_<i>", i from 0
namespace opdrift::pipeline {

enum class TableFormat : std::uint8_t { csv, xlsx };

struct TableSpec {
  std::string stem;  ///< path without extension
  TableFormat format = TableFormat::csv;
  std::vector<std::string> columns;
  std::uint64_t rows = 0;  ///< all rows together
};

/// Fills rows [first, first + count) of the table into the block. Called by several threads.
using FillRows =
    std::function<Status(std::uint64_t first, std::uint64_t count, report::CellBlock& block)>;

/// Where a table may be cut for parallel work: row numbers, rising, the first 0, the last `rows`.
using RowCuts = std::vector<std::uint64_t>;

/// Cuts of about `step` rows.
RowCuts even_cuts(std::uint64_t rows, std::uint64_t step);

struct WriteTableOptions {
  std::size_t jobs = 0;
  const CancelFlag* cancel = nullptr;
};

/// Writes the table; rows are made and rendered in parallel, a few pieces ahead of the file. Files
/// appear whole or not at all. Returns their paths. Fails with what `fill` returns, with
/// `malformed` for text that a spreadsheet could run, or as io::FileWriter does.
Result<std::vector<std::string>> write_table(const TableSpec& spec, const RowCuts& cuts,
                                             const FillRows& fill,
                                             const WriteTableOptions& options = {});

/// Several small sheets in one workbook: name, columns, rows.
struct NamedSheet {
  std::string name;
  std::vector<std::string> columns;
  report::CellBlock rows{1};
};
Status write_workbook(const std::string& path, const std::vector<NamedSheet>& sheets);

}  // namespace opdrift::pipeline
