#include "opdrift/diagnose/evidence/result_table.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/evidence/cosines.hpp"
#include "opdrift/diagnose/evidence/operators.hpp"
#include "opdrift/diagnose/offline/result_table.hpp"
#include "opdrift/report/json_result.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class TableReader {
 public:
  TableReader(const ResultRows& rows, const Edges& edges) : rows_(rows), edges_(edges) {}

  flow::OperatorList run() {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      add(row);
    }
    return std::move(operators_);
  }

 private:
  void add(std::size_t row) {
    const std::string name(trim(rows_.cell(row, "NPUDump")));
    if (name.empty() || name == "*") {
      return;
    }
    const auto [place, fresh] = places_.try_emplace(name, operators_.size());
    if (fresh) {
      operators_.push_back(begun(row, name));
    }
    flow::OperatorFacts& op = operators_[place->second];
    const bool alone = trim(rows_.cell(row, "GroundTruth")) == "*";
    const double cosine = alone ? kNan : rows_.number(row, "CosineSimilarity");
    if (rows_.cell(row, "TensorIndex").find(":input:") != std::string::npos) {
      op.cos_in.push_back(cosine);
      return;
    }
    op.cos_out.push_back(cosine);
    keep_larger(rows_.number(row, "MaxAbsoluteError"), op.numbers.max_abs);
    keep_larger(rows_.number(row, "RelativeEuclideanDistance"), op.numbers.relative_l2);
  }

  /// By way of a row of a comparison, so that names and types come about the same way.
  flow::OperatorFacts begun(std::size_t row, const std::string& name) const {
    verdict::RunResult one;
    verdict::TensorResult tensor;
    tensor.operator_name = name;
    tensor.operator_type = trim(rows_.cell(row, "OpType"));
    tensor.golden_operator = trim(rows_.cell(row, "GroundTruth"));
    tensor.role = "input";
    one.tensors.push_back(std::move(tensor));
    flow::OperatorFacts facts = operators_of(one, edges_).operators.front();
    facts.cos_in.clear();
    return facts;
  }

  const ResultRows& rows_;
  const Edges& edges_;
  flow::OperatorList operators_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

flow::OperatorList operators_of(const ResultTable& table, const Edges& edges) {
  const ResultRows rows(table);
  return TableReader(rows, edges).run();
}

Result<flow::OperatorList> read_finished(const std::string& path, const Edges& edges) {
  if (path.ends_with(".csv")) {
    OPDRIFT_TRY(const ResultTable table, read_result_table(path));
    return operators_of(table, edges);
  }
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  OPDRIFT_TRY(const verdict::RunResult result, report::parse_json(as_text(bytes.span), path));
  return operators_of(result, edges).operators;
}

}  // namespace opdrift::diagnose::evidence
