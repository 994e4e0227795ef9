#include "judges.hpp"

#include <cmath>

namespace opdrift::evaluation {

RivalFlags ask_rivals(const tensor::Tensor& golden, const tensor::Tensor& target) {
  const std::span<const float> g = floats_of(golden);
  const std::span<const float> t = floats_of(target);
  if (g.size() != t.size()) {
    return {true, true, true, true};
  }
  double golden2 = 0.0;
  double target2 = 0.0;
  double product = 0.0;
  double error2 = 0.0;
  RivalFlags bad = {};
  bool class_differs = false;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const auto x = static_cast<double>(g[i]);
    const auto y = static_cast<double>(t[i]);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      class_differs = class_differs || !(x == y || (std::isnan(x) && std::isnan(y)));
      continue;
    }
    const double error = std::abs(y - x);
    golden2 += x * x;
    target2 += y * y;
    product += x * y;
    error2 += error * error;
    bad[1] = bad[1] || error > 1e-3 + 1e-3 * std::abs(x);
    bad[3] = bad[3] || (error > 1e-5 && error > 1e-5 * std::abs(x));
  }
  const double norms = std::sqrt(golden2) * std::sqrt(target2);
  bad[0] = norms > 0.0 ? !(product >= 0.99 * norms) : golden2 != target2;
  bad[2] = std::sqrt(error2) > 0.1 * std::sqrt(golden2);
  return class_differs ? RivalFlags{true, true, true, true} : bad;
}

const tensor::Tensor* MemorySource::tensor_of(verdict::RunSide side, ValueId value) const {
  const bool golden = side == verdict::RunSide::golden;
  if (const tensor::Tensor* parameter = network_.parameter(value)) {
    return golden ? parameter : nullptr;
  }
  const Values& values = golden ? network_.golden() : target_;
  return values[value] ? &*values[value] : nullptr;
}

bool MemorySource::has(verdict::RunSide side, ValueId value) const {
  return tensor_of(side, value) != nullptr;
}

Result<tensor::View> MemorySource::view(verdict::RunSide side, ValueId value) const {
  const tensor::Tensor* tensor = tensor_of(side, value);
  if (tensor == nullptr) {
    return Error{ErrorCode::not_found, "no such value", network_.problem().values[value].name};
  }
  return tensor::stored_view(*tensor);
}

verdict::MeasuredValue MemorySource::measured(ValueId value) const {
  const tensor::Tensor* golden = tensor_of(verdict::RunSide::golden, value);
  const tensor::Tensor* target = tensor_of(verdict::RunSide::target, value);
  if (golden == nullptr || target == nullptr) {
    return {};
  }
  Known& known = known_[value];
  std::call_once(known.once, [&] {
    const auto golden_view = tensor::stored_view(*golden);
    const auto target_view = tensor::stored_view(*target);
    if (golden_view && target_view) {
      auto found = metrics::measure(*golden_view, *target_view, {.peaks = &known.peaks});
      known.measurement = found ? std::optional(*found) : std::nullopt;
    }
  });
  return known.measurement ? verdict::MeasuredValue{&*known.measurement, known.peaks.front()}
                           : verdict::MeasuredValue{};
}

}  // namespace opdrift::evaluation
