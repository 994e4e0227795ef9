#include "opdrift/diagnose/classify/attempts.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/tensor/dtype.hpp"
#include "opdrift/verdict/explain/number_format.hpp"
#include "opdrift/verdict/explain/refit.hpp"

namespace opdrift::diagnose::classify {

namespace {

using verdict::refit::NumberFormat;

constexpr double kMostUnequal = 1e-3;  // share of elements that a cast may leave unexplained

bool same_value(double left, double right) {
  return left == right || (std::isnan(left) && std::isnan(right));
}

bool all_equal(const Array& golden, const Array& device) {
  return std::equal(golden.values.begin(), golden.values.end(), device.values.begin(),
                    device.values.end(), same_value);
}

double to_float16(double value) {
  static const NumberFormat format = verdict::refit::format_of(tensor::DType::f16);
  return verdict::refit::nearest(value, format);
}

double to_bfloat16(double value) {
  static const NumberFormat format = verdict::refit::format_of(tensor::DType::bf16);
  return verdict::refit::nearest(value, format);
}

double to_tf32(double value) {
  static const NumberFormat format = verdict::refit::tf32_format();
  return verdict::refit::nearest(value, format);
}

double to_float32(double value) {
  return static_cast<double>(static_cast<float>(value));
}

double to_integer(double value) {
  return std::nearbyint(value);
}

double cut_to_integer(double value) {
  return std::trunc(value);
}

constexpr std::pair<const char*, double (*)(double)> kCasts[] = {
    {"float32", &to_float32},    {"float16", &to_float16},
    {"bfloat16", &to_bfloat16},  {"TF32 (10 mantissa bits)", &to_tf32},
    {"an integer", &to_integer}, {"an integer, towards zero", &cut_to_integer},
};

/// The type whose rounding makes the device of the golden; null for none. The rounding has to
/// explain more elements than it leaves.
const char* cast_between(const Array& golden, const Array& device) {
  const std::size_t count = golden.values.size();
  const auto most = static_cast<std::size_t>(kMostUnequal * static_cast<double>(count));
  for (const auto& [name, apply] : kCasts) {
    std::size_t unequal = 0;
    std::size_t changed = 0;
    for (std::size_t i = 0; i < count && unequal <= most; ++i) {
      const double rounded = apply(golden.values[i]);
      unequal += same_value(rounded, device.values[i]) ? 0U : 1U;
      changed += same_value(rounded, golden.values[i]) ? 0U : 1U;
    }
    if (unequal <= most && changed > unequal) {
      return name;
    }
  }
  return nullptr;
}

Attempt attempt(InputKind kind, std::string finding, const Likeness& like, bool accepted) {
  Attempt made;
  made.found.kind = kind;
  made.found.finding = std::move(finding);
  made.found.like = like;
  made.accepted = accepted;
  return made;
}

bool is_constant(const std::vector<double>& values) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); });
}

std::string constant_text(const char* side, const std::vector<double>& values) {
  return std::string("the ") + side + "'s input is " + verdict::refit::number(values.front()) +
         " everywhere";
}

}  // namespace

void try_equal(const InputPair& pair, Attempts& attempts) {
  if (pair.golden.shape != pair.device.shape) {
    return;
  }
  const Likeness like = likeness(pair.golden.values, pair.device.values);
  if (all_equal(pair.golden, pair.device)) {
    attempts.push_back(attempt(InputKind::equal, "the inputs are equal", {1.0, 0.0}, true));
  } else if (const char* const cast =
                 like.good() ? cast_between(pair.golden, pair.device) : nullptr) {
    attempts.push_back(
        attempt(InputKind::cast, std::string("device = golden rounded to ") + cast, like, true));
  } else {
    attempts.push_back(attempt(
        InputKind::equal,
        "the inputs are equal but for a relative L2 of " + verdict::refit::number(like.relative_l2),
        like, like.good()));
  }
}

void try_shape(const InputPair& pair, Attempts& attempts) {
  if (!pair.same_count() || pair.golden.shape == pair.device.shape) {
    return;
  }
  const Likeness like = likeness(pair.golden.values, pair.device.values);
  attempts.push_back(attempt(InputKind::shape,
                             "the same elements in the shape [" +
                                 tensor::to_string(pair.device.shape) + "] for [" +
                                 tensor::to_string(pair.golden.shape) + "]",
                             like, like.good()));
}

void try_layout(const InputPair& pair, Attempts& attempts) {
  for (const Alignment& alignment : pair.alignments) {
    if (!alignment.layout.empty()) {
      const Likeness like = likeness(pair.golden_image.values, alignment.device.values);
      Attempt made =
          attempt(InputKind::layout, "another layout: " + alignment.layout, like, like.good());
      made.found.layout_differs = true;
      attempts.push_back(std::move(made));
    }
  }
}

void try_cast(const InputPair& pair, Attempts& attempts) {
  if (!pair.same_count()) {
    return;
  }
  if (const char* const cast = cast_between(pair.golden, pair.device)) {
    attempts.push_back(attempt(InputKind::cast, std::string("device = golden rounded to ") + cast,
                               likeness(pair.golden.values, pair.device.values), true));
  }
}

void try_missing(const InputPair& pair, Attempts& attempts) {
  const bool golden = is_constant(pair.golden.values);
  if (golden || is_constant(pair.device.values)) {
    const Array& side = golden ? pair.golden : pair.device;
    attempts.push_back(
        attempt(InputKind::missing,
                "missing input: " + constant_text(golden ? "golden" : "device", side.values),
                {0.0, 1.0}, true));
  }
}

std::string with_layout(const std::string& layout, const std::string& finding) {
  return layout.empty() ? finding : "another layout (" + layout + "), and " + finding;
}

}  // namespace opdrift::diagnose::classify
