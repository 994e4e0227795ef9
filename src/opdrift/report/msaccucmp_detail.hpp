#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

/// Element-by-element listing of one pair of tensors. Head line and rows, LF line ends:
///
///   Index,N C H W,NPUDump,GroundTruth,AbsoluteError,RelativeError
///   row    = index "," coordinates "," value TAB "," value TAB "," error TAB "," error TAB
///   value  = "%.6f"            error = "%.6f"
///
/// Coordinates are separated by blanks, row-major, the shape padded with ones to four axes. A
/// relative error that is nan or inf is "-" without TAB in the listing; in the two lists of the
/// worst rows every nan and inf is "-". Bool tensors show True and False, their errors are "-" and
/// their worst rows are the first ones. Errors: |t - g| and |t - g| / |g|, in double.
namespace opdrift::report {

struct DetailOptions {
  std::size_t worst_rows = 20;
  std::uint64_t lines_per_file = 1'000'000;
  bool listing = true;
  /// A relative error without meaning (nan, or golden 0) counts as 0 for the extremes and the worst
  /// rows, as in the reference; otherwise inf comes first and nan is left out.
  bool reference = false;
  std::string format = "N C H W";  ///< name of the coordinates in the head line
};

/// Receives the listing: `begin_file(first index)` before the lines of each file.
struct DetailSink {
  std::function<Status(std::uint64_t first_index)> begin_file;
  std::function<Status(std::string_view text)> write;
};

/// Everything but the listing.
struct Detail {
  std::uint64_t count = 0;
  std::string min_absolute, max_absolute, min_relative, max_relative;  ///< as printed
  std::vector<std::string> worst_absolute;                             ///< rows, worst first
  std::vector<std::string> worst_relative;
};

/// Walks both tensors once, a chunk at a time, and hands the listing to `sink`. Both views need the
/// same number of elements; `shape` gives the coordinates. Memory: the worst rows and one chunk.
/// Fails with mismatch, unsupported_dtype or what the sink fails with.
Result<Detail> list_detail(const tensor::View& target, const tensor::View& golden,
                           const tensor::Shape& shape, const DetailOptions& options,
                           const DetailSink& sink);

std::string detail_head(const DetailOptions& options);

/// The summary file: counts, names, format and extremes.
std::string render_detail_summary(const Detail& detail, const std::string& target,
                                  const std::string& golden, const DetailOptions& options);

/// A list of the worst rows as a table for a terminal: columns padded, TAB between them.
std::string render_detail_table(const DetailOptions& options, const std::vector<std::string>& rows);

/// Name of the coordinates for a layout: "N C H W", "N C D H W", "ID" for rank 0.
std::string detail_format(std::string_view layout, std::size_t rank);

}  // namespace opdrift::report
