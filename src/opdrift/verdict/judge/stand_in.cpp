#include <algorithm>
#include <cmath>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/operator_judge.hpp"

// Step F: what stands in for a tensor that a side did not dump.

namespace opdrift::verdict::judging {

namespace {

double sum_of_squares_root(std::span<const double> variances) {
  double sum = 0.0;
  for (const double v : variances) {
    sum += v;
  }
  return std::sqrt(sum);
}

double distance(std::span<const double> one, std::span<const double> other) {
  std::vector<double> difference(one.size(), 0.0);
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double d = one[i] - other[i];
    difference[i] = std::isfinite(d) ? d : 0.0;
  }
  return replay::norm(difference);
}

double finite_norm(std::span<const double> values) {
  std::vector<double> kept(values.begin(), values.end());
  for (double& value : kept) {
    value = std::isfinite(value) ? value : 0.0;
  }
  return replay::norm(kept);
}

}  // namespace

Status OperatorJudge::make_stand_in(std::size_t k) {
  const ValueId value = op_.outputs[k];
  const ValueFacts& facts = context_.facts.values[value];
  const Formats formats = formats_of(value);
  StandIn& stand_in = stand_ins_.at(value);
  const std::uint32_t readers = stand_in.readers;
  stand_in = StandIn{};
  stand_in.readers = readers;
  stand_in.group = inputs_.group;
  stand_in.group.push_back(index_);

  ArrayPtr y;
  if (facts.golden) {
    OPDRIFT_TRY(y, load_value(context_, RunSide::golden, value));
  } else {
    y = std::make_shared<const replay::Array>(golden_[k]);
    stand_in.golden = y;
  }
  if (y->size() != golden_[k].size() || y->size() != target_outputs()[k].size()) {
    return Error{ErrorCode::unsupported, "its results change their size"};
  }
  const auto carry = [&](const replay::Array& replayed) {
    replay::Array array = replayed;
    array.values = replay::carried(y->values, golden_[k].values, replayed.values);
    return array;
  };
  replay::Array target = carry(target_outputs()[k]);
  Found& found = found_[value];
  found.state = Found::State::replayed;
  found.dtype = formats.precision.coarser();
  found.count = y->size();
  found.exact = !tensor::is_floating(y->dtype);
  found.golden_norm = finite_norm(y->values);
  found.error_norm = distance(target.values, y->values);
  if (!facts.target && !found.exact) {
    OPDRIFT_TRY(std::vector<double> sigma2, inner_variance(k, formats));
    for (std::size_t i = 0; i < sigma2.size(); ++i) {
      sigma2[i] += replay::storage_variance(y->values[i], y->values[i], formats.precision);
    }
    found.budget = sum_of_squares_root(sigma2);
    for (int draw = 0; draw < replay::kMissingDraws; ++draw) {
      const auto at = static_cast<std::size_t>(draw);
      replay::Array noisy =
          carry(at < noisy_.size() && k < noisy_[at].size() && noisy_[at][k].size() == y->size()
                    ? noisy_[at][k]
                    : target_outputs()[k]);
      noisy.values = replay::with_noise(noisy.values, sigma2,
                                        seed_of(value, 32 + static_cast<std::uint64_t>(draw)));
      stand_in.noisy.push_back(std::make_shared<const replay::Array>(std::move(noisy)));
    }
    found.error_norm = distance(stand_in.noisy.front()->values, y->values);
  }
  if (!facts.target) {
    stand_in.target = std::make_shared<const replay::Array>(std::move(target));
  }
  return Unit{};
}

}  // namespace opdrift::verdict::judging
