#include "opdrift/pipeline/judge/atc_problem.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace opdrift::pipeline {

namespace {

using verdict::kAbsent;
using verdict::ProblemOperator;
using verdict::ProblemValue;
using verdict::ValueId;

constexpr std::array<std::string_view, 4> kStored = {"Const", "Constant", "Variable",
                                                     "FileConstant"};
constexpr std::array<std::string_view, 4> kTransparent = {"TransData", "Cast", "TransShape",
                                                          "Identity"};

bool is_one_of(const std::string& type, const std::array<std::string_view, 4>& types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

class Builder {
 public:
  Builder(graph::Graph graph, const AtcLookup& lookup) : lookup_(lookup) {
    made_.graph = std::move(graph);
    for (std::size_t i = 0; i < made_.graph.operators.size(); ++i) {
      by_name_.emplace(made_.graph.operators[i].name, i);
    }
  }

  GraphProblem build() {
    for (const graph::Operator& op : made_.graph.operators) {
      if (op.graph == 0) {
        add_operator(op);
      }
    }
    sort_operators(made_);
    mark_outputs();
    return std::move(made_);
  }

 private:
  void add_operator(const graph::Operator& op) {
    if (op.type == "Data") {
      add_value(made_, atc_value(op.name, 0), ProblemValue::Role::network_input);
      return;
    }
    if (is_repeated(op)) {
      made_.notes.push_back("the graph has operator '" + op.name + "' more than once");
      return;
    }
    if (is_one_of(op.type, kStored) || op.type == "NetOutput" || looked_through(op)) {
      return;
    }
    ProblemOperator made;
    made.op = &op;
    made.kind = replay::find_kind(op.type, replay::Dialect::ascend);
    auto gap = op.absent_inputs.begin();
    for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
      for (; gap != op.absent_inputs.end() && *gap <= i; ++gap) {
        made.inputs.push_back(kAbsent);
      }
      made.inputs.push_back(input_of(op, i));
    }
    for (std::uint32_t i = 0; i < op.outputs.size(); ++i) {
      made.outputs.push_back(add_value(made_, atc_value(op.name, i), ProblemValue::Role::computed));
    }
    made_.problem.operators.push_back(std::move(made));
  }

  /// Names may repeat; the first operator of a name counts, as in pairing.
  bool is_repeated(const graph::Operator& op) const { return find(op.name) != &op; }

  bool looked_through(const graph::Operator& op) const {
    return is_one_of(op.type, kTransparent) && !op.inputs.empty() &&
           !lookup_.has_golden(op.name, 0);
  }

  const graph::Operator* find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &made_.graph.operators[found->second];
  }

  ValueId input_of(const graph::Operator& op, std::uint32_t number) {
    const graph::InputRef* ref = &op.inputs[number];
    for (std::size_t steps = 0; steps <= made_.graph.operators.size(); ++steps) {
      const graph::Operator* producer = find(ref->producer);
      if (producer == nullptr || is_one_of(producer->type, kStored)) {
        return parameter(op, number);
      }
      if (!looked_through(*producer)) {
        const auto role = producer->type == "Data" ? ProblemValue::Role::network_input
                                                   : ProblemValue::Role::computed;
        return add_value(made_, atc_value(producer->name, static_cast<std::uint32_t>(ref->index)),
                         role);
      }
      ref = &producer->inputs[0];
    }
    return kAbsent;  // casts in a circle
  }

  ValueId parameter(const graph::Operator& op, std::uint32_t number) {
    const ValueId value = add_value(made_, op.name + ":input:" + std::to_string(number),
                                    ProblemValue::Role::parameter);
    auto dumped = lookup_.dumped_input(op.name, number);
    if (dumped) {
      made_.parameters[value] = std::move(*dumped);
    }
    return value;
  }

  void mark_outputs() {
    for (const graph::Operator& op : made_.graph.operators) {
      for (std::uint32_t i = 0; op.type == "NetOutput" && op.graph == 0 && i < op.inputs.size();
           ++i) {
        const ValueId value = input_of(op, i);
        if (value != kAbsent) {
          made_.problem.values[value].network_output = true;
        }
      }
    }
  }

  const AtcLookup& lookup_;
  GraphProblem made_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace

std::string atc_value(const std::string& operator_name, std::uint32_t output) {
  return operator_name + ":" + std::to_string(output);
}

GraphProblem atc_problem(graph::Graph graph, const AtcLookup& lookup) {
  return Builder(std::move(graph), lookup).build();
}

}  // namespace opdrift::pipeline
