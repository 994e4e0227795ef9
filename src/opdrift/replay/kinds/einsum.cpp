#include <algorithm>
#include <map>
#include <string>

#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/matmul.hpp"
#include "opdrift/replay/walk.hpp"

// Einsum: "ij,jk->ik". Two operands become one batched product; everything else walks over all
// labels. Axes under an ellipsis get labels of their own (1, 2, ... from the last axis on).

namespace opdrift::replay {

namespace {

using Labels = std::u16string;

struct Equation {
  std::vector<Labels> operands;
  Labels result;
  std::map<char16_t, std::uint64_t> extents;
};

struct WrittenTerms {
  std::vector<std::string> operands;
  std::string result;
  bool has_result = false;
};

WrittenTerms split_equation(const std::string& text) {
  WrittenTerms parts;
  std::string clean;
  std::copy_if(text.begin(), text.end(), std::back_inserter(clean),
               [](char c) { return c != ' '; });
  const std::size_t arrow = clean.find("->");
  parts.has_result = arrow != std::string::npos;
  parts.result = parts.has_result ? clean.substr(arrow + 2) : "";
  std::string rest = clean.substr(0, arrow);
  std::size_t at = 0;
  while (at <= rest.size()) {
    const std::size_t comma = std::min(rest.find(',', at), rest.size());
    parts.operands.push_back(rest.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

// Letters stay; "..." becomes `dots` labels counted from the last axis under it.
bool expand(const std::string& term, std::size_t dots, Labels& labels) {
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, "...") == 0) {
      for (std::size_t k = dots; k > 0; --k) {
        labels.push_back(static_cast<char16_t>(k));
      }
      i += 2;
      continue;
    }
    const bool letter = (term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z');
    if (!letter) {
      return false;
    }
    labels.push_back(static_cast<char16_t>(term[i]));
  }
  return true;
}

std::size_t letters_in(const std::string& term) {
  return static_cast<std::size_t>(
      std::count_if(term.begin(), term.end(), [](char c) { return c != '.'; }));
}

bool contains(const Labels& labels, char16_t label) {
  return labels.find(label) != Labels::npos;
}

// Without "->" the result has the ellipsis and then every letter that occurs once, in order.
Labels implicit_result(const std::vector<Labels>& operands, std::size_t dots) {
  std::map<char16_t, int> seen;
  for (const Labels& labels : operands) {
    for (const char16_t label : labels) {
      ++seen[label];
    }
  }
  Labels result;
  for (std::size_t k = dots; k > 0; --k) {
    result.push_back(static_cast<char16_t>(k));
  }
  for (const auto& [label, count] : seen) {
    if (count == 1 && label >= u'A') {
      result.push_back(label);
    }
  }
  return result;
}

Status learn_extents(const Call& call, Equation& equation) {
  for (std::size_t i = 0; i < equation.operands.size(); ++i) {
    OPDRIFT_TRY(const Array* x, call.need(i, "operand"));
    if (x->rank() != equation.operands[i].size()) {
      return call.not_modelled("a term does not fit the rank of its operand");
    }
    for (std::size_t axis = 0; axis < x->rank(); ++axis) {
      std::uint64_t& extent =
          equation.extents.try_emplace(equation.operands[i][axis], 1).first->second;
      if (extent != 1 && x->shape[axis] != 1 && extent != x->shape[axis]) {
        return call.not_modelled("one label has two extents");
      }
      extent = extent == 1 ? x->shape[axis] : extent;
    }
  }
  for (const char16_t label : equation.result) {
    if (equation.extents.count(label) == 0 ||
        std::count(equation.result.begin(), equation.result.end(), label) != 1) {
      return call.not_modelled("the result has an unknown or repeated label");
    }
  }
  return Unit{};
}

Result<Equation> parse(const Call& call) {
  const WrittenTerms parts = split_equation(call.text({"equation"}, ""));
  if (parts.operands.size() != call.inputs.size() || parts.operands.empty()) {
    return call.not_modelled("the equation does not fit the number of operands");
  }
  Equation equation;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < parts.operands.size(); ++i) {
    OPDRIFT_TRY(const Array* x, call.need(i, "operand"));
    const std::size_t letters = letters_in(parts.operands[i]);
    const bool open = parts.operands[i].find("...") != std::string::npos;
    if (letters > x->rank() || (!open && letters != x->rank())) {
      return call.not_modelled("a term does not fit the rank of its operand");
    }
    const std::size_t own = open ? x->rank() - letters : 0;
    dots = std::max(dots, own);
    if (!expand(parts.operands[i], own, equation.operands.emplace_back())) {
      return call.not_modelled("the equation has an unknown character");
    }
  }
  if (parts.has_result) {
    if (!expand(parts.result, dots, equation.result)) {
      return call.not_modelled("the equation has an unknown character");
    }
  } else {
    equation.result = implicit_result(equation.operands, dots);
  }
  OPDRIFT_CHECK_OK(learn_extents(call, equation));
  return equation;
}

tensor::Shape shape_of(const Equation& equation, const Labels& labels) {
  tensor::Shape shape;
  for (const char16_t label : labels) {
    shape.push_back(equation.extents.at(label));
  }
  return shape;
}

// Distances of an array laid out by `own` along the axes `labels`; repeated labels walk a diagonal.
Strides strides_along(const tensor::Shape& shape, const Labels& own, const Labels& labels) {
  const Strides dense = strides_of(shape);
  Strides strides(labels.size(), 0);
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    const std::size_t at = labels.find(own[axis]);
    if (at != Labels::npos && shape[axis] != 1) {
      strides[at] += dense[axis];
    }
  }
  return strides;
}

Labels all_labels(const Equation& equation) {
  Labels labels = equation.result;
  for (const auto& [label, extent] : equation.extents) {
    if (!contains(labels, label)) {
      labels.push_back(label);
    }
  }
  return labels;
}

Result<Array> walk_labels(const Call& call, const Equation& equation,
                          const std::vector<const Array*>& operands) {
  const Labels labels = all_labels(equation);
  const tensor::Shape space = shape_of(equation, labels);
  const tensor::Shape shape = shape_of(equation, equation.result);
  OPDRIFT_TRY(Array y, call.make(shape, operands.front()->dtype));
  if (operands.size() > 3 || space.size() > kMaxRank) {
    return call.not_modelled("more than three operands");
  }
  OPDRIFT_CHECK_OK(call.check_work(count_of(space), 1));
  const Array one = scalar_array(1.0);
  std::array<const Array*, 3> arrays = {&one, &one, &one};
  std::array<Strides, 4> strides;
  strides.fill(Strides(labels.size(), 0));
  strides[3] = strides_along(shape, equation.result, labels);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    arrays[i] = operands[i];
    strides[i] = strides_along(operands[i]->shape, equation.operands[i], labels);
  }
  walk<4>(space, strides, [&](const Row<4>& row) {
    for (std::size_t i = 0; i < row.length; ++i) {
      const auto step = static_cast<std::int64_t>(i);
      double product = 1.0;
      for (std::size_t k = 0; k < 3; ++k) {
        product *= arrays[k]->values[static_cast<std::size_t>(row.at[k] + step * row.step[k])];
      }
      y.values[static_cast<std::size_t>(row.at[3] + step * row.step[3])] += product;
    }
  });
  return y;
}

/// Two operands as a batched product of copies laid out (batch, free, reduced).
struct Planned {
  Array left;
  Array right;
  Product product;
  Labels order;  ///< labels of the product's result, outermost first
};

bool repeats(const Labels& labels) {
  Labels sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

bool is_product(const Equation& equation) {
  if (equation.operands.size() != 2 || repeats(equation.operands[0]) ||
      repeats(equation.operands[1])) {
    return false;
  }
  return std::all_of(equation.extents.begin(), equation.extents.end(), [&](const auto& entry) {
    return contains(equation.result, entry.first) || (contains(equation.operands[0], entry.first) &&
                                                      contains(equation.operands[1], entry.first));
  });
}

Result<Array> laid_out(const Call& call, const Equation& equation, const Array& x,
                       const Labels& own, const Labels& order) {
  OPDRIFT_TRY(Array copy, call.make(shape_of(equation, order), x.dtype));
  copy_strided(x.values.data(), 0, copy.shape, strides_along(x.shape, own, order),
               copy.values.data());
  return copy;
}

Result<Planned> plan(const Call& call, const Equation& equation, const Array& left,
                     const Array& right) {
  Labels batch;
  Labels reduced;
  Labels left_free;
  Labels right_free;
  for (const auto& [label, extent] : equation.extents) {
    const bool in_left = contains(equation.operands[0], label);
    const bool in_right = contains(equation.operands[1], label);
    const bool kept = contains(equation.result, label);
    Labels& group = !kept                 ? reduced
                    : in_left && in_right ? batch
                    : in_left             ? left_free
                                          : right_free;
    group.push_back(label);
  }
  Planned planned;
  planned.order = batch + left_free + right_free;
  OPDRIFT_TRY(planned.left,
              laid_out(call, equation, left, equation.operands[0], batch + left_free + reduced));
  OPDRIFT_TRY(planned.right,
              laid_out(call, equation, right, equation.operands[1], batch + right_free + reduced));
  Product& product = planned.product;
  product.shape = shape_of(equation, planned.order);
  product.m = count_of(shape_of(equation, left_free));
  product.n = count_of(shape_of(equation, right_free));
  product.k = count_of(shape_of(equation, reduced));
  product.batch = {count_of(shape_of(equation, batch))};
  const auto k = static_cast<std::int64_t>(product.k);
  product.left = {nullptr, {static_cast<std::int64_t>(product.m) * k}, k, 1};
  product.right = {nullptr, {static_cast<std::int64_t>(product.n) * k}, k, 1};
  return planned;
}

Result<Array> run(const Call& call, const Equation& equation,
                  const std::vector<const Array*>& operands) {
  if (!is_product(equation)) {
    return walk_labels(call, equation, operands);
  }
  OPDRIFT_TRY(const Planned planned, plan(call, equation, *operands[0], *operands[1]));
  OPDRIFT_TRY(const Array y,
              run_product(call, with_arrays(planned.product, planned.left, planned.right)));
  return laid_out(call, equation, y, planned.order, equation.result);
}

std::vector<const Array*> operands_of(const Call& call) {
  return {call.inputs.begin(), call.inputs.end()};
}

double reduction_of(const Equation& equation) {
  double n = 1.0;
  for (const auto& [label, extent] : equation.extents) {
    n *= contains(equation.result, label) ? 1.0 : static_cast<double>(extent);
  }
  return std::max(n, 1.0);
}

// Squares of all operands, one of them replaced by the squares of its delta.
Result<Array> run_squares(const Call& call, const Equation& equation, std::size_t narrowed) {
  std::vector<Array> squares;
  std::vector<const Array*> operands;
  squares.reserve(call.inputs.size());
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    squares.push_back(squared(i == narrowed ? *call.delta(i) : *call.input(i)));
    operands.push_back(&squares.back());
  }
  return run(call, equation, operands);
}

}  // namespace

Result<Outputs> einsum(const Call& call) {
  OPDRIFT_TRY(const Equation equation, parse(call));
  OPDRIFT_TRY(Array y, run(call, equation, operands_of(call)));
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

Result<Terms> einsum_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Equation equation, parse(call));
  Terms terms;
  terms.n = reduction_of(equation);
  OPDRIFT_TRY(Array a2, run_squares(call, equation, call.inputs.size()));
  terms.a2 = std::move(a2.values);
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.delta(i) == nullptr || call.delta(i)->shape != call.input(i)->shape) {
      continue;
    }
    OPDRIFT_TRY(const Array w, run_squares(call, equation, i));
    terms.weights.resize(w.size(), 0.0);
    std::transform(w.values.begin(), w.values.end(), terms.weights.begin(), terms.weights.begin(),
                   [](double one, double other) { return one + other; });
  }
  return terms;
}

}  // namespace opdrift::replay
