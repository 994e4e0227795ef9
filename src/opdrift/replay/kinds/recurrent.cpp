#include <algorithm>
#include <array>
#include <cmath>

#include "opdrift/replay/activation.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/product.hpp"

// RNN, GRU and LSTM over a whole sequence, with the gate order of ONNX:
//   LSTM  i o f c:   C = f . C' + i . c,  H = o . h(C)
//   GRU   z r h:     H = (1 - z) . h + z . H'
//   RNN   i:         H = f(X W^T + H' R^T + Wb + Rb)

namespace opdrift::replay {

namespace {

enum class Cell : std::uint8_t { rnn, gru, lstm };

struct Net {
  Cell cell = Cell::rnn;
  std::size_t gates = 1;
  std::size_t steps = 0;
  std::size_t batch = 0;
  std::size_t input = 0;
  std::size_t hidden = 0;
  std::size_t directions = 1;
  bool batch_first = false;
  bool reset_after = false;  ///< linear_before_reset
  bool input_forget = false;
  double clip = HUGE_VAL;
  std::vector<Activation> activations;  ///< three per direction
  Array x;                              ///< (step, batch, input)
  std::vector<std::size_t> lengths;     ///< per batch entry
};

std::size_t gate_count(Cell cell) {
  return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
}

Result<std::vector<Activation>> activations_of(const Call& call, const Net& net) {
  const std::vector<std::string> names = call.texts({"activations"});
  const auto alphas = call.reals({"activation_alpha"}).value_or(std::vector<double>{});
  const auto betas = call.reals({"activation_beta"}).value_or(std::vector<double>{});
  const std::array<std::string, 3> defaults =
      net.cell == Cell::rnn ? std::array<std::string, 3>{"Tanh", "Tanh", "Tanh"}
                            : std::array<std::string, 3>{"Sigmoid", "Tanh", "Tanh"};
  const std::size_t each = net.cell == Cell::lstm ? 3 : net.cell == Cell::gru ? 2 : 1;
  if (!names.empty() && names.size() != each * net.directions) {
    return call.not_modelled("the list of activations does not fit");
  }
  std::vector<Activation> activations(3 * net.directions);
  std::size_t next = 0;  // parameters are listed for the functions that take some
  for (std::size_t d = 0; d < net.directions; ++d) {
    for (std::size_t k = 0; k < each; ++k) {
      const std::string& name = names.empty() ? defaults[k] : names[d * each + k];
      std::vector<double> parameters;
      const bool plain = name == "Sigmoid" || name == "Tanh" || name == "Relu";
      if (!plain && next < alphas.size()) {
        parameters.push_back(alphas[next]);
        if (next < betas.size()) {
          parameters.push_back(betas[next]);
        }
        ++next;
      }
      OPDRIFT_TRY(activations[3 * d + k], activation_by_name(name, parameters));
    }
  }
  return activations;
}

Status read_sequence(const Call& call, Net& net) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  if (x->rank() != 3) {
    return call.not_modelled("expected step, batch and input axes");
  }
  net.batch_first = call.integer({"layout"}, 0) != 0;
  net.x = net.batch_first ? transposed(*x, {1, 0, 2}) : *x;
  net.steps = net.x.shape[0];
  net.batch = net.x.shape[1];
  net.input = net.x.shape[2];
  net.lengths.assign(net.batch, net.steps);
  if (const Array* lengths = call.input(4); lengths != nullptr) {
    if (lengths->size() != net.batch) {
      return call.not_modelled("expected one sequence length per batch entry");
    }
    for (std::size_t b = 0; b < net.batch; ++b) {
      const double length = lengths->values[b];
      if (!(length >= 0.0) || !(length <= static_cast<double>(net.steps))) {
        return call.not_modelled("a sequence length is out of range");
      }
      net.lengths[b] = static_cast<std::size_t>(length);
    }
  }
  return Unit{};
}

Status check_size(const Call& call, std::size_t index, std::uint64_t expected) {
  const Array* array = call.input(index);
  if (array != nullptr && array->size() != expected) {
    return call.not_modelled("input " + std::to_string(index) + ": expected " +
                             std::to_string(expected) + " elements, found " +
                             std::to_string(array->size()));
  }
  return Unit{};
}

Status check_parameters(const Call& call, const Net& net) {
  const std::uint64_t rows = net.directions * net.gates * net.hidden;
  OPDRIFT_CHECK_OK(check_size(call, 1, rows * net.input));
  OPDRIFT_CHECK_OK(check_size(call, 2, rows * net.hidden));
  OPDRIFT_CHECK_OK(check_size(call, 3, 2 * rows));
  OPDRIFT_CHECK_OK(check_size(call, 5, net.directions * net.batch * net.hidden));
  if (net.cell == Cell::lstm) {
    OPDRIFT_CHECK_OK(check_size(call, 6, net.directions * net.batch * net.hidden));
    OPDRIFT_CHECK_OK(check_size(call, 7, 3 * net.directions * net.hidden));
  }
  return Unit{};
}

Result<Net> plan(const Call& call, Cell cell) {
  Net net;
  net.cell = cell;
  net.gates = gate_count(cell);
  OPDRIFT_CHECK_OK(read_sequence(call, net));
  OPDRIFT_TRY(const Array* w, call.need(1, "W"));
  OPDRIFT_TRY(const Array* r, call.need(2, "R"));
  if (w->rank() != 3 || r->rank() != 3 || r->shape[1] != net.gates * r->shape[2] ||
      r->shape[0] < 1 || r->shape[0] > 2 || w->shape[0] != r->shape[0] || r->shape[2] == 0) {
    return call.not_modelled("weights do not fit each other");
  }
  const bool both = call.text({"direction"}, "forward") == "bidirectional";
  net.directions = r->shape[0];
  net.hidden = r->shape[2];
  if (both != (net.directions == 2)) {
    return call.not_modelled("weights do not fit the direction");
  }
  OPDRIFT_CHECK_OK(check_parameters(call, net));
  net.reset_after = call.integer({"linear_before_reset"}, 0) != 0;
  net.input_forget = call.integer({"input_forget"}, 0) != 0;
  const double clip = call.real({"clip"}, 0.0);
  net.clip = clip > 0.0 ? clip : HUGE_VAL;
  OPDRIFT_TRY(net.activations, activations_of(call, net));
  OPDRIFT_CHECK_OK(call.check_work(
      saturating_product(net.directions * net.gates * net.hidden, net.steps * net.batch),
      net.input + net.hidden));
  return net;
}

/// One direction of a net with its own slices of the parameters.
struct Direction {
  const double* w = nullptr;
  const double* r = nullptr;
  const double* input_bias = nullptr;  ///< nullptr: none
  const double* hidden_bias = nullptr;
  const double* peephole = nullptr;  ///< i o f
  const Activation* activations = nullptr;
  bool reverse = false;
};

Direction direction_of(const Call& call, const Net& net, std::size_t d) {
  const std::size_t rows = net.gates * net.hidden;
  Direction direction;
  direction.w = call.input(1)->values.data() + d * rows * net.input;
  direction.r = call.input(2)->values.data() + d * rows * net.hidden;
  if (const Array* bias = call.input(3); bias != nullptr) {
    direction.input_bias = bias->values.data() + d * 2 * rows;
    direction.hidden_bias = direction.input_bias + rows;
  }
  if (const Array* peephole = call.input(7); peephole != nullptr && net.cell == Cell::lstm) {
    direction.peephole = peephole->values.data() + d * 3 * net.hidden;
  }
  direction.activations = net.activations.data() + 3 * d;
  direction.reverse = d == 1 || call.text({"direction"}, "forward") == "reverse";
  return direction;
}

double clipped(const Net& net, double value) {
  return std::clamp(value, -net.clip, net.clip);
}

/// State of one batch entry in one direction.
struct State {
  double* h = nullptr;
  double* c = nullptr;
};

void lstm_step(const Net& net, const Direction& d, const double* gates, State state) {
  const std::size_t n = net.hidden;
  for (std::size_t j = 0; j < n; ++j) {
    const double old = state.c[j];
    const double from_old = d.peephole == nullptr ? 0.0 : d.peephole[j] * old;
    const double forget_old = d.peephole == nullptr ? 0.0 : d.peephole[2 * n + j] * old;
    const double i = d.activations[0](clipped(net, gates[j] + from_old));
    const double f =
        net.input_forget ? 1.0 - i : d.activations[0](clipped(net, gates[2 * n + j] + forget_old));
    const double candidate = d.activations[1](clipped(net, gates[3 * n + j]));
    state.c[j] = f * old + i * candidate;
    const double out_now = d.peephole == nullptr ? 0.0 : d.peephole[n + j] * state.c[j];
    const double o = d.activations[0](clipped(net, gates[n + j] + out_now));
    state.h[j] = o * d.activations[2](clipped(net, state.c[j]));
  }
}

// `x_part` holds W x + Wb for z r h; `h_part` holds R h + Rb for the gates that use it plainly.
void gru_step(const Net& net, const Direction& d, const double* x_part, double* h_part,
              State state) {
  const std::size_t n = net.hidden;
  std::vector<double> update(n);
  std::vector<double> reset(n);
  for (std::size_t j = 0; j < n; ++j) {
    update[j] = d.activations[0](clipped(net, x_part[j] + h_part[j]));
    reset[j] = d.activations[0](clipped(net, x_part[n + j] + h_part[n + j]));
  }
  if (!net.reset_after) {
    std::vector<double> kept(n);
    for (std::size_t j = 0; j < n; ++j) {
      kept[j] = reset[j] * state.h[j];
    }
    multiply(1, n, n, {kept.data(), n, 1}, {d.r + 2 * n * n, 1, n}, h_part + 2 * n);
    for (std::size_t j = 0; j < n && d.hidden_bias != nullptr; ++j) {
      h_part[2 * n + j] += d.hidden_bias[2 * n + j];
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    const double recurrent = net.reset_after ? reset[j] * h_part[2 * n + j] : h_part[2 * n + j];
    const double candidate = d.activations[1](clipped(net, x_part[2 * n + j] + recurrent));
    state.h[j] = (1.0 - update[j]) * candidate + update[j] * state.h[j];
  }
}

// All inputs of one direction times W^T, with the bias: (step * batch, gates * hidden).
std::vector<double> input_parts(const Net& net, const Direction& d) {
  const std::size_t rows = net.gates * net.hidden;
  std::vector<double> parts(net.steps * net.batch * rows);
  multiply(net.steps * net.batch, rows, net.input, {net.x.values.data(), net.input, 1},
           {d.w, 1, net.input}, parts.data());
  for (std::size_t i = 0; i < parts.size() && d.input_bias != nullptr; ++i) {
    parts[i] += d.input_bias[i % rows];
  }
  return parts;
}

void step(const Net& net, const Direction& d, double* x_part, State state,
          std::vector<double>& h_part) {
  const std::size_t rows = net.gates * net.hidden;
  multiply(1, rows, net.hidden, {state.h, net.hidden, 1}, {d.r, 1, net.hidden}, h_part.data());
  for (std::size_t i = 0; i < rows && d.hidden_bias != nullptr; ++i) {
    h_part[i] += d.hidden_bias[i];
  }
  if (net.cell == Cell::gru) {
    gru_step(net, d, x_part, h_part.data(), state);
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    x_part[i] += h_part[i];
  }
  if (net.cell == Cell::lstm) {
    lstm_step(net, d, x_part, state);
    return;
  }
  for (std::size_t j = 0; j < net.hidden; ++j) {
    state.h[j] = d.activations[0](clipped(net, x_part[j]));
  }
}

void run_direction(const Net& net, const Direction& d, std::size_t index, Array& y, Array& h,
                   Array& c) {
  std::vector<double> parts = input_parts(net, d);
  const std::size_t rows = net.gates * net.hidden;
  std::vector<double> h_part(rows);
  for (std::size_t b = 0; b < net.batch; ++b) {
    const std::size_t slot = (index * net.batch + b) * net.hidden;
    const State state{h.values.data() + slot, c.values.data() + slot};
    for (std::size_t k = 0; k < net.lengths[b]; ++k) {
      const std::size_t t = d.reverse ? net.lengths[b] - 1 - k : k;
      step(net, d, parts.data() + (t * net.batch + b) * rows, state, h_part);
      std::copy_n(state.h, net.hidden,
                  y.values.data() + ((t * net.directions + index) * net.batch + b) * net.hidden);
    }
  }
}

Result<Array> initial_state(const Call& call, const Net& net, std::size_t index) {
  OPDRIFT_TRY(Array state, call.make({net.directions, net.batch, net.hidden}, net.x.dtype));
  if (const Array* given = call.input(index); given != nullptr) {
    const bool swap = net.batch_first && given->rank() == 3 &&
                      given->shape == tensor::Shape{net.batch, net.directions, net.hidden};
    state.values = swap ? transposed(*given, {1, 0, 2}).values : given->values;
  }
  return state;
}

Result<Outputs> run(const Call& call, Cell cell) {
  OPDRIFT_TRY(const Net net, plan(call, cell));
  OPDRIFT_TRY(Array y, call.make({net.steps, net.directions, net.batch, net.hidden}, net.x.dtype));
  if (count_of({net.steps, net.batch, net.gates * net.hidden}) > call.limits.max_elements) {
    return call.not_modelled("the sequence is too long");
  }
  OPDRIFT_TRY(Array h, initial_state(call, net, 5));
  OPDRIFT_TRY(Array c, initial_state(call, net, cell == Cell::lstm ? 6 : call.inputs.size()));
  for (std::size_t d = 0; d < net.directions; ++d) {
    run_direction(net, direction_of(call, net, d), d, y, h, c);
  }
  if (net.batch_first) {
    y = transposed(y, {2, 0, 1, 3});
    h = transposed(h, {1, 0, 2});
    c = transposed(c, {1, 0, 2});
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  outputs.push_back(std::move(h));
  if (cell == Cell::lstm) {
    outputs.push_back(std::move(c));
  }
  return outputs;
}

// 0.09 mean(y^2) stands for a^2 of every step: the gates bound what a step can add. Narrowed
// weights are replayed once and leave their mean square.
Result<Terms> terms_of(const Call& call, std::size_t index, const Array& y, Cell cell) {
  Terms terms;
  const Array* w = call.input(1);
  const Array* r = call.input(2);
  if (w == nullptr || r == nullptr || w->rank() != 3 || r->rank() != 3) {
    return call.not_modelled("weights are missing");
  }
  terms.n = static_cast<double>(w->shape[2] + r->shape[2]);
  double squares = 0.0;
  for (const double value : y.values) {
    squares += value * value;
  }
  const double mean = y.size() == 0 ? 0.0 : squares / static_cast<double>(y.size());
  terms.a2.assign(y.size(), mean);
  std::vector<Array> narrowed(3);
  std::vector<const Array*> inputs(call.inputs.begin(), call.inputs.end());
  bool any = false;
  for (std::size_t i = 1; i < 4 && i < inputs.size(); ++i) {
    const Array* delta = call.delta(i);
    if (delta == nullptr || inputs[i] == nullptr || delta->size() != inputs[i]->size()) {
      continue;
    }
    narrowed[i - 1] = *inputs[i];
    std::transform(delta->values.begin(), delta->values.end(), inputs[i]->values.begin(),
                   narrowed[i - 1].values.begin(),
                   [](double error, double weight) { return weight + error; });
    inputs[i] = &narrowed[i - 1];
    any = true;
  }
  if (any) {
    OPDRIFT_TRY(const Outputs other, run(Call{call.op, inputs, {}, call.limits}, cell));
    double spread = 0.0;
    for (std::size_t i = 0; index < other.size() && i < y.size(); ++i) {
      const double d = other[index].values[i] - y.values[i];
      spread += d * d / static_cast<double>(y.size());
    }
    terms.weights.assign(y.size(), spread);
  }
  return terms;
}

}  // namespace

Result<Outputs> lstm(const Call& call) {
  return run(call, Cell::lstm);
}
Result<Outputs> gru(const Call& call) {
  return run(call, Cell::gru);
}
Result<Outputs> rnn(const Call& call) {
  return run(call, Cell::rnn);
}
Result<Terms> lstm_terms(const Call& call, std::size_t index, const Array& y) {
  return terms_of(call, index, y, Cell::lstm);
}
Result<Terms> gru_terms(const Call& call, std::size_t index, const Array& y) {
  return terms_of(call, index, y, Cell::gru);
}
Result<Terms> rnn_terms(const Call& call, std::size_t index, const Array& y) {
  return terms_of(call, index, y, Cell::rnn);
}

}  // namespace opdrift::replay
