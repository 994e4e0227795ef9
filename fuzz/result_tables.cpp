#include "in_memory_file.hpp"
#include "targets.hpp"

#include "opdrift/diagnose/evidence/operators.hpp"
#include "opdrift/diagnose/evidence/result_table.hpp"
#include "opdrift/report/json_result.hpp"
#include "opdrift/shell/commands/summary.hpp"
#include "opdrift/shell/workspace/decode.hpp"

namespace opdrift::fuzz {

/// Finished comparisons: result tables as the diagnosis and the shell read them, result.json, and
/// tables of statistics.
void result_tables(ByteSpan bytes) {
  const diagnose::evidence::Edges no_graph;
  if (const auto table = diagnose::parse_result_table(as_text(bytes), "fuzz")) {
    static_cast<void>(diagnose::evidence::operators_of(*table, no_graph));
  }
  if (const auto result = report::parse_json(as_text(bytes), "fuzz")) {
    static_cast<void>(diagnose::evidence::operators_of(*result, no_graph));
    static_cast<void>(diagnose::evidence::first_nonfinite(*result));
  }
  if (const auto operators = shell::parse_result_table(as_text(bytes))) {
    for (const shell::ComparedOperator& op : *operators) {
      static_cast<void>(op.bad(0.98));
    }
  }
  const InMemoryFile file(bytes);
  if (const std::string path = file.path(); !path.empty()) {
    static_cast<void>(shell::statistics_of_table(path));
  }
}

}  // namespace opdrift::fuzz
