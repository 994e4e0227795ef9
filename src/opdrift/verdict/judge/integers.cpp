#include <algorithm>
#include <cmath>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/replay/registry.hpp"
#include "opdrift/verdict/judge/operator_judge.hpp"

// Integers and bools are exact: where the sides differ, the target must have what f(t_in) has. What
// is left may be excused:
//
//   positions   the values they select differ by less than what the inputs inherited (a tie)
//   codes       |code - f before rounding| <= 1/2 + what arithmetic may add: a rounding border
//   others      the result flips with inputs wider than dumped (comparisons, casts, floors), or
//               comparisons of two values nearer to each other than the noise of what stands in
//               for tensors that were not dumped

namespace opdrift::verdict::judging {

namespace {

constexpr int kFlipDraws = 12;
constexpr double kNoiseReach = 4.0;
constexpr std::string_view kComparisons[] = {"Equal", "Greater",     "GreaterOrEqual",
                                             "Less",  "LessOrEqual", "NotEqual"};
constexpr std::size_t kStrayShare = 100;  // more than one golden in so many: not modelled

// fp32 arithmetic before the rounding: a few ulp of the code and of the scaled sum behind it.
double code_slack(double code) {
  return 0x1p-18 * (std::abs(code) + 1.0);
}

void keep_if(std::vector<std::size_t>& places, const std::vector<std::uint8_t>& excused) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (excused[i] == 0) {
      places[kept++] = places[i];
    }
  }
  places.resize(kept);
}

double root_mean_square_difference(const replay::Array& one, const replay::Array& other) {
  double sum = 0.0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.size() && i < other.size(); ++i) {
    const double d = one.values[i] - other.values[i];
    if (std::isfinite(d)) {
      sum += d * d;
      ++count;
    }
  }
  return count == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(count));
}

}  // namespace

std::vector<std::size_t> OperatorJudge::unexplained(std::size_t k, const Pair& pair,
                                                    Found& found) const {
  const std::vector<double>& g = pair.golden->values;
  const std::vector<double>& t = pair.target->values;
  const std::vector<double>& fg = golden_[k].values;
  const std::vector<double>& ft = target_outputs()[k].values;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (g[i] == t[i]) {
      continue;
    }
    found.equal = false;
    ++found.judgement.inherited_classes;
    if (t[i] != ft[i] && t[i] - ft[i] != g[i] - fg[i]) {
      places.push_back(i);
    }
  }
  return places;
}

void OperatorJudge::excuse_ties(std::size_t k, const Pair& pair,
                                std::vector<std::size_t>& places) const {
  const auto inputs = pointers(inputs_.target);
  const auto ours = replay::selected_values(*kind_, call(inputs), target_outputs()[k]);
  const auto theirs = replay::selected_values(*kind_, call(inputs), *pair.target);
  if (!ours || !theirs) {
    return;
  }
  const double inherited = root_mean_square_difference(*inputs_.golden[0], *inputs_.target[0]);
  const tensor::DType dtype = inputs_.target[0]->dtype;
  std::vector<std::uint8_t> excused(places.size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double one = (*ours)[places[i]];
    const double other = (*theirs)[places[i]];
    const double slack = replay::ulp(std::max(std::abs(one), std::abs(other)), dtype) + inherited;
    excused[i] = std::abs(one - other) <= slack ? 1 : 0;
  }
  keep_if(places, excused);
}

// Comparisons of what was not dumped: undecided where the two sides are as near to each other as
// the noise of what stands in for them.
void OperatorJudge::excuse_near(std::vector<std::size_t>& places) const {
  const auto lists = [&](const ArrayList& list, std::string_view kind) {
    const auto inputs = pointers(list);
    return replay::evaluate(*replay::find_kind(kind, replay::Dialect::onnx), call(inputs));
  };
  const Result<replay::Outputs> distance = lists(inputs_.target, "Sub");
  const Result<replay::Outputs> size = lists(inputs_.target, "Max");
  if (!distance || !size) {
    return;
  }
  replay::SpreadSum spread(distance->front().shape);
  for (const ArrayList& noisy : inputs_.noisy) {
    const Result<replay::Outputs> other = lists(noisy, "Sub");
    if (!other) {
      return;
    }
    spread.add(other->front().values, distance->front().values);
  }
  const std::vector<double> variance = spread.finish();
  const tensor::DType storage = context_.facts.target_dtype;
  std::vector<std::uint8_t> excused(places.size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t at = places[i];
    const double noise = at < variance.size() ? std::sqrt(variance[at]) : 0.0;
    const double slack = kNoiseReach * noise + replay::ulp(size->front().values[at], storage);
    excused[i] = std::abs(distance->front().values[at]) <= slack ? 1 : 0;
  }
  keep_if(places, excused);
}

bool OperatorJudge::excuse_with(const ArrayList& list, std::size_t k, const Pair& pair,
                                std::vector<std::size_t>& places) const {
  const auto inputs = pointers(list);
  const Result<replay::Outputs> outputs = replay::evaluate(*kind_, call(inputs));
  if (!outputs || k >= outputs->size() || (*outputs)[k].size() != pair.target->size()) {
    return false;
  }
  std::vector<std::uint8_t> excused(places.size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    excused[i] = (*outputs)[k].values[places[i]] == pair.target->values[places[i]] ? 1 : 0;
  }
  keep_if(places, excused);
  return !places.empty();
}

void OperatorJudge::excuse_flips(std::size_t k, const Pair& pair,
                                 std::vector<std::size_t>& places) const {
  const bool compares = std::find(std::begin(kComparisons), std::end(kComparisons), kind_->name) !=
                        std::end(kComparisons);
  if (inputs_.replayed && compares) {
    excuse_near(places);
  }
  for (int draw = 0; draw < kFlipDraws && !places.empty(); ++draw) {
    if (!excuse_with(widened_inputs(draw), k, pair, places)) {
      return;
    }
  }
}

// A scale that the target stores narrower moves all codes by its rounding, and dividing by it in
// that type once more.
double OperatorJudge::narrow_scale() const {
  if (input_ids_.size() < 2 || inputs_.golden[0] == nullptr || inputs_.golden[1] == nullptr) {
    return 0.0;
  }
  const tensor::DType storage = formats_of(input_ids_[0]).precision.coarser();
  return is_narrowed(context_, input_ids_[1], inputs_.golden[1]->dtype, storage)
             ? 2.0 * replay::unit_roundoff(storage)
             : 0.0;
}

Status OperatorJudge::excuse_borders(std::size_t k, const Pair& pair,
                                     std::vector<std::size_t>& places) const {
  const auto inputs = pointers(inputs_.target);
  replay::Call exact = call(inputs);
  exact.exact_codes = true;
  OPDRIFT_TRY(const replay::Outputs outputs, replay::evaluate(*kind_, exact));
  if (k >= outputs.size() || outputs[k].size() != pair.target->size()) {
    return Error{ErrorCode::unsupported, "its codes change their number"};
  }
  std::vector<std::uint8_t> excused(places.size(), 0);
  const double narrow = narrow_scale();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double code = outputs[k].values[places[i]];
    const double distance = std::abs(pair.target->values[places[i]] - code);
    excused[i] = distance <= 0.5 + code_slack(code) + narrow * std::abs(code) ? 1 : 0;
  }
  keep_if(places, excused);
  return Unit{};
}

Status OperatorJudge::judge_integers(std::size_t k, const Pair& pair, Found& found) {
  const std::vector<double>& g = pair.golden->values;
  const bool codes = kind_->family == replay::Family::quantised;
  const double step = codes ? 1.0 : 0.0;
  std::size_t stray = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    stray += std::abs(g[i] - golden_[k].values[i]) <= step ? 0U : 1U;
  }
  if (stray * kStrayShare > g.size()) {
    return Error{ErrorCode::unsupported,
                 "operator not modelled: the golden itself differs from the replay in " +
                     std::to_string(stray) + " of " + std::to_string(g.size()) + " elements"};
  }
  found = Found{};
  found.state = Found::State::judged;
  found.exact = true;
  found.equal = true;
  found.count = found.finite = g.size();
  found.dtype = pair.golden->dtype;
  found.judgement.tier = Tier::exact;
  note_group(found);
  std::vector<std::size_t> places = unexplained(k, pair, found);
  if (!places.empty() && kind_->family == replay::Family::index) {
    excuse_ties(k, pair, places);
  }
  if (!places.empty() && codes) {
    OPDRIFT_CHECK_OK(excuse_borders(k, pair, places));
  }
  if (!places.empty() && kind_->family != replay::Family::movement) {
    excuse_flips(k, pair, places);
  }
  if (places.empty()) {
    return Unit{};
  }
  found.judgement.new_classes = places.size();
  found.judgement.inherited_classes -= places.size();
  found.class_cause = Cause::different;
  found.judgement.worst = places.front();
  found.judgement.worst_golden = g[places.front()];
  found.judgement.worst_target = pair.target->values[places.front()];
  found.judgement.worst_expected = target_outputs()[k].values[places.front()];
  return Unit{};
}

}  // namespace opdrift::verdict::judging
