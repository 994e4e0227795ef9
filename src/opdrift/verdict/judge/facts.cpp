#include "opdrift/verdict/judge/facts.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace opdrift::verdict::judging {

namespace {

using Role = ProblemValue::Role;

void open_side(const ValueSource& source, RunSide side, ValueId value, ValueFacts& facts) {
  if (!source.has(side, value)) {
    return;
  }
  const Result<ValueOutline> outline = source.outline(side, value);
  if (!outline) {
    facts.trouble = outline.error().to_string();
    return;
  }
  const bool golden = side == RunSide::golden;
  (golden ? facts.golden : facts.target) = true;
  (golden ? facts.golden_dtype : facts.target_dtype) = outline->dtype;
  (golden ? facts.golden_count : facts.target_count) = replay::count_of(outline->shape);
  if (golden || !facts.golden) {
    facts.shape = outline->shape;
  }
}

void name_producers(const Problem& problem, Facts& facts) {
  for (std::size_t op = 0; op < problem.operators.size(); ++op) {
    const std::vector<ValueId>& outputs = problem.operators[op].outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] < facts.values.size()) {
        facts.values[outputs[i]].producer = static_cast<std::uint32_t>(op);
        facts.values[outputs[i]].output = static_cast<std::uint32_t>(i);
      }
    }
  }
}

tensor::DType common_target_dtype(const Problem& problem, const Facts& facts) {
  std::map<tensor::DType, std::size_t> votes;
  for (ValueId value = 0; value < facts.values.size(); ++value) {
    const ValueFacts& own = facts.values[value];
    if (own.target && problem.values[value].role == Role::computed &&
        tensor::is_floating(own.target_dtype)) {
      ++votes[own.target_dtype];
    }
  }
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == votes.end() ? tensor::DType::f32 : most->first;
}

std::uint32_t root_of(std::vector<std::uint32_t>& parent, std::uint32_t op) {
  while (parent[op] != op) {
    parent[op] = parent[parent[op]];
    op = parent[op];
  }
  return op;
}

std::vector<std::vector<std::uint32_t>> join_components(const Problem& problem,
                                                        const Facts& facts) {
  const auto count = static_cast<std::uint32_t>(problem.operators.size());
  std::vector<std::uint32_t> parent(count);
  std::iota(parent.begin(), parent.end(), 0U);
  for (std::uint32_t op = 0; op < count; ++op) {
    for (const ValueId input : problem.operators[op].inputs) {
      if (input < facts.values.size() && is_missing(problem, facts, input)) {
        const std::uint32_t one = root_of(parent, op);
        const std::uint32_t other = root_of(parent, facts.values[input].producer);
        parent[std::max(one, other)] = std::min(one, other);
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> components;
  std::vector<std::size_t> place(count, 0);
  for (std::uint32_t op = 0; op < count; ++op) {
    const std::uint32_t root = root_of(parent, op);
    if (root == op) {
      place[op] = components.size();
      components.emplace_back();
    }
    components[place[root]].push_back(op);
  }
  return components;
}

}  // namespace

bool is_missing(const Problem& problem, const Facts& facts, ValueId value) {
  const ValueFacts& own = facts.values[value];
  return problem.values[value].role == Role::computed && own.producer != kNobody && !own.both();
}

Facts gather_facts(const Problem& problem, const ValueSource& source, std::size_t jobs,
                   const CancelFlag* cancel) {
  Facts facts;
  facts.values.resize(problem.values.size());
  parallel_for(
      problem.values.size(), jobs,
      [&](std::size_t value) {
        const auto id = static_cast<ValueId>(value);
        open_side(source, RunSide::golden, id, facts.values[value]);
        open_side(source, RunSide::target, id, facts.values[value]);
      },
      cancel);
  name_producers(problem, facts);
  facts.target_dtype = common_target_dtype(problem, facts);
  facts.components = join_components(problem, facts);
  return facts;
}

}  // namespace opdrift::verdict::judging
