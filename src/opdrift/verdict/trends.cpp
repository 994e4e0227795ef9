#include "opdrift/verdict/trends.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace opdrift::verdict {

namespace {

bool is_wrong(Label label) {
  return label == Label::culprit || label == Label::drift || label == Label::victim;
}

// Norms leave NaN and Inf out; on one side only they are beyond any error of numbers.
double error_of(const TensorResult& tensor) {
  if (tensor.measurement->class_mismatches > 0) {
    return std::numeric_limits<double>::infinity();
  }
  const double relative = tensor.judgement ? tensor.judgement->relative : metrics::kNan;
  return std::isnan(relative) ? tensor.measurement->relative_l2() : relative;
}

TrendCell cell_of(const TensorResult& tensor) {
  TrendCell cell;
  if (!tensor.measurement) {
    cell.state = "broken";
    cell.wrong = !tensor.passed;
    return cell;
  }
  cell.error = error_of(tensor);
  if (!tensor.judgement) {
    cell.state = tensor.passed ? "pass" : "fail";
    cell.wrong = !tensor.passed;
    return cell;
  }
  const Judgement& judgement = *tensor.judgement;
  cell.excess = judgement.q_cum;
  cell.state = to_string(judgement.label);
  cell.wrong = is_wrong(judgement.label) || (judgement.label == Label::unjudged && !tensor.passed);
  return cell;
}

/// Two rows of one run and line: the one that is worse counts.
void take(TrendCell cell, std::optional<TrendCell>& known) {
  const bool worse = !known || (cell.wrong && !known->wrong) ||
                     (cell.wrong == known->wrong && !(cell.error <= known->error));
  if (worse) {
    known = cell;
  }
}

void conclude(TrendLine& line, std::size_t runs) {
  line.cells.resize(runs);
  const TrendCell* first = nullptr;
  const TrendCell* last = nullptr;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::optional<TrendCell>& cell = line.cells[run];
    if (!cell) {
      continue;
    }
    first = first == nullptr ? &*cell : first;
    last = &*cell;
    line.wrong_runs += cell->wrong ? 1U : 0U;
    if (cell->wrong && !line.begins) {
      line.begins = run;
    }
  }
  if (last != first) {
    line.growth = last->error / first->error;
  }
}

}  // namespace

std::size_t TrendBuilder::run_of(const std::string& name) {
  trends_.runs.push_back(name);
  return trends_.runs.size() - 1;
}

TrendLine& TrendBuilder::line_of(const TensorResult& tensor) {
  const std::string& name =
      tensor.golden_operator.empty() ? tensor.operator_name : tensor.golden_operator;
  const auto [found, added] =
      lines_.try_emplace(name + '\n' + std::to_string(tensor.index), trends_.lines.size());
  if (added) {
    TrendLine& line = trends_.lines.emplace_back();
    line.operator_name = name;
    line.operator_type = tensor.operator_type;
    line.output = tensor.index;
  }
  return trends_.lines[found->second];
}

void TrendBuilder::add(const std::string& name, const RunResult& result) {
  std::set<std::string> steps;
  for (const TensorResult& tensor : result.tensors) {
    steps.insert(tensor.step);
  }
  std::map<std::string, std::size_t> run_of_step;
  for (const std::string& step : steps) {
    run_of_step.emplace(step, run_of(steps.size() > 1 ? name + ":" + step : name));
  }
  if (steps.empty()) {
    run_of(name);
  }
  for (const TensorResult& tensor : result.tensors) {
    if (tensor.role != "output") {
      continue;
    }
    TrendLine& line = line_of(tensor);
    const std::size_t run = run_of_step.at(tensor.step);
    line.cells.resize(std::max(line.cells.size(), run + 1));
    take(cell_of(tensor), line.cells[run]);
  }
}

Trends TrendBuilder::finish() {
  for (TrendLine& line : trends_.lines) {
    conclude(line, trends_.runs.size());
  }
  lines_.clear();
  return std::move(trends_);
}

std::vector<std::size_t> by_beginning(const Trends& trends) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < trends.lines.size(); ++i) {
    if (trends.lines[i].begins) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return *trends.lines[a].begins < *trends.lines[b].begins;
  });
  return order;
}

}  // namespace opdrift::verdict
