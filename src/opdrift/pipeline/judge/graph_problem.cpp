#include "opdrift/pipeline/judge/graph_problem.hpp"

#include <functional>
#include <queue>
#include <utility>

namespace opdrift::pipeline {

verdict::ValueId add_value(GraphProblem& made, const std::string& name,
                           verdict::ProblemValue::Role role) {
  const auto [found, added] =
      made.value_of.emplace(name, static_cast<verdict::ValueId>(made.problem.values.size()));
  if (added) {
    made.problem.values.push_back({.name = name, .role = role});
    made.parameters.emplace_back();
  }
  return found->second;
}

// Kahn's algorithm.
void sort_operators(GraphProblem& made) {
  std::vector<verdict::ProblemOperator>& operators = made.problem.operators;
  std::vector<std::size_t> producer(made.problem.values.size(), operators.size());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    for (const verdict::ValueId id : operators[i].outputs) {
      if (id != verdict::kAbsent) {
        producer[id] = i;
      }
    }
  }
  std::vector<std::vector<std::size_t>> readers(operators.size());
  std::vector<std::size_t> waits(operators.size(), 0);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    for (const verdict::ValueId id : operators[i].inputs) {
      if (id != verdict::kAbsent && producer[id] < operators.size()) {
        readers[producer[id]].push_back(i);
        ++waits[i];
      }
    }
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (waits[i] == 0) {
      ready.push(i);
    }
  }
  std::vector<verdict::ProblemOperator> sorted;
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    for (const std::size_t reader : readers[next]) {
      if (--waits[reader] == 0) {
        ready.push(reader);
      }
    }
    sorted.push_back(std::move(operators[next]));
  }
  if (sorted.size() < operators.size()) {
    made.notes.push_back(std::to_string(operators.size() - sorted.size()) +
                         " operators stand on or behind a cycle and cannot be judged");
  }
  operators = std::move(sorted);
}

}  // namespace opdrift::pipeline
