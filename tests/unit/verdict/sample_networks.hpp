#pragma once

#include "unit/verdict/memory_network.hpp"

// Small networks with the kinds of operators that real ones are made of.

namespace opdrift::verdict::test {

/// Convolutions, a gate, pooling, a classifier: input 1x3x20x20, output 1x10.
inline void build_picture_network(MemoryNetwork& net) {
  using N = MemoryNetwork;
  const auto conv = std::map<std::string, graph::Attribute>{{"pads", N::ints({1, 1, 1, 1})}};
  const ValueId x = net.input("image", N::noise({1, 3, 20, 20}, 1));
  const ValueId w1 = net.parameter("w1", N::noise({16, 3, 3, 3}, 2, 0.25));
  const ValueId b1 = net.parameter("b1", N::noise({16}, 3, 0.1));
  const ValueId w2 = net.parameter("w2", N::noise({16, 16, 3, 3}, 4, 0.1));
  const ValueId w3 = net.parameter("w3", N::noise({400, 10}, 5, 0.05));
  const ValueId b3 = net.parameter("b3", N::noise({10}, 6, 0.1));
  const ValueId flat = net.parameter("flat_shape", [] {
    Array shape = replay::vector_array({1, 400}, DType::i64);
    return shape;
  }());
  const ValueId c1 = net.op("conv1", "Conv", {x, w1, b1}, conv);
  const ValueId r1 = net.op("relu1", "Relu", {c1});
  const ValueId c2 = net.op("conv2", "Conv", {r1, w2}, conv);
  const ValueId g2 = net.op("gate", "Sigmoid", {c2});
  const ValueId m2 = net.op("gated", "Mul", {c2, g2});
  const ValueId a2 = net.op("residual", "Add", {m2, r1});
  const ValueId p = net.op("pool", "MaxPool", {a2},
                           {{"kernel_shape", N::ints({4, 4})}, {"strides", N::ints({4, 4})}});
  const ValueId f = net.op("flat", "Reshape", {p, flat});
  const ValueId l = net.op("logits", "MatMul", {f, w3});
  const ValueId d = net.op("scores", "Add", {l, b3});
  const ValueId s = net.op("softmax", "Softmax", {d}, {{"axis", N::ints({-1})}});
  net.problem.values[s].network_output = true;
}

/// One block of a transformer with pre-normalisation: 24 tokens of 32.
inline void build_text_network(MemoryNetwork& net) {
  using N = MemoryNetwork;
  const ValueId x = net.input("tokens", N::noise({24, 32}, 11));
  const auto weight = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns,
                          std::uint64_t seed) {
    return net.parameter(
        name, N::noise({rows, columns}, seed, 1.0 / std::sqrt(static_cast<double>(rows))));
  };
  const auto ones = net.parameter("ones", [] {
    return Array{{32}, std::vector<double>(32, 1.0), DType::f32};
  }());
  const ValueId wq = weight("wq", 32, 32, 12);
  const ValueId wk = weight("wk", 32, 32, 13);
  const ValueId wv = weight("wv", 32, 32, 14);
  const ValueId wo = weight("wo", 32, 32, 15);
  const ValueId w1 = weight("wu", 32, 96, 16);
  const ValueId w2 = weight("wd", 96, 32, 17);
  const ValueId scale = net.parameter("scale", replay::scalar_array(0.1767766952966369));
  const ValueId n1 = net.op("norm1", "LayerNormalization", {x, ones});
  const ValueId q = net.op("q", "MatMul", {n1, wq});
  const ValueId k = net.op("k", "MatMul", {n1, wk});
  const ValueId v = net.op("v", "MatMul", {n1, wv});
  const ValueId kt = net.op("kt", "Transpose", {k}, {{"perm", N::ints({1, 0})}});
  const ValueId raw = net.op("raw", "MatMul", {q, kt});
  const ValueId scaled = net.op("scaled", "Mul", {raw, scale});
  const ValueId attention = net.op("attention", "Softmax", {scaled}, {{"axis", N::ints({-1})}});
  const ValueId mixed = net.op("mixed", "MatMul", {attention, v});
  const ValueId out = net.op("out", "MatMul", {mixed, wo});
  const ValueId sum1 = net.op("sum1", "Add", {x, out});
  const ValueId n2 = net.op("norm2", "LayerNormalization", {sum1, ones});
  const ValueId up = net.op("up", "MatMul", {n2, w1});
  const ValueId gelu = net.op("gelu", "Gelu", {up});
  const ValueId down = net.op("down", "MatMul", {gelu, w2});
  const ValueId sum2 = net.op("sum2", "Add", {sum1, down});
  net.problem.values[sum2].network_output = true;
}

inline RunStyle stored_as(DType dtype) {
  RunStyle style;
  style.storage = dtype;
  return style;
}

}  // namespace opdrift::verdict::test
