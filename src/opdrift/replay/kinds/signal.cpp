#include <algorithm>
#include <cmath>
#include <vector>

#include "opdrift/replay/kinds/kinds.hpp"

// Fourier transforms by their definition, windows, and the mel filter bank.
//   X[k] = sum_t x[t] w[t] exp(-2 pi i k t / n); inverse with + and a division by n

namespace opdrift::replay {

namespace {

constexpr double kPi = 3.14159265358979323846;

Outputs single(Array array) {
  Outputs outputs;
  outputs.push_back(std::move(array));
  return outputs;
}

/// cos and sin of 2 pi j / n for all j, so that no angle grows large.
struct Twiddles {
  std::vector<double> cosine;
  std::vector<double> sine;

  explicit Twiddles(std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
      const double angle = 2.0 * kPi * static_cast<double>(j) / static_cast<double>(n);
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
    }
  }
};

struct Complex {
  double real = 0.0;
  double imaginary = 0.0;
};

// One bin over `count` samples, `read` giving sample t.
template <typename Read>
Complex bin(const Twiddles& twiddles, std::size_t k, std::size_t count, double sign, Read read) {
  const std::size_t n = twiddles.cosine.size();
  Complex sum;
  std::size_t j = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const Complex x = read(t);
    const double c = twiddles.cosine[j];
    const double s = sign * twiddles.sine[j];
    sum.real += x.real * c - x.imaginary * s;
    sum.imaginary += x.real * s + x.imaginary * c;
    j = (j + k) % n;
  }
  return sum;
}

/// A transform along one axis, real and imaginary parts last.
struct Transform {
  const Array* x = nullptr;
  AxisSplit in;
  std::size_t parts = 1;
  std::size_t length = 1;  ///< n
  std::size_t count = 0;   ///< samples there are
  std::size_t inner = 1;
  double scale = 1.0;
  bool inverse = false;
  tensor::Shape shape;
  std::size_t bins = 1;
};

Result<Transform> transform_of(const Call& call) {
  Transform f;
  OPDRIFT_TRY(f.x, call.need(0, "input"));
  OPDRIFT_TRY(const auto length, call.real_or_input({"dft_length"}, 1));
  OPDRIFT_TRY(const auto third, call.integers_or_input({"axis"}, 2));
  const std::int64_t given =
      third && !third->empty() ? third->front() : (call.opset() < 20 ? 1 : -2);
  OPDRIFT_TRY(const std::size_t axis, normal_axis(given, f.x->rank()));
  f.inverse = call.integer({"inverse"}, 0) != 0;
  const bool onesided = call.integer({"onesided"}, 0) != 0;
  f.parts = f.x->shape.back();
  if (axis + 1 >= f.x->rank() || (f.parts != 1 && f.parts != 2) || (onesided && f.inverse)) {
    return call.not_modelled("expected real or complex numbers along the last axis");
  }
  const double wanted = length.value_or(static_cast<double>(f.x->shape[axis]));
  if (!(wanted >= 1.0) || !(wanted <= 1e8)) {
    return call.not_modelled("the length is out of range");
  }
  f.length = static_cast<std::size_t>(wanted);
  f.bins = onesided ? f.length / 2 + 1 : f.length;
  f.shape = f.x->shape;
  f.shape[axis] = f.bins;
  f.shape.back() = 2;
  f.in = split_at(f.x->shape, axis);
  f.inner = f.in.inner / f.parts;
  f.count = std::min(f.length, f.in.extent);
  f.scale = f.inverse ? 1.0 / static_cast<double>(f.length) : 1.0;
  return f;
}

// Sample t of the transform behind a bin of the result.
Complex sample_of(const Transform& f, std::size_t bin, std::size_t t) {
  const std::size_t outer = bin / f.inner / f.bins;
  const double* sample =
      f.x->values.data() + ((outer * f.in.extent + t) * f.inner + bin % f.inner) * f.parts;
  return {sample[0], f.parts == 2 ? sample[1] : 0.0};
}

}  // namespace

Result<Outputs> dft(const Call& call) {
  OPDRIFT_TRY(const Transform f, transform_of(call));
  OPDRIFT_TRY(Array y, call.make(f.shape, f.x->dtype));
  OPDRIFT_CHECK_OK(call.check_work(y.size(), f.length));
  const Twiddles twiddles(f.length);
  for (std::size_t at = 0; at < y.size() / 2; ++at) {
    const std::size_t k = at / f.inner % f.bins;
    const Complex sum = bin(twiddles, k, f.count, f.inverse ? 1.0 : -1.0,
                            [&](std::size_t t) { return sample_of(f, at, t); });
    y.values[2 * at] = sum.real * f.scale;
    y.values[2 * at + 1] = sum.imaginary * f.scale;
  }
  return single(std::move(y));
}

// Every bin adds n products of a sample with a number of magnitude 1, which is rounded as well.
Result<Terms> dft_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Transform f, transform_of(call));
  Terms terms;
  terms.n = static_cast<double>(std::max<std::size_t>(f.count, 1));
  if (y.size() != count_of(f.shape)) {
    return terms;
  }
  terms.a2.assign(y.size(), 0.0);
  const std::size_t lines = y.size() / 2 / f.bins;
  for (std::size_t line = 0; line < lines; ++line) {
    const std::size_t first = line / f.inner * f.bins * f.inner + line % f.inner;
    double sum = 0.0;
    for (std::size_t t = 0; t < f.count; ++t) {
      const Complex x = sample_of(f, first, t);
      sum += x.real * x.real + x.imaginary * x.imaginary;
    }
    for (std::size_t k = 0; k < f.bins; ++k) {
      const std::size_t at = 2 * (first + k * f.inner);
      terms.a2[at] = terms.a2[at + 1] = sum / 2.0 * f.scale * f.scale;
    }
  }
  terms.extra = terms.a2;
  return terms;
}

namespace {

struct Frames {
  const Array* signal = nullptr;
  const Array* window = nullptr;
  std::size_t batches = 0;
  std::size_t samples = 0;
  std::size_t parts = 1;
  std::size_t step = 1;
  std::size_t length = 0;
  std::size_t count = 0;
  std::size_t bins = 0;
};

Result<Frames> frames_of(const Call& call) {
  Frames frames;
  OPDRIFT_TRY(frames.signal, call.need(0, "signal"));
  OPDRIFT_TRY(const auto step, call.real_or_input({"frame_step"}, 1));
  OPDRIFT_TRY(const auto length, call.real_or_input({"frame_length"}, 3));
  frames.window = call.input(2);
  if (frames.window != nullptr && frames.window->size() == 0) {
    frames.window = nullptr;
  }
  const std::size_t rank = frames.signal->rank();
  if (rank != 2 && rank != 3) {
    return call.not_modelled("expected batch and sample axes");
  }
  frames.batches = frames.signal->shape[0];
  frames.samples = frames.signal->shape[1];
  frames.parts = rank == 3 ? frames.signal->shape[2] : 1;
  const double given =
      frames.window != nullptr ? static_cast<double>(frames.window->size()) : length.value_or(0.0);
  if (!step || !(*step >= 1.0) || !(given >= 1.0) || (frames.parts != 1 && frames.parts != 2) ||
      !(given <= static_cast<double>(frames.samples)) || !(*step <= 1e9)) {
    return call.not_modelled("frames do not fit the signal");
  }
  frames.step = static_cast<std::size_t>(*step);
  frames.length = static_cast<std::size_t>(given);
  frames.count = (frames.samples - frames.length) / frames.step + 1;
  const bool onesided = call.integer({"onesided"}, 1) != 0 && frames.parts == 1;
  frames.bins = onesided ? frames.length / 2 + 1 : frames.length;
  return frames;
}

}  // namespace

Result<Outputs> stft(const Call& call) {
  OPDRIFT_TRY(const Frames f, frames_of(call));
  OPDRIFT_TRY(Array y, call.make({f.batches, f.count, f.bins, 2}, f.signal->dtype));
  OPDRIFT_CHECK_OK(call.check_work(y.size(), f.length));
  const Twiddles twiddles(f.length);
  for (std::size_t at = 0; at < y.size() / 2; ++at) {
    const std::size_t k = at % f.bins;
    const std::size_t frame = at / f.bins % f.count;
    const std::size_t batch = at / f.bins / f.count;
    const double* from = f.signal->values.data() + (batch * f.samples + frame * f.step) * f.parts;
    const Complex sum = bin(twiddles, k, f.length, -1.0, [&](std::size_t t) {
      const double weight = f.window == nullptr ? 1.0 : f.window->values[t];
      return Complex{from[t * f.parts] * weight, f.parts == 2 ? from[2 * t + 1] * weight : 0.0};
    });
    y.values[2 * at] = sum.real;
    y.values[2 * at + 1] = sum.imaginary;
  }
  return single(std::move(y));
}

// Every bin adds n products of a sample with a number of magnitude 1.
Result<Terms> stft_terms(const Call& call, std::size_t /*index*/, const Array& y) {
  OPDRIFT_TRY(const Frames f, frames_of(call));
  Terms terms;
  terms.n = static_cast<double>(f.length);
  terms.a2.assign(y.size(), 0.0);
  for (std::size_t at = 0; at < y.size() && f.bins > 0 && f.count > 0; at += 2 * f.bins) {
    const std::size_t frame = at / 2 / f.bins % f.count;
    const std::size_t batch = at / 2 / f.bins / f.count;
    const double* from = f.signal->values.data() + (batch * f.samples + frame * f.step) * f.parts;
    double sum = 0.0;
    for (std::size_t t = 0; t < f.length * f.parts; ++t) {
      const double weight = f.window == nullptr ? 1.0 : f.window->values[t / f.parts];
      sum += from[t] * from[t] * weight * weight;
    }
    std::fill_n(terms.a2.begin() + static_cast<std::ptrdiff_t>(at),
                std::min(2 * f.bins, y.size() - at), sum / 2.0);
  }
  return terms;
}

namespace {

Result<Outputs> window(const Call& call, double constant, double first, double second) {
  OPDRIFT_TRY(const auto size, call.real_or_input({"size"}, 0));
  if (!size || !(*size >= 0.0) || !(*size <= 1e8)) {
    return call.not_modelled("the size is missing or out of range");
  }
  const bool periodic = call.integer({"periodic"}, 1) != 0;
  const double period = periodic ? *size : *size - 1.0;
  OPDRIFT_TRY(Array y, call.make({static_cast<std::uint64_t>(*size)}, tensor::DType::f32));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double angle = 2.0 * kPi * static_cast<double>(i) / period;
    y.values[i] = constant - first * std::cos(angle) + second * std::cos(2.0 * angle);
  }
  return single(std::move(y));
}

}  // namespace

Result<Outputs> hann_window(const Call& call) {
  return window(call, 0.5, 0.5, 0.0);
}
// The alpha of ONNX is 25/46 exactly.
Result<Outputs> hamming_window(const Call& call) {
  return window(call, 25.0 / 46.0, 1.0 - 25.0 / 46.0, 0.0);
}
Result<Outputs> blackman_window(const Call& call) {
  return window(call, 0.42, 0.5, 0.08);
}

namespace {

double to_mel(double hertz) {
  return 2595.0 * std::log10(1.0 + hertz / 700.0);
}
double from_mel(double mel) {
  return 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
}

}  // namespace

// Triangles between neighbouring mel centres, whose bins are rounded down as ONNX defines it.
Result<Outputs> mel_weights(const Call& call) {
  OPDRIFT_TRY(const auto bands, call.real_or_input({"num_mel_bins"}, 0));
  OPDRIFT_TRY(const auto length, call.real_or_input({"dft_length"}, 1));
  OPDRIFT_TRY(const auto rate, call.real_or_input({"sample_rate"}, 2));
  OPDRIFT_TRY(const auto low, call.real_or_input({"lower_edge_hertz"}, 3));
  OPDRIFT_TRY(const auto high, call.real_or_input({"upper_edge_hertz"}, 4));
  if (!bands || !length || !rate || !low || !high || !(*bands >= 1.0) || !(*bands <= 1e6) ||
      !(*length >= 1.0) || !(*length <= 1e8) || !(*rate > 0.0)) {
    return call.not_modelled("an input is missing or out of range");
  }
  const auto count = static_cast<std::size_t>(*bands);
  const std::size_t bins = static_cast<std::size_t>(*length) / 2 + 1;
  std::vector<double> centres;
  for (std::size_t i = 0; i < count + 2; ++i) {
    const double mel = to_mel(*low) + static_cast<double>(i) * (to_mel(*high) - to_mel(*low)) /
                                          static_cast<double>(count + 2);
    centres.push_back(std::floor((*length + 1.0) * from_mel(mel) / *rate));
  }
  OPDRIFT_TRY(Array y, call.make({bins, count}, tensor::DType::f32));
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t i = at % count;
    const std::size_t bin = at / count;
    const auto b = static_cast<double>(bin);
    const double up = centres[i + 1] - centres[i];
    const double down = centres[i + 2] - centres[i + 1];
    if (up == 0.0 && b == centres[i + 1]) {
      y.values[at] = 1.0;
    } else if (up > 0.0 && b >= centres[i] && b <= centres[i + 1]) {
      y.values[at] = (b - centres[i]) / up;
    } else if (down > 0.0 && b >= centres[i + 1] && b < centres[i + 2]) {
      y.values[at] = (centres[i + 2] - b) / down;
    }
  }
  return single(std::move(y));
}

}  // namespace opdrift::replay
