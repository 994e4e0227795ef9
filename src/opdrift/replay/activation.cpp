#include "opdrift/replay/activation.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

namespace opdrift::replay {

namespace {

struct NamedFunction {
  std::string_view name;
  double (*function)(double x, double alpha, double beta);
  double alpha;
  double beta;
};

constexpr NamedFunction kFunctions[] = {
    {"relu", [](double x, double, double) { return x < 0.0 ? 0.0 : x; }, 0.0, 0.0},
    {"tanh", [](double x, double, double) { return std::tanh(x); }, 0.0, 0.0},
    {"sigmoid", [](double x, double, double) { return sigmoid_of(x); }, 0.0, 0.0},
    {"affine", [](double x, double a, double b) { return a * x + b; }, 1.0, 0.0},
    {"leakyrelu", [](double x, double a, double) { return x < 0.0 ? a * x : x; }, 0.01, 0.0},
    {"thresholdedrelu", [](double x, double a, double) { return x > a ? x : 0.0; }, 1.0, 0.0},
    {"scaledtanh", [](double x, double a, double b) { return a * std::tanh(b * x); }, 1.0, 1.0},
    {"hardsigmoid", [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); },
     0.2, 0.5},
    {"elu", [](double x, double a, double) { return x < 0.0 ? a * std::expm1(x) : x; }, 1.0, 0.0},
    {"softsign", [](double x, double, double) { return x / (1.0 + std::abs(x)); }, 0.0, 0.0},
    {"softplus", [](double x, double, double) { return softplus_of(x); }, 0.0, 0.0},
    {"hardswish", [](double x, double, double) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); },
     0.0, 0.0},
    {"gelu", [](double x, double, double) { return gelu_of(x); }, 0.0, 0.0},
    {"swish", [](double x, double a, double) { return x * sigmoid_of(a * x); }, 1.0, 0.0},
    {"silu", [](double x, double, double) { return x * sigmoid_of(x); }, 0.0, 0.0},
    {"quickgelu", [](double x, double a, double) { return x * sigmoid_of(a * x); }, 1.702, 0.0},
    {"clip", [](double x, double low, double high) { return x < low    ? low
                                                            : x > high ? high
                                                                       : x; },
     -HUGE_VAL, HUGE_VAL},
};

}  // namespace

Result<Activation> activation_by_name(std::string_view name,
                                      const std::vector<double>& parameters) {
  const std::string wanted = to_lower(name);
  for (const NamedFunction& row : kFunctions) {
    if (row.name == wanted) {
      Activation activation{row.function, row.alpha, row.beta};
      activation.alpha = parameters.empty() ? row.alpha : parameters[0];
      activation.beta = parameters.size() < 2 ? row.beta : parameters[1];
      return activation;
    }
  }
  return Error{ErrorCode::unsupported,
               "operator not modelled: unknown activation " + std::string(name)};
}

Result<Activation> fused_activation(const Call& call) {
  const std::string name = call.text({"activation", "activation_type"}, "");
  if (name.empty()) {
    return Activation{};
  }
  std::vector<double> parameters =
      call.reals({"activation_params", "activation_alpha"}).value_or(std::vector<double>{});
  if (call.has({"activation_beta"}) && parameters.size() == 1) {
    parameters.push_back(call.real({"activation_beta"}, 0.0));
  }
  return activation_by_name(name, parameters);
}

}  // namespace opdrift::replay
