#include <algorithm>
#include <cmath>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// DynamicRNN, a long short-term memory in one direction:
//   w (input + hidden, 4 hidden) with columns i j f o, or i f j o; f gets forget_bias
//   j is the candidate: c = f c' + i j, h = o tanh(c)
// It is the LSTM of recurrent.cpp with its gates in another order (i o f j) and rows turned.

namespace opdrift::replay {

namespace {

/// Input i of the call in the order of an LSTM.
struct Layout {
  std::size_t input = 0;
  std::size_t hidden = 0;
  std::size_t order[4] = {0, 3, 2, 1};  ///< column block of i, o, f and j
};

Result<Layout> layout_of(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* w, call.need(1, "w"));
  Layout layout;
  if (x->rank() != 3 || w->rank() != 2 || w->shape[1] % 4 != 0 || w->shape[1] == 0) {
    return call.not_modelled("expected step, batch and input axes, and four gates");
  }
  layout.input = x->shape[2];
  layout.hidden = w->shape[1] / 4;
  const std::string order = call.text({"gate_order"}, "ijfo");
  const bool plain = call.text({"cell_type"}, "LSTM") == "LSTM" &&
                     call.text({"direction"}, "UNIDIRECTIONAL") == "UNIDIRECTIONAL" &&
                     call.text({"activation"}, "tanh") == "tanh" &&
                     call.integer({"use_peephole"}, 0) == 0 && call.integer({"num_proj"}, 0) == 0 &&
                     call.integer({"time_major"}, 1) != 0 &&
                     !(call.real({"cell_clip"}, -1.0) > 0.0);
  if (!plain || (order != "ijfo" && order != "ifjo") ||
      w->shape[0] != layout.input + layout.hidden) {
    return call.not_modelled("a cell that is no plain LSTM, or weights that do not fit");
  }
  if (order == "ifjo") {
    layout.order[2] = 1;
    layout.order[3] = 2;
  }
  return layout;
}

// Rows `first` to `first + count` of w as (1, 4 hidden, count).
Array gate_rows(const Array& w, const Layout& layout, std::size_t first, std::size_t count) {
  Array rows{{1, 4 * layout.hidden, count}, {}, w.dtype};
  for (std::size_t gate = 0; gate < 4; ++gate) {
    for (std::size_t unit = 0; unit < layout.hidden; ++unit) {
      const std::size_t column = layout.order[gate] * layout.hidden + unit;
      for (std::size_t row = first; row < first + count; ++row) {
        rows.values.push_back(w.values[row * w.shape[1] + column]);
      }
    }
  }
  return rows;
}

Result<Array> biases(const Call& call, const Layout& layout) {
  OPDRIFT_TRY(const Array* b, call.need(2, "b"));
  if (b->size() != 4 * layout.hidden) {
    return call.not_modelled("expected one bias per gate and unit");
  }
  Array all{{1, 8 * layout.hidden}, std::vector<double>(8 * layout.hidden), b->dtype};
  for (std::size_t gate = 0; gate < 4; ++gate) {
    const double more = gate == 2 ? call.real({"forget_bias"}, 0.0) : 0.0;
    for (std::size_t unit = 0; unit < layout.hidden; ++unit) {
      all.values[gate * layout.hidden + unit] =
          b->values[layout.order[gate] * layout.hidden + unit] + more;
    }
  }
  return all;
}

Result<Rewritten> rewrite(const Call& call) {
  OPDRIFT_TRY(const Layout layout, layout_of(call));
  if (call.input(3) != nullptr) {
    return call.not_modelled("sequences of different lengths");
  }
  OPDRIFT_TRY(Array bias, biases(call, layout));
  const Array& w = *call.input(1);
  Rewritten plain(call, "LSTM");
  plain.take(0);
  const Array* delta = call.delta(1);
  const bool narrowed = delta != nullptr && delta->shape == w.shape;
  const auto give = [&](std::size_t first, std::size_t count) {
    Array rows = gate_rows(w, layout, first, count);
    if (narrowed) {
      plain.give(std::move(rows), gate_rows(*delta, layout, first, count));
    } else {
      plain.give(std::move(rows));
    }
  };
  give(0, layout.input);
  give(layout.input, layout.hidden);
  plain.give(std::move(bias)).absent().take(4).take(5);
  return plain;
}

}  // namespace

// y, output_h and output_c of every step; what the gates were is not given out again.
Result<Outputs> dynamic_lstm(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite(call));
  OPDRIFT_TRY(Outputs outputs, lstm(plain.call()));
  Array& y = outputs.front();
  y.shape = {y.shape[0], y.shape[2], y.shape[3]};
  Outputs given(2, y);
  return given;
}

Result<Terms> dynamic_lstm_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Rewritten plain, rewrite(call));
  return lstm_terms(plain.call(), 0, y);
}

}  // namespace opdrift::replay
