#include "opdrift/verdict/explain/value_maps.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace opdrift::verdict::refit {

namespace {

using tensor::DType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kLeastForOne = 8;   // elements to fit one number to
constexpr std::uint64_t kLeastForTwo = 16;  // and two

struct KnownLevel {
  double value;
  std::string_view meaning;
};

constexpr std::array<KnownLevel, 9> kLevels = {{{65504.0, "the largest float16"},
                                                {57344.0, "the largest float8_e5m2"},
                                                {448.0, "the largest float8_e4m3fn"},
                                                {240.0, "the largest float8_e4m3fnuz"},
                                                {32768.0, "the largest hifloat8"},
                                                {0x1.fep127, "the largest bfloat16"},
                                                {6.0, "the limit of Relu6"},
                                                {127.0, "the largest int8"},
                                                {255.0, "the largest uint8"}}};

std::string level_text(double level) {
  for (const KnownLevel& known : kLevels) {
    if (std::abs(level) == known.value) {
      return number(level, 9) + " (" + (level < 0.0 ? "minus " : "") + std::string(known.meaning) +
             ")";
    }
  }
  return number(level, 6);
}

std::vector<NumberFormat> narrower_formats(const Evidence& evidence) {
  const NumberFormat own = format_of(evidence.target.dtype());
  std::vector<NumberFormat> formats;
  if (own.integer) {
    return formats;
  }
  for (NumberFormat format :
       {format_of(DType::f32), tf32_format(), format_of(DType::f16), format_of(DType::bf16),
        format_of(DType::e4m3fn), format_of(DType::e5m2), format_of(DType::e2m1)}) {
    if (format.mantissa_bits < own.mantissa_bits) {
      formats.push_back(std::move(format));
    }
  }
  return formats;
}

bool sample_fits(const Evidence& evidence, const NumberFormat& format) {
  const Sample& sample = evidence.sample;
  std::size_t base_fits = 0;
  for (std::size_t i = 0; i < sample.index.size(); ++i) {
    if (nearest(sample.t[i], format) != sample.t[i]) {
      return false;
    }
    base_fits += nearest(sample.b[i], format) == sample.b[i] ? 1U : 0U;
  }
  return base_fits * 2 <= sample.index.size();
}

/// `beyond` is what values past the largest finite number become: infinity or that number.
std::unique_ptr<Refit> rounding_refit(const NumberFormat& format, bool saturating) {
  const double limit = format.max_finite;
  const double beyond = saturating ? limit : kInfinity;
  return pointwise([format, limit, beyond](double b) {
    if (!std::isfinite(b)) {
      return b;
    }
    const double rounded = nearest(b, format);
    return std::abs(rounded) <= limit ? rounded : std::copysign(beyond, b);
  });
}

double square(double x) {
  return x * x;
}

/// The shortest decimal within 6 standard errors (errors grow with the values, which a standard
/// error does not know); 1 / n or 2 / n before decimals of four digits and more.
double plain_number(double value, double error) {
  const double most = std::max(6.0 * error, 1e-7 * std::abs(value));
  for (int digits = 1; digits < 9; ++digits) {
    const double inverse = 2.0 / value;
    if (digits == 4 && std::abs(inverse) >= 4.0 && std::abs(inverse) <= 131072.0 &&
        std::abs(2.0 / std::round(inverse) - value) <= most) {
      return 2.0 / std::round(inverse);
    }
    const double candidate = std::strtod(number(value, digits).c_str(), nullptr);
    if (std::abs(candidate - value) <= most) {
      return candidate;
    }
  }
  return value;
}

double standard_error(double left2, double n, double spread) {
  return n > 2.0 && spread > 0.0 ? std::sqrt(std::max(left2, 0.0) / (n - 2.0) / spread) : 0.0;
}

bool reaches(const Evidence& evidence, double level) {
  return std::max(std::abs(evidence.profile.min_b), std::abs(evidence.profile.max_b)) > level;
}

}  // namespace

Candidates constant_candidates(const Evidence& evidence) {
  const Profile& profile = evidence.profile;
  Candidates candidates;
  const bool one_value = profile.target_nonfinite == 0 && profile.min_all_t == profile.max_all_t;
  const double value = profile.min_all_t;
  if (!one_value || (value != 0.0 && evidence.count() < 2)) {
    return candidates;
  }
  const bool zero = value == 0.0;
  candidates.push_back({zero ? ExplanationKind::zero : ExplanationKind::constant,
                        zero ? "every element of the target is 0"
                             : "every element of the target is " + number(value, 9),
                        pointwise([value](double) { return value; })});
  return candidates;
}

Candidates clamp_candidates(const Evidence& evidence) {
  const Profile& profile = evidence.profile;
  const NumberFormat& format = evidence.format;
  Candidates candidates;
  if (profile.all.n < 2.0 || profile.min_t == profile.max_t) {
    return candidates;
  }
  const double hi = profile.max_t;
  const double lo = profile.min_t;
  const double limit = tensor::info(evidence.target.dtype()).max_finite;
  const bool at_hi = (profile.at_max_t >= 2 && profile.max_b > hi + 4.0 * ulp(hi, format)) ||
                     (hi == limit && profile.class_mismatches > 0);
  const bool at_lo = (profile.at_min_t >= 2 && profile.min_b < lo - 4.0 * ulp(lo, format)) ||
                     (lo == -limit && profile.class_mismatches > 0);
  if (!at_hi && !at_lo) {
    return candidates;
  }
  std::string sentence = "clamped ";
  if (at_hi && at_lo) {
    sentence += hi == -lo ? "at +-" + level_text(hi)
                          : "to [" + level_text(lo) + ", " + level_text(hi) + "]";
  } else {
    sentence += at_hi
                    ? "at " + level_text(hi) + " from above"
                    : "at " + level_text(lo) + " from below" + (lo == 0.0 ? ", as Relu does" : "");
  }
  const double upper = at_hi ? hi : kInfinity;
  const double lower = at_lo ? lo : -kInfinity;
  const std::uint64_t touched = (at_hi ? profile.at_max_t : 0) + (at_lo ? profile.at_min_t : 0);
  sentence += "; " + std::to_string(touched) + " elements stand there";
  offer(evidence, candidates, {ExplanationKind::clamped, sentence, pointwise([=](double b) {
                                 return std::isnan(b) ? b : std::clamp(b, lower, upper);
                               })});
  return candidates;
}

Candidates rounding_candidates(const Evidence& evidence) {
  Candidates candidates;
  for (const NumberFormat& format : narrower_formats(evidence)) {
    if (evidence.sample.index.empty() || !sample_fits(evidence, format)) {
      continue;
    }
    const std::string sentence =
        "every value is a " + format.name + " number, although stored as " +
        format_of(evidence.target.dtype()).name + ": equals the golden rounded to " + format.name;
    for (const bool saturating : {false, true}) {
      if (saturating && !reaches(evidence, format.max_finite)) {
        continue;
      }
      candidates.push_back(
          {ExplanationKind::rounded, sentence, rounding_refit(format, saturating), format});
    }
  }
  return candidates;
}

Candidates truncation_candidates(const Evidence& evidence) {
  Candidates candidates;
  // Rounding to nearest has a bias of 0, towards zero of -0.5, in units of the narrow format.
  if (evidence.profile.different < 16 || evidence.profile.bias > -0.25) {
    return candidates;
  }
  std::vector<NumberFormat> formats = narrower_formats(evidence);
  const NumberFormat own = format_of(evidence.target.dtype());
  if (!own.integer && own.mantissa_bits < format_of(evidence.base.dtype()).mantissa_bits) {
    formats.push_back(own);
  }
  for (const NumberFormat& format : formats) {
    offer(
        evidence, candidates,
        {ExplanationKind::truncated,
         "equals the golden cut to " + format.name + " towards zero instead of rounded",
         pointwise([format](double b) { return std::isfinite(b) ? toward_zero(b, format) : b; })});
  }
  return candidates;
}

Line fit_scale(const IndexSums& sums) {
  Line line;
  line.a = sums.bb > 0.0 ? sums.bt / sums.bb : 1.0;
  // sum (t - a b)^2 = sum (d - (a - 1) b)^2: no cancellation of tt against a bt.
  const double bd = sums.bt - sums.bb;
  line.left2 = sums.bb > 0.0 ? sums.dd - square(bd) / sums.bb : sums.dd;
  line.a_error = standard_error(line.left2, sums.n, sums.bb);
  return line;
}

Line fit_offset(const IndexSums& sums) {
  Line line;
  const double sum_d = sums.t - sums.b;
  line.o = sums.n > 0.0 ? sum_d / sums.n : 0.0;
  line.left2 = sums.dd - (sums.n > 0.0 ? square(sum_d) / sums.n : 0.0);
  line.o_error = standard_error(line.left2, sums.n, sums.n);
  return line;
}

Line fit_line(const IndexSums& sums) {
  Line line = fit_offset(sums);
  const double spread = sums.n > 0.0 ? sums.bb - square(sums.b) / sums.n : 0.0;
  if (!(spread > 1e-13 * sums.bb)) {
    return line;
  }
  const double bd = sums.bt - sums.bb - sums.b * (sums.t - sums.b) / sums.n;
  line.a = 1.0 + bd / spread;
  line.o = (sums.t - line.a * sums.b) / sums.n;
  line.left2 -= square(bd) / spread;
  line.a_error = standard_error(line.left2, sums.n, spread);
  line.o_error = standard_error(line.left2, sums.n, spread * sums.n / sums.bb);
  return line;
}

Line Line::plain() const {
  Line line = *this;
  line.a = plain_number(a, a_error);
  line.o = o == 0.0 ? 0.0 : plain_number(o, o_error);
  return line;
}

std::string factor_text(double factor) {
  const double inverse = 1.0 / factor;
  const auto close = [](double x) {
    return std::abs(x) >= 2.0 && std::abs(x) <= 65536.0 &&
           std::abs(x * 2.0 - std::round(x * 2.0)) <= 1e-6 * std::abs(x);
  };
  std::string text = number(factor, 6);
  if (std::isfinite(inverse) && close(inverse)) {
    text += " (1/" + number(std::round(inverse * 2.0) / 2.0, 7) + ")";
  }
  return text;
}

Candidates scale_candidates(const Evidence& evidence) {
  const Line line = fit_scale(evidence.profile.all).plain();
  Candidates candidates;
  if (evidence.profile.all.n >= static_cast<double>(kLeastForOne) && line.a != 1.0) {
    const double a = line.a;
    offer(evidence, candidates,
          {ExplanationKind::scaled, "target = " + factor_text(a) + " * golden",
           pointwise([a](double b) { return a * b; })});
  }
  return candidates;
}

Candidates offset_candidates(const Evidence& evidence) {
  const Line line = fit_offset(evidence.profile.all).plain();
  Candidates candidates;
  if (evidence.profile.all.n >= static_cast<double>(kLeastForOne) && line.o != 0.0) {
    const double o = line.o;
    offer(evidence, candidates,
          {ExplanationKind::offset,
           std::string("target = golden ") + (o < 0.0 ? "- " : "+ ") + number(std::abs(o), 6),
           pointwise([o](double b) { return b + o; })});
  }
  return candidates;
}

Candidates affine_candidates(const Evidence& evidence) {
  const Line line = fit_line(evidence.profile.all).plain();
  Candidates candidates;
  if (evidence.profile.all.n >= static_cast<double>(kLeastForTwo) && line.a != 1.0) {
    const double a = line.a;
    const double o = line.o;
    offer(evidence, candidates,
          {ExplanationKind::affine,
           "target = " + factor_text(a) + " * golden " + (o < 0.0 ? "- " : "+ ") +
               number(std::abs(o), 6),
           pointwise([a, o](double b) { return a * b + o; })});
  }
  return candidates;
}

Result<bool> holds_numbers_of(const Evidence& evidence, const NumberFormat& format) {
  std::atomic<bool> all{true};
  OPDRIFT_CHECK_OK(for_shards(evidence, [&](std::size_t, std::uint64_t first, std::uint64_t end) {
    std::array<double, kTile> t;
    for (std::uint64_t at = first; at < end && all.load(std::memory_order_relaxed); at += kTile) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kTile, end - at));
      evidence.target.read(at, count, t.data());
      for (std::size_t i = 0; i < count; ++i) {
        if (std::isfinite(t[i]) && nearest(t[i], format) != t[i]) {
          all.store(false, std::memory_order_relaxed);
        }
      }
    }
  }));
  return all.load();
}

}  // namespace opdrift::verdict::refit
