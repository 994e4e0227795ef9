#include <algorithm>
#include <cmath>

#include "opdrift/replay/activation.hpp"
#include "opdrift/replay/convolution.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Conv and ConvTranspose with bias, a fused addend and a fused activation.

namespace opdrift::replay {

namespace {

struct Planned {
  Convolution conv;
  const Array* x = nullptr;
  const Array* w = nullptr;
  const Array* bias = nullptr;
  const Array* addend = nullptr;
  Activation activation;
};

Result<Planned> plan(const Call& call, bool transposed) {
  Planned planned;
  OPDRIFT_TRY(planned.x, call.need(0, "X"));
  OPDRIFT_TRY(planned.w, call.need(1, "W"));
  OPDRIFT_TRY(planned.conv, plan_convolution(call, *planned.x, *planned.w, transposed));
  planned.bias = call.input(2);
  if (planned.bias != nullptr && planned.bias->size() != planned.conv.shape[1]) {
    return call.not_modelled("expected one bias per output channel");
  }
  planned.addend = call.op.type == "FusedConv" ? call.input(3) : nullptr;
  if (planned.addend != nullptr && planned.addend->shape != planned.conv.shape) {
    return call.not_modelled("the addend does not fit the result");
  }
  OPDRIFT_TRY(planned.activation, fused_activation(call));
  return planned;
}

double added(const Planned& planned, std::uint64_t position) {
  double more = 0.0;
  if (planned.bias != nullptr) {
    more += planned.bias->values[channel_of(planned.conv, position)];
  }
  if (planned.addend != nullptr) {
    more += planned.addend->values[position];
  }
  return more;
}

Result<Outputs> run(const Call& call, bool transposed) {
  OPDRIFT_TRY(const Planned planned, plan(call, transposed));
  OPDRIFT_TRY(Array y, run_convolution(call, planned.conv, *planned.x, *planned.w));
  for (std::size_t i = 0; i < y.size(); ++i) {
    y.values[i] = planned.activation(y.values[i] + added(planned, i));
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

// A transposed convolution reaches an output with one tap in `stride` per axis.
double reduction_of(const Convolution& conv) {
  double n = static_cast<double>(conv.reduction());
  for (const std::int64_t stride : conv.window.stride) {
    n /= conv.transposed ? static_cast<double>(stride) : 1.0;
  }
  return std::max(1.0, std::floor(n));
}

Result<Sample> run_at(const Call& call, std::span<const std::uint64_t> positions, bool with_terms,
                      bool transposed) {
  OPDRIFT_TRY(const Planned planned, plan(call, transposed));
  OPDRIFT_CHECK_OK(call.check_work(positions.size(), planned.conv.reduction()));
  Sample sample;
  sample.values = run_convolution_at(planned.conv, *planned.x, *planned.w, positions, false);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    sample.values[i] = planned.activation(sample.values[i] + added(planned, positions[i]));
  }
  if (!with_terms) {
    return sample;
  }
  sample.terms.n = reduction_of(planned.conv);
  sample.terms.a2 = run_convolution_at(planned.conv, *planned.x, *planned.w, positions, true);
  if (const Array* delta = call.delta(1); delta != nullptr && delta->shape == planned.w->shape) {
    sample.terms.weights = run_convolution_at(planned.conv, *planned.x, *delta, positions, true);
  }
  for (std::size_t i = 0; planned.bias != nullptr && i < positions.size(); ++i) {
    const double bias = planned.bias->values[channel_of(planned.conv, positions[i])];
    sample.terms.extra.push_back(bias * bias);
  }
  return sample;
}

Result<Terms> terms_of(const Call& call, bool transposed) {
  OPDRIFT_TRY(const Planned planned, plan(call, transposed));
  Terms terms;
  terms.n = reduction_of(planned.conv);
  const Array x2 = squared(*planned.x);
  OPDRIFT_TRY(Array a2, run_convolution(call, planned.conv, x2, squared(*planned.w)));
  terms.a2 = std::move(a2.values);
  if (const Array* delta = call.delta(1); delta != nullptr && delta->shape == planned.w->shape) {
    OPDRIFT_TRY(Array w, run_convolution(call, planned.conv, x2, squared(*delta)));
    terms.weights = std::move(w.values);
  }
  if (planned.bias != nullptr) {
    terms.extra.resize(terms.a2.size());
    for (std::size_t i = 0; i < terms.extra.size(); ++i) {
      const double bias = planned.bias->values[channel_of(planned.conv, i)];
      terms.extra[i] = bias * bias;
    }
  }
  return terms;
}

}  // namespace

Result<Outputs> conv(const Call& call) {
  return run(call, false);
}
Result<Sample> conv_at(const Call& call, std::span<const std::uint64_t> positions,
                       bool with_terms) {
  return run_at(call, positions, with_terms, false);
}
Result<Terms> conv_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  return terms_of(call, false);
}
Result<Outputs> conv_transpose(const Call& call) {
  return run(call, true);
}
Result<Sample> conv_transpose_at(const Call& call, std::span<const std::uint64_t> positions,
                                 bool with_terms) {
  return run_at(call, positions, with_terms, true);
}
Result<Terms> conv_transpose_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  return terms_of(call, true);
}

}  // namespace opdrift::replay
