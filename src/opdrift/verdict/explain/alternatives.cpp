#include "opdrift/verdict/explain/alternatives.hpp"

#include "opdrift/verdict/explain/sample.hpp"

namespace opdrift::verdict::refit {

std::optional<Rest> try_alternative(const Evidence& evidence, const Alternative& alternative) {
  const Sample& sample = evidence.sample;
  if (!alternative.values || sample.focus == 0) {
    return std::nullopt;
  }
  const auto values = alternative.values(sample.index);
  if (!values.has_value() || values.value().size() != sample.index.size()) {
    return std::nullopt;
  }
  const std::vector<double>& predicted = values.value();
  const IndexSums& all = evidence.profile.all;
  Rest rest;
  rest.error2 = all.dd;
  rest.golden2 = all.bb;
  rest.pairs = static_cast<std::uint64_t>(all.n);
  rest.sum_t = all.t;
  rest.sum_t2 = all.tt;
  rest.left2 = estimated_rest(evidence, predicted) * all.dd;
  // The budget where the error lies, so that few wrong elements among many are not drowned.
  double left2 = 0.0;
  double budget2 = 0.0;
  for (std::size_t i = 0; i < sample.index.size(); ++i) {
    const double left = sample.t[i] - predicted[i];
    if (std::isnan(left)) {
      return std::nullopt;
    }
    left2 += left * left;
    budget2 += sample.sigma2[i];
  }
  rest.budget2 = left2 > 0.0 ? rest.left2 * (budget2 / left2) : evidence.profile.budget2;
  return rest;
}

}  // namespace opdrift::verdict::refit
