#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/kinds.hpp"

// Losses over classes, the second axis of the scores:
//   l_i = -weight[t_i] * p_i, p_i the score (or its log softmax) of the wanted class t_i
// given out as they are, as their sum, or as their sum over the sum of weights. Ignored places have
// weight 0.

namespace opdrift::replay {

namespace {

enum class Reduction : std::uint8_t { none, sum, mean };

struct Planned {
  const Array* scores = nullptr;
  const Array* targets = nullptr;
  const Array* weights = nullptr;
  std::size_t classes = 0;
  std::size_t inner = 1;  ///< places per batch
  Reduction reduction = Reduction::mean;
};

Result<Planned> plan(const Call& call) {
  Planned p;
  OPDRIFT_TRY(p.scores, call.need(0, "scores"));
  OPDRIFT_TRY(p.targets, call.need(1, "labels"));
  p.weights = call.input(2);
  if (p.scores->rank() < 2) {
    return call.not_modelled("expected batch and class axes");
  }
  p.classes = p.scores->shape[1];
  p.inner = split_at(p.scores->shape, 1).inner;
  tensor::Shape expected = p.scores->shape;
  expected.erase(expected.begin() + 1);
  const bool weighted = p.weights == nullptr || p.weights->size() == p.classes;
  if (p.targets->shape != expected || !weighted || p.classes == 0) {
    return call.not_modelled("labels or weights do not fit the scores");
  }
  const std::string reduction = call.text({"reduction"}, "mean");
  p.reduction = reduction == "none"  ? Reduction::none
                : reduction == "sum" ? Reduction::sum
                                     : Reduction::mean;
  return p;
}

/// A place: the score it takes and its weight.
struct Place {
  std::size_t score = 0;
  double weight = 0.0;
};

Result<std::vector<Place>> places_of(const Call& call, const Planned& p) {
  const auto ignored = call.integers({"ignore_index"});
  std::vector<Place> places;
  places.reserve(p.targets->size());
  for (std::size_t at = 0; at < p.targets->size(); ++at) {
    const double target = p.targets->values[at];
    if (ignored && !ignored->empty() && target == static_cast<double>(ignored->front())) {
      places.push_back({});
      continue;
    }
    if (!(target >= 0.0) || !(target < static_cast<double>(p.classes))) {
      return call.not_modelled("a label is out of range");
    }
    const auto label = static_cast<std::size_t>(target);
    const std::size_t batch = at / p.inner;
    places.push_back({(batch * p.classes + label) * p.inner + at % p.inner,
                      p.weights == nullptr ? 1.0 : p.weights->values[label]});
  }
  return places;
}

Result<Outputs> reduced(const Call& call, const Planned& p, const Array& logarithms) {
  OPDRIFT_TRY(const std::vector<Place> places, places_of(call, p));
  Array losses = *p.targets;
  losses.dtype = p.scores->dtype;
  double sum = 0.0;
  double weights = 0.0;
  for (std::size_t at = 0; at < places.size(); ++at) {
    const Place& place = places[at];
    losses.values[at] = place.weight == 0.0 ? 0.0 : -place.weight * logarithms.values[place.score];
    sum += losses.values[at];
    weights += place.weight;
  }
  if (p.reduction == Reduction::none) {
    return one_output(std::move(losses));
  }
  return one_output(
      scalar_array(p.reduction == Reduction::sum ? sum : sum / weights, p.scores->dtype));
}

// `own`: variance of every score's logarithm in units of u_c^2; empty: exact.
Result<Terms> reduced_terms(const Call& call, const Planned& p, const Array& logarithms,
                            const std::vector<double>& own) {
  OPDRIFT_TRY(const std::vector<Place> places, places_of(call, p));
  Terms terms;
  std::vector<double> squares;
  double weights = 0.0;
  for (const Place& place : places) {
    const double squared_weight = place.weight * place.weight;
    const double value = place.weight == 0.0 ? 0.0 : logarithms.values[place.score];
    squares.push_back(squared_weight * value * value);
    terms.extra.push_back(own.empty() ? 0.0 : squared_weight * own[place.score]);
    weights += place.weight;
  }
  if (p.reduction == Reduction::none) {
    return terms;
  }
  const double scale = p.reduction == Reduction::sum ? 1.0 : 1.0 / (weights * weights);
  double all = 0.0;
  double extra = 0.0;
  for (std::size_t at = 0; at < squares.size(); ++at) {
    all += squares[at];
    extra += terms.extra[at];
  }
  terms.n = static_cast<double>(std::max<std::size_t>(squares.size(), 1));
  terms.a2 = {all * scale};
  terms.extra = {extra * scale};
  return terms;
}

// Scores with their classes in the last axis become logarithms of probabilities.
Result<Array> logarithms_of(const Call& call, const Array& scores) {
  graph::Operator plain;
  plain.type = "LogSoftmax";
  plain.name = call.op.name;
  plain.attributes["axis"].integers = {1};
  const std::vector<const Array*> inputs = {&scores};
  OPDRIFT_TRY(Outputs outputs, log_softmax(Call{plain, inputs, {}, call.limits}));
  return std::move(outputs.front());
}

Result<std::vector<double>> logarithm_variances(const Call& call, const Array& scores,
                                                const Array& logarithms) {
  graph::Operator plain;
  plain.type = "LogSoftmax";
  plain.name = call.op.name;
  plain.attributes["axis"].integers = {1};
  const std::vector<const Array*> inputs = {&scores};
  OPDRIFT_TRY(Terms terms, log_softmax_terms(Call{plain, inputs, {}, call.limits}, 0, logarithms));
  return std::move(terms.extra);
}

}  // namespace

Result<Outputs> likelihood_loss(const Call& call) {
  OPDRIFT_TRY(const Planned p, plan(call));
  return reduced(call, p, *p.scores);
}
Result<Terms> likelihood_loss_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  OPDRIFT_TRY(const Planned p, plan(call));
  return reduced_terms(call, p, *p.scores, {});
}

Result<Outputs> cross_entropy_loss(const Call& call) {
  OPDRIFT_TRY(const Planned p, plan(call));
  OPDRIFT_TRY(Array logarithms, logarithms_of(call, *p.scores));
  OPDRIFT_TRY(Outputs outputs, reduced(call, p, logarithms));
  outputs.push_back(std::move(logarithms));
  return outputs;
}
Result<Terms> cross_entropy_loss_terms(const Call& call, std::size_t index, const Array& /*y*/) {
  OPDRIFT_TRY(const Planned p, plan(call));
  OPDRIFT_TRY(const Array logarithms, logarithms_of(call, *p.scores));
  OPDRIFT_TRY(std::vector<double> own, logarithm_variances(call, *p.scores, logarithms));
  if (index == 1) {
    Terms terms;
    terms.n = static_cast<double>(p.classes);
    terms.extra = std::move(own);
    return terms;
  }
  return reduced_terms(call, p, logarithms, own);
}

}  // namespace opdrift::replay
