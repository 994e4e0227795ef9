#include <algorithm>

#include "opdrift/replay/kinds/ascend/kinds.hpp"
#include "opdrift/replay/kinds/ascend/rewrite.hpp"
#include "opdrift/replay/kinds/kinds.hpp"

// Pooling and Upsample as Caffe has them.
//   Pooling   mode 0 maximum, 1 mean over the padded window; the last window may be cut off
//   Upsample  every element stride_h x stride_w times, times scale

namespace opdrift::replay {

namespace {

using Integers = std::vector<std::int64_t>;

// pad lists top, bottom, left, right; ceil_mode 0 is the one that rounds up.
Result<Rewritten> rewrite_pooling(const Call& call, bool mean) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  if (x->rank() != 4 || call.text({"data_format"}, "NCHW") != "NCHW") {
    return call.not_modelled("expected batch, channel, height and width");
  }
  Rewritten plain(call, mean ? "AveragePool" : "MaxPool");
  plain.take(0);
  if (call.integer({"global_pooling"}, 0) != 0) {
    plain.integers("kernel_shape", {static_cast<std::int64_t>(x->shape[2]),
                                    static_cast<std::int64_t>(x->shape[3])});
    return plain;
  }
  const Integers pad = call.integers({"pad"}).value_or(Integers(4, 0));
  const Integers dilation = call.integers({"dilation"}).value_or(Integers{});
  const bool dense =
      std::all_of(dilation.begin(), dilation.end(), [](std::int64_t step) { return step == 1; });
  if (pad.size() != 4 || !dense) {
    return call.not_modelled("expected four pads and no dilation");
  }
  plain.integers("kernel_shape", call.integers({"window"}).value_or(Integers{1, 1}))
      .integers("strides", call.integers({"stride"}).value_or(Integers{1, 1}))
      .integers("pads", {pad[0], pad[2], pad[1], pad[3]})
      .integer("ceil_mode", call.integer({"ceil_mode"}, 0) == 0 ? 1 : 0)
      .integer("count_include_pad", 1);
  return plain;
}

Result<bool> takes_mean(const Call& call) {
  const std::int64_t mode = call.integer({"mode"}, 0);
  if (mode != 0 && mode != 1) {
    return call.not_modelled("mode " + std::to_string(mode));
  }
  return mode == 1;
}

}  // namespace

Result<Outputs> caffe_pooling(const Call& call) {
  OPDRIFT_TRY(const bool mean, takes_mean(call));
  OPDRIFT_TRY(const Rewritten plain, rewrite_pooling(call, mean));
  OPDRIFT_TRY(Outputs outputs, (mean ? average_pool : max_pool)(plain.call()));
  outputs.resize(1);
  return outputs;
}

Result<Terms> caffe_pooling_terms(const Call& call, std::size_t index, const Array& y) {
  OPDRIFT_TRY(const bool mean, takes_mean(call));
  if (!mean) {
    return Terms{};
  }
  OPDRIFT_TRY(const Rewritten plain, rewrite_pooling(call, mean));
  return average_pool_terms(plain.call(), index, y);
}

Result<Outputs> caffe_upsample(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "x"));
  const double scale = call.real({"scale"}, 1.0);
  const std::int64_t rows = call.integer({"stride_h"}, 2);
  const std::int64_t columns = call.integer({"stride_w"}, 2);
  if (x->rank() != 4 || rows < 1 || columns < 1 || rows > 1 << 20 || columns > 1 << 20) {
    return call.not_modelled("expected four axes and two strides");
  }
  const auto tall = static_cast<std::size_t>(rows);
  const auto wide = static_cast<std::size_t>(columns);
  const std::size_t height = x->shape[2] * tall;
  const std::size_t width = x->shape[3] * wide;
  OPDRIFT_TRY(Array y, call.make({x->shape[0], x->shape[1], height, width}, x->dtype));
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t row = at / width % height / tall;
    const std::size_t plane = at / width / height;
    y.values[at] = scale * x->values[(plane * x->shape[2] + row) * x->shape[3] + at % width / wide];
  }
  Outputs outputs;
  outputs.push_back(std::move(y));
  return outputs;
}

}  // namespace opdrift::replay
