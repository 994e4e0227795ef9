#include <utility>
#include <vector>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Recurrent operators in one direction, gates in columns where ONNX has them in rows.
//   DynamicRNN    w (input + hidden, 4 hidden), gates i j f o or i f j o; f gets forget_bias.
//                 j is the candidate: c = f c' + i j, h = o tanh(c)
//   DynamicGRUV2  weights (input, 3 hidden) and (hidden, 3 hidden), gates z r h or r z h
// They are the LSTM (i o f j) and the GRU (z r h) of recurrent.cpp with gates and weights turned.

namespace opdrift::replay {

namespace {

struct Layout {
  std::size_t input = 0;
  std::size_t hidden = 0;
  std::vector<std::size_t> order;  ///< which block of columns holds the gates as ONNX has them
};

Status check_cell(const Call& call) {
  const bool plain = call.text({"cell_type"}, "LSTM") == "LSTM" &&
                     call.text({"direction"}, "UNIDIRECTIONAL") == "UNIDIRECTIONAL" &&
                     call.text({"activation"}, "tanh") == "tanh" &&
                     call.integer({"use_peephole"}, 0) == 0 && call.integer({"num_proj"}, 0) == 0 &&
                     call.integer({"time_major"}, 1) != 0 &&
                     !(call.real({"cell_clip"}, -1.0) > 0.0);
  return plain ? Status(Unit{}) : Status(call.not_modelled("a cell that is no plain one"));
}

Result<Layout> lstm_layout(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* w, call.need(1, "w"));
  Layout layout;
  if (x->rank() != 3 || w->rank() != 2 || w->shape[1] % 4 != 0 || w->shape[1] == 0) {
    return call.not_modelled("expected step, batch and input axes, and four gates");
  }
  layout.input = x->shape[2];
  layout.hidden = w->shape[1] / 4;
  const std::string order = call.text({"gate_order"}, "ijfo");
  OPDRIFT_CHECK_OK(check_cell(call));
  if ((order != "ijfo" && order != "ifjo") || w->shape[0] != layout.input + layout.hidden) {
    return call.not_modelled("weights that do not fit, or gates in another order");
  }
  layout.order =
      order == "ijfo" ? std::vector<std::size_t>{0, 3, 2, 1} : std::vector<std::size_t>{0, 3, 1, 2};
  return layout;
}

// Rows `first` to `first + count` of w as (1, gates * hidden, count).
Array gate_rows(const Array& w, const Layout& layout, std::size_t first, std::size_t count) {
  Array rows{{1, layout.order.size() * layout.hidden, count}, {}, w.dtype};
  for (const std::size_t block : layout.order) {
    for (std::size_t unit = 0; unit < layout.hidden; ++unit) {
      const std::size_t column = block * layout.hidden + unit;
      for (std::size_t row = first; row < first + count; ++row) {
        rows.values.push_back(w.values[row * w.shape[1] + column]);
      }
    }
  }
  return rows;
}

// Adds the biases of one input in the order of the gates; zeros where there are none.
Status add_biases(const Call& call, const Layout& layout, std::size_t index, Array& all) {
  const Array* b = call.input(index);
  const std::size_t count = layout.order.size() * layout.hidden;
  if (b != nullptr && b->size() != count) {
    return call.not_modelled("expected one bias per gate and unit");
  }
  for (const std::size_t block : layout.order) {
    for (std::size_t unit = 0; unit < layout.hidden; ++unit) {
      all.values.push_back(b == nullptr ? 0.0 : b->values[block * layout.hidden + unit]);
    }
  }
  return Unit{};
}

void give_rows(Rewritten& plain, const Call& call, const Layout& layout, std::size_t index,
               std::size_t first, std::size_t count) {
  const Array& w = *call.input(index);
  const Array* delta = call.delta(index);
  Array rows = gate_rows(w, layout, first, count);
  if (delta != nullptr && delta->shape == w.shape) {
    plain.give(std::move(rows), gate_rows(*delta, layout, first, count));
  } else {
    plain.give(std::move(rows));
  }
}

Result<Rewritten> rewrite_lstm(const Call& call) {
  OPDRIFT_TRY(const Layout layout, lstm_layout(call));
  if (call.input(3) != nullptr) {
    return call.not_modelled("sequences of different lengths");
  }
  const std::size_t columns = 4 * layout.hidden;
  Array bias{{1, 2 * columns}, {}, tensor::DType::f32};
  OPDRIFT_CHECK_OK(add_biases(call, layout, 2, bias));
  for (std::size_t unit = 0; unit < layout.hidden; ++unit) {
    bias.values[2 * layout.hidden + unit] += call.real({"forget_bias"}, 0.0);
  }
  bias.values.resize(2 * columns);
  Rewritten plain(call, "LSTM");
  plain.take(0);
  give_rows(plain, call, layout, 1, 0, layout.input);
  give_rows(plain, call, layout, 1, layout.input, layout.hidden);
  plain.give(std::move(bias)).absent().take(4).take(5);
  return plain;
}

Result<Rewritten> rewrite_gru(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  OPDRIFT_TRY(const Array* w, call.need(1, "weight_input"));
  OPDRIFT_TRY(const Array* r, call.need(2, "weight_hidden"));
  OPDRIFT_CHECK_OK(check_cell(call));
  const std::string order = call.text({"gate_order"}, "zrh");
  if (x->rank() != 3 || w->rank() != 2 || r->rank() != 2 || r->shape[0] == 0 ||
      w->shape[0] != x->shape[2] || w->shape[1] != 3 * r->shape[0] || r->shape[1] != w->shape[1] ||
      (order != "zrh" && order != "rzh") || call.input(5) != nullptr) {
    return call.not_modelled("weights that do not fit, or gates in another order");
  }
  Layout layout{w->shape[0], r->shape[0], {0, 1, 2}};
  if (order == "rzh") {
    std::swap(layout.order[0], layout.order[1]);
  }
  Array bias{{1, 6 * layout.hidden}, {}, tensor::DType::f32};
  OPDRIFT_CHECK_OK(add_biases(call, layout, 3, bias));
  OPDRIFT_CHECK_OK(add_biases(call, layout, 4, bias));
  Rewritten plain(call, "GRU");
  plain.take(0);
  give_rows(plain, call, layout, 1, 0, layout.input);
  give_rows(plain, call, layout, 2, 0, layout.hidden);
  plain.give(std::move(bias)).absent().take(6);
  plain.integer("linear_before_reset", call.integer({"reset_after"}, 1));
  return plain;
}

// The result twice, as y and output_h; what cells and gates were is not given out again.
Outputs states(Outputs outputs) {
  Array& y = outputs.front();
  y.shape = {y.shape[0], y.shape[2], y.shape[3]};
  return Outputs(2, y);
}

}  // namespace

Result<Outputs> dynamic_lstm(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_lstm(call));
  OPDRIFT_TRY(Outputs outputs, lstm(plain.call()));
  return states(std::move(outputs));
}
Result<Terms> dynamic_lstm_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_lstm(call));
  return lstm_terms(plain.call(), 0, y);
}

Result<Outputs> dynamic_gru(const Call& call) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_gru(call));
  OPDRIFT_TRY(Outputs outputs, gru(plain.call()));
  return states(std::move(outputs));
}
Result<Terms> dynamic_gru_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Rewritten plain, rewrite_gru(call));
  return gru_terms(plain.call(), 0, y);
}

}  // namespace opdrift::replay
