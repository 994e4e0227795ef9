#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opdrift/verdict/result.hpp"

/// One network in several comparisons: steps of a training, ranks, runs before and after a fix.
///
///   run      a result, or one step of it where it holds several
///   line     an output of an operator, known by the golden operator's name and its number
///   wrong    culprit, drift or victim; without a judgement: beyond a limit
///   begins   the first run in which the line is wrong
///   growth   error in the last run over that in the first one that has the line
namespace opdrift::verdict {

/// What one run says of one output.
struct TrendCell {
  /// Relative error, as the judge scales it where it judged; inf with NaN or Inf on one side only.
  double error = metrics::kNan;
  double excess = metrics::kNan;  ///< over what depth explains
  std::string_view state;         ///< label, "pass", "fail", or "broken" when not comparable
  bool wrong = false;
};

struct TrendLine {
  std::string operator_name;  ///< as the golden names it
  std::string operator_type;
  std::uint32_t output = 0;
  std::vector<std::optional<TrendCell>> cells;  ///< by run
  std::optional<std::size_t> begins;
  std::size_t wrong_runs = 0;
  double growth = metrics::kNan;
};

struct Trends {
  std::vector<std::string> runs;
  std::vector<TrendLine> lines;  ///< in execution order of the first run that has them
};

/// Collects runs one after the other, so that only one result is held at a time.
class TrendBuilder {
 public:
  /// Adds the outputs of a result as a run called `name`, or as several called "name:step".
  void add(const std::string& name, const RunResult& result);
  Trends finish();

 private:
  std::size_t run_of(const std::string& name);
  TrendLine& line_of(const TensorResult& tensor);

  Trends trends_;
  std::unordered_map<std::string, std::size_t> lines_;
};

/// Lines that are wrong somewhere: those that begin first come first, then in execution order.
std::vector<std::size_t> by_beginning(const Trends& trends);

}  // namespace opdrift::verdict
