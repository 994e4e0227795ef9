#include "opdrift/diagnose/evidence/operators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/evidence/cosines.hpp"
#include "opdrift/diagnose/evidence/foreign.hpp"
#include "opdrift/diagnose/flow/classes.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool is_output(const verdict::TensorResult& tensor) {
  return tensor.role != "input";
}

double cosine_of_row(const verdict::TensorResult& tensor) {
  if (!tensor.measurement || tensor.statistics_only) {
    return kNan;
  }
  return cosine_of(*tensor.measurement);
}

bool is_quantiser(const std::string& type) {
  return type.find("Quant") != std::string::npos || type == "QuantizeLinear" ||
         type == "DequantizeLinear";
}

bool is_constant(const std::string& type) {
  return type == "Const" || type == "Constant";
}

bool takes_inputs(const flow::OperatorFacts& op) {
  return !op.constant && op.type != "Data" && op.type != "Input";
}

/// Names an original is listed by: the golden's column may hold several, separated by commas.
std::vector<std::string> originals_of(const graph::Operator* op,
                                      const verdict::TensorResult& tensor) {
  if (op != nullptr && op->originals_given && !op->original_names.empty()) {
    return op->original_names;
  }
  std::vector<std::string> names;
  for (const std::string_view name : split(tensor.golden_operator, ',')) {
    if (!trim(name).empty() && trim(name) != "*") {
      names.emplace_back(trim(name));
    }
  }
  return names.empty() ? std::vector<std::string>{tensor.operator_name} : names;
}

/// Graph-fusion and UB-fusion passes of an operator.
std::vector<std::string> passes_of(const graph::Operator& op) {
  std::vector<std::string> passes;
  for (const char* const key : {"pass_name", "pass_name_ub", "_single_op_ub_pass_name"}) {
    const auto found = op.attributes.find(key);
    if (found == op.attributes.end()) {
      continue;
    }
    for (const std::string& pass : found->second.texts) {
      if (!pass.empty() && std::find(passes.begin(), passes.end(), pass) == passes.end()) {
        passes.push_back(pass);
      }
    }
  }
  return passes;
}

/// What an output says about the operators it feeds.
struct KnownOutput {
  double cosine = kNan;
  double absmax = kNan;  ///< of the reference run
};

double absmax_of_golden(const verdict::TensorResult& tensor) {
  return tensor.measurement && tensor.measurement->golden.finite > 0
             ? tensor.measurement->golden.max_abs()
             : kNan;
}

class Collector {
 public:
  Collector(const verdict::RunResult& result, const Edges& edges)
      : result_(result), edges_(edges) {}

  ComparedOperators run() {
    for (std::size_t i = 0; i < result_.tensors.size(); ++i) {
      add_row(i);
    }
    for (std::size_t i = 0; i < made_.operators.size(); ++i) {
      if (made_.operators[i].cos_in.empty() && takes_inputs(made_.operators[i])) {
        take_inputs_by_edges(made_.operators[i]);
      }
    }
    add_uncompared();
    return std::move(made_);
  }

 private:
  /// Operators of the target that found no counterpart, where the graph tells their place.
  void add_uncompared() {
    constexpr std::string_view kMark = ":output:";
    for (const verdict::LedgerEntry& entry : result_.ledger) {
      const std::size_t cut = entry.tensor.find(kMark);
      const bool alone = entry.state == verdict::LedgerState::unmatched ||
                         entry.state == verdict::LedgerState::unreadable;
      if (entry.side == verdict::RunSide::target && alone && cut != std::string::npos) {
        add_alone(entry.tensor.substr(0, cut));
      }
    }
  }

  void add_alone(const std::string& name) {
    const graph::Operator* const op = edges_.find(name);
    if (op == nullptr || !alone_.insert(name).second || outputs_.count(name) > 0) {
      return;
    }
    const auto behind = std::find_if(made_.operators.begin(), made_.operators.end(),
                                     [&](const flow::OperatorFacts& one) {
                                       const graph::Operator* const other = edges_.find(one.op);
                                       return other != nullptr && other > op;
                                     });
    verdict::TensorResult tensor;
    tensor.operator_name = name;
    tensor.operator_type = op->type;
    flow::OperatorFacts facts = begun(tensor);
    take_inputs_by_edges(facts);
    made_.output_rows.insert(made_.output_rows.begin() + (behind - made_.operators.begin()),
                             std::vector<std::size_t>{});
    made_.operators.insert(behind, std::move(facts));
  }

  void add_row(std::size_t row) {
    const verdict::TensorResult& tensor = result_.tensors[row];
    const std::string key = tensor.step + "\n" + tensor.operator_name;
    const auto [place, fresh] = places_.try_emplace(key, made_.operators.size());
    if (fresh) {
      made_.operators.push_back(begun(tensor));
      made_.output_rows.emplace_back();
    }
    flow::OperatorFacts& op = made_.operators[place->second];
    const double cosine = cosine_of_row(tensor);
    if (!is_output(tensor)) {
      op.cos_in.push_back(cosine);
      keep_larger(absmax_of_golden(tensor), op.numbers.ref_in_absmax);
      return;
    }
    op.cos_out.push_back(cosine);
    made_.output_rows[place->second].push_back(row);
    outputs_[tensor.operator_name][tensor.index] = {cosine, absmax_of_golden(tensor)};
    for (std::string& sentence : foreign_data(tensor.explanations)) {
      op.foreign.push_back(std::move(sentence));
    }
    if (tensor.measurement) {
      add_numbers(*tensor.measurement, op.numbers);
    }
  }

  flow::OperatorFacts begun(const verdict::TensorResult& tensor) const {
    const graph::Operator* const op = edges_.find(tensor.operator_name);
    flow::OperatorFacts facts;
    facts.op = tensor.operator_name;
    facts.type = op != nullptr && !op->type.empty() ? op->type : tensor.operator_type;
    facts.original = originals_of(op, tensor);
    facts.constant = is_constant(facts.type);
    facts.quant = is_quantiser(facts.type);
    if (op != nullptr) {
      facts.passes = passes_of(*op);
      facts.dtype = op->outputs.empty() ? "" : op->outputs.front().dtype;
    }
    return facts;
  }

  /// NaN for an input whose producer was not compared, and for an operator no graph knows.
  void take_inputs_by_edges(flow::OperatorFacts& facts) const {
    const graph::Operator* const op = edges_.find(facts.op);
    if (op == nullptr) {
      facts.cos_in = {kNan};
      return;
    }
    for (const graph::InputRef& input : op->inputs) {
      if (const auto feed = edges_.feed_of(input)) {
        const KnownOutput known = output_of(*feed);
        facts.cos_in.push_back(known.cosine);
        keep_larger(known.absmax, facts.numbers.ref_in_absmax);
      }
    }
  }

  KnownOutput output_of(const Feed& feed) const {
    const auto op = outputs_.find(edges_.graph().operators[feed.producer].name);
    if (op == outputs_.end()) {
      return {};
    }
    const auto output = op->second.find(static_cast<std::uint32_t>(feed.output));
    return output == op->second.end() ? KnownOutput{} : output->second;
  }

  const verdict::RunResult& result_;
  const Edges& edges_;
  ComparedOperators made_;
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_set<std::string> alone_;
  std::unordered_map<std::string, std::map<std::uint32_t, KnownOutput>> outputs_;
};

double worst_of(const flow::OperatorFacts& op) {
  return flow::comparable(op) ? 1.0 - flow::output_error(op) : kNan;
}

}  // namespace

ComparedOperators operators_of(const verdict::RunResult& result, const Edges& edges) {
  return Collector(result, edges).run();
}

std::optional<double> output_cosine(const ComparedOperators& compared, const Edges& edges) {
  std::optional<double> worst;
  const auto take = [&](double cosine) {
    if (!worst || std::isnan(cosine) || cosine < *worst) {
      worst = cosine;
    }
  };
  for (const Feed& feed : edges.network_outputs()) {
    const std::string& name = edges.graph().operators[feed.producer].name;
    for (const flow::OperatorFacts& op : compared.operators) {
      if (op.op == name && feed.output < op.cos_out.size()) {
        take(op.cos_out[feed.output]);
      }
    }
  }
  if (!worst && edges.empty() && !compared.operators.empty()) {
    take(worst_of(compared.operators.back()));
  }
  return worst;
}

std::string first_nonfinite(const verdict::RunResult& result) {
  const auto bad = [](const metrics::SideStats& side) {
    return side.classes.nan + side.classes.positive_inf + side.classes.negative_inf;
  };
  for (const verdict::TensorResult& tensor : result.tensors) {
    if (is_output(tensor) && tensor.measurement && bad(tensor.measurement->target) > 0) {
      const std::uint64_t count = bad(tensor.measurement->target);
      return "first NaN or Inf in " + tensor.operator_name + " (" + std::to_string(count) +
             " elements" +
             (bad(tensor.measurement->golden) > 0 ? ", the reference has some there too)" : ")");
    }
  }
  return "";
}

}  // namespace opdrift::diagnose::evidence
