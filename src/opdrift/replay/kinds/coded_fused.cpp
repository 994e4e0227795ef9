#include <algorithm>
#include <cmath>
#include <utility>

#include "opdrift/replay/kinds/coding.hpp"
#include "opdrift/replay/kinds/kinds.hpp"
#include "opdrift/replay/matmul.hpp"

// Kinds of com.microsoft that take codes and do what a kind of numbers does with what they stand
// for: QGemm, QAttention, QEmbedLayerNormalization, GatherBlockQuantized.

namespace opdrift::replay {

namespace {

// An input by its scale and zero point, one for all or one per column.
Result<Array> real_input(const Call& call, std::size_t index, std::size_t scale, std::size_t zero) {
  OPDRIFT_TRY(const Array* x, call.need(index, "codes"));
  OPDRIFT_TRY(const Array* scales, call.need(scale, "scale"));
  Coding code;
  OPDRIFT_TRY(code.scale, Parameter::create(call, scales, *x, -1, 0, 1.0));
  OPDRIFT_TRY(code.zero, Parameter::create(call, call.input(zero), *x, -1, 0, 0.0));
  return decoded(*x, code);
}

/// A QGemm in numbers.
struct Gemm {
  Array a;
  Array b;
  Product product;
  std::vector<double> addend;  ///< stretched over the result; empty: none
};

// The addend has no zero point and the product of all scales.
Result<std::vector<double>> scaled_addend(const Call& call, const Array& c, const Product& product,
                                          double scale) {
  OPDRIFT_TRY(const Array* b_scale, call.need(4, "b_scale"));
  if (c.size() == 0 || b_scale->size() == 0) {
    return call.not_modelled("the addend is empty");
  }
  OPDRIFT_TRY(const tensor::Shape wide, broadcast_shape(c.shape, product.shape));
  if (wide != product.shape) {
    return call.not_modelled("the addend is larger than the product");
  }
  OPDRIFT_TRY(Array zeros, call.make(product.shape, tensor::DType::f32));
  const std::vector<const Array*> addends = {&zeros, &c};
  graph::Operator plain;
  plain.type = "Add";
  plain.name = call.op.name;
  OPDRIFT_TRY(Outputs sums, add(Call{plain, addends, {}, call.limits}));
  std::vector<double> values = std::move(sums.front().values);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const std::size_t column = b_scale->size() == 1 ? 0 : at % product.n;
    values[at] *= scale * b_scale->values[column];
  }
  return values;
}

Status plan_gemm(const Call& call, Gemm& gemm) {
  OPDRIFT_TRY(gemm.a, real_input(call, 0, 1, 2));
  OPDRIFT_TRY(const Array* b, call.need(3, "B"));
  OPDRIFT_TRY(const Array* b_scale, call.need(4, "b_scale"));
  const bool turned = call.integer({"transB"}, 0) != 0;
  Coding code;
  OPDRIFT_TRY(code.scale, Parameter::create(call, b_scale, *b, turned ? 0 : -1, 0, 1.0));
  OPDRIFT_TRY(code.zero, Parameter::create(call, call.input(5), *b, turned ? 0 : -1, 0, 0.0));
  gemm.b = decoded(*b, code);
  if (gemm.a.rank() != 2 || gemm.b.rank() != 2) {
    return call.not_modelled("expected matrices");
  }
  OPDRIFT_TRY(gemm.product,
              plan_matmul(call, gemm.a, gemm.b, call.integer({"transA"}, 0) != 0, turned));
  gemm.product.scale = call.real({"alpha"}, 1.0);
  if (const Array* c = call.input(6); c != nullptr) {
    OPDRIFT_TRY(const auto a_scale, call.real_or_input({}, 1));
    OPDRIFT_TRY(gemm.addend,
                scaled_addend(call, *c, gemm.product, gemm.product.scale * a_scale.value_or(1.0)));
  }
  return Unit{};
}

/// An operator of another kind with the attributes of this one.
graph::Operator renamed(const Call& call, const char* type) {
  graph::Operator op = call.op;
  op.type = type;
  op.domain = "com.microsoft";
  return op;
}

// Inputs of Attention from those of QAttention: input, weights, bias, scales, mask, zero points,
// past.
template <typename Function>
auto as_attention(const Call& call, Function function)
    -> decltype(function(std::declval<const Call&>())) {
  OPDRIFT_TRY(const Array x, real_input(call, 0, 3, 6));
  OPDRIFT_TRY(const Array w, real_input(call, 1, 4, 7));
  const graph::Operator op = renamed(call, "Attention");
  const std::vector<const Array*> inputs = {&x, &w, call.input(2), call.input(5), call.input(8)};
  return function(Call{op, inputs, {}, call.limits});
}

// Inputs of EmbedLayerNormalization from those of the coded one: words, segments, five tables,
// mask, five scales, five zero points.
template <typename Function>
auto as_embedding(const Call& call, Function function)
    -> decltype(function(std::declval<const Call&>())) {
  std::vector<Array> tables(5);
  std::vector<const Array*> inputs = {call.input(0), call.input(1)};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (call.input(2 + i) == nullptr) {
      inputs.push_back(nullptr);
      continue;
    }
    OPDRIFT_TRY(tables[i], real_input(call, 2 + i, 8 + i, 13 + i));
    inputs.push_back(&tables[i]);
  }
  inputs.push_back(call.input(7));
  const graph::Operator op = renamed(call, "EmbedLayerNormalization");
  return function(Call{op, inputs, {}, call.limits});
}

/// Codes of a GatherBlockQuantized, several to an element along the last axis where they are bytes.
struct Table {
  const Array* codes = nullptr;
  const Array* scales = nullptr;
  const Array* zeros = nullptr;
  tensor::Shape shape;  ///< in codes
  std::size_t per_byte = 1;
  double middle = 0.0;   ///< zero point where none is given
  std::size_t axis = 0;  ///< along which blocks lie
  std::size_t block = 1;
  std::size_t blocks = 1;
};

double unpacked(const Array& packed, const tensor::Shape& shape, std::size_t per_byte,
                std::size_t position) {
  if (per_byte == 1) {
    return packed.values[position];
  }
  const std::size_t width = shape.back();
  const std::size_t bytes = (width + per_byte - 1) / per_byte;
  const std::size_t column = position % width;
  const auto byte =
      static_cast<unsigned>(packed.values[position / width * bytes + column / per_byte]);
  const unsigned bits = 8U / static_cast<unsigned>(per_byte);
  const unsigned shift = static_cast<unsigned>(column % per_byte) * bits;
  return static_cast<double>((byte >> shift) & ((1U << bits) - 1U));
}

Result<Table> table_of(const Call& call) {
  Table table;
  OPDRIFT_TRY(table.codes, call.need(0, "data"));
  OPDRIFT_TRY(table.scales, call.need(2, "scales"));
  table.zeros = call.input(3);
  const std::int64_t bits = call.integer({"bits"}, 4);
  const std::int64_t block = call.integer({"block_size"}, 128);
  if (table.codes->rank() == 0 || (bits != 2 && bits != 4 && bits != 8) || block < 16 ||
      block > std::int64_t{1} << 24) {
    return call.not_modelled("blocks of " + std::to_string(block) + " codes of " +
                             std::to_string(bits) + " bits");
  }
  table.shape = table.codes->shape;
  if (table.codes->dtype == tensor::DType::u8) {
    table.per_byte = 8 / static_cast<std::size_t>(bits);
    table.shape.back() *= table.per_byte;
    table.middle = std::exp2(static_cast<double>(bits) - 1.0);
  }
  OPDRIFT_TRY(table.axis, normal_axis(call.integer({"quantize_axis"}, 1), table.shape.size()));
  table.block = static_cast<std::size_t>(block);
  table.blocks = (table.shape[table.axis] + table.block - 1) / table.block;
  tensor::Shape expected = table.shape;
  expected[table.axis] = table.blocks;
  const bool scaled = table.scales->shape == expected;
  expected.back() = (expected.back() + table.per_byte - 1) / table.per_byte;
  if (!scaled || (table.zeros != nullptr && table.zeros->shape != expected)) {
    return call.not_modelled("scales or zero points do not fit the blocks");
  }
  return table;
}

double value_at(const Table& table, std::size_t position) {
  const AxisSplit split = split_at(table.shape, table.axis);
  const std::size_t along = position / split.inner % split.extent / table.block;
  const std::size_t slot =
      (position / split.inner / split.extent * table.blocks + along) * split.inner +
      position % split.inner;
  const double zero = table.zeros == nullptr
                          ? table.middle
                          : unpacked(*table.zeros, table.scales->shape, table.per_byte, slot);
  return (unpacked(*table.codes, table.shape, table.per_byte, position) - zero) *
         table.scales->values[slot];
}

}  // namespace

Result<Outputs> qgemm(const Call& call) {
  Gemm gemm;
  OPDRIFT_CHECK_OK(plan_gemm(call, gemm));
  OPDRIFT_TRY(Array y, run_product(call, gemm.product));
  for (std::size_t at = 0; at < gemm.addend.size(); ++at) {
    y.values[at] += gemm.addend[at];
  }
  y.dtype = tensor::DType::f32;
  if (call.input(7) == nullptr) {
    return one_output(std::move(y));
  }
  OPDRIFT_TRY(const Coding code, coding(call, y, 7, -1));
  OPDRIFT_TRY(Array codes, encoded(call, y, code, code_dtype(call, 8)));
  return one_output(std::move(codes));
}

Result<Terms> qgemm_terms(const Call& call, std::size_t /*index*/, const Array& /*y*/) {
  Gemm gemm;
  OPDRIFT_CHECK_OK(plan_gemm(call, gemm));
  OPDRIFT_TRY(Terms terms, product_terms(call, gemm.product, nullptr, nullptr));
  terms.extra = gemm.addend;
  for (double& value : terms.extra) {
    value *= value;
  }
  return terms;
}

Result<Outputs> qattention(const Call& call) {
  return as_attention(call, [](const Call& plain) { return attention(plain); });
}
Result<Terms> qattention_terms(const Call& call, std::size_t index, const Array& y) {
  return as_attention(call, [&](const Call& plain) { return attention_terms(plain, index, y); });
}

Result<Outputs> coded_embed_norm(const Call& call) {
  return as_embedding(call, [](const Call& plain) { return embed_layer_norm(plain); });
}
Result<Terms> coded_embed_norm_terms(const Call& call, std::size_t index, const Array& y) {
  return as_embedding(call,
                      [&](const Call& plain) { return embed_layer_norm_terms(plain, index, y); });
}

// Only what is gathered is turned into numbers.
Result<Outputs> gather_coded(const Call& call) {
  OPDRIFT_TRY(const Table table, table_of(call));
  OPDRIFT_TRY(const Array* places, call.need(1, "indices"));
  OPDRIFT_TRY(const std::size_t axis,
              normal_axis(call.integer({"gather_axis"}, 0), table.shape.size()));
  const AxisSplit split = split_at(table.shape, axis);
  tensor::Shape shape(table.shape.begin(), table.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), places->shape.begin(), places->shape.end());
  shape.insert(shape.end(), table.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
               table.shape.end());
  OPDRIFT_TRY(Array y, call.make(shape, table.scales->dtype));
  const auto extent = static_cast<double>(split.extent);
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t index = at / split.inner % places->size();
    const std::size_t outer = at / split.inner / places->size();
    const double place = places->values[index] + (places->values[index] < 0.0 ? extent : 0.0);
    if (!(place >= 0.0) || !(place < extent)) {
      return call.not_modelled("an index is out of range");
    }
    y.values[at] =
        value_at(table, (outer * split.extent + static_cast<std::size_t>(place)) * split.inner +
                            at % split.inner);
  }
  return one_output(std::move(y));
}

}  // namespace opdrift::replay
