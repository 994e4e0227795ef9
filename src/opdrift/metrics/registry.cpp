#include "opdrift/metrics/registry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "opdrift/base/text.hpp"
#include "opdrift/metrics/algorithms/values.hpp"

namespace opdrift::metrics {

namespace {

using Names = std::string_view[];

constexpr Names kCosine = {"cosine", "cos"};
constexpr Names kMaxAbsolute = {"max_abs", "maxabs"};
constexpr Names kAccumulated = {"are", "sum_rel"};
constexpr Names kEuclidean = {"red", "relative_euclidean"};
constexpr Names kDivergence = {"kld", "kl"};
constexpr Names kDeviation = {"std"};
constexpr Names kMeanAbsolute = {"mae", "mean_abs"};
constexpr Names kRootMeanSquare = {"rmse"};
constexpr Names kMaxRelative = {"max_rel", "mre_max"};
constexpr Names kMeanRelative = {"mean_rel", "mre"};
constexpr Names kRelativeL2 = {"rel_l2", "l2"};
constexpr Names kSqnr = {"snr"};
constexpr Names kOneMinusCosine = {"1-cos", "cosine_distance"};
constexpr Names kMaxScaled = {"max_scaled"};
constexpr Names kBias = {"mean_error"};
constexpr Names kEqualBits = {"equal_bits", "exact"};
constexpr Names kOneThousandth = {"within_1e3", "one_thousandth"};
constexpr Names kFiveThousandths = {"within_5e3", "five_thousandths"};
constexpr Names kUlpMax = {"ulp_max", "ulp"};
constexpr Names kUlpMedian = {"ulp_median", "ulp_50"};
constexpr Names kUlp99 = {"ulp_99"};

constexpr Algorithm kAlgorithms[] = {
    {"CosineSimilarity", 0, kCosine, "sum x y / (|x| |y|)", "", false, &cosine_similarity},
    {"MaxAbsoluteError", 1, kMaxAbsolute, "max |x - y|", "tensor", false, &max_absolute_error},
    {"AccumulatedRelativeError", 2, kAccumulated, "sum |x / y - 1| where y is not 0", "", false,
     &accumulated_relative_error},
    {"RelativeEuclideanDistance", 3, kEuclidean, "|x - y| / |y|", "", false,
     &relative_euclidean_distance},
    {"KullbackLeiblerDivergence", 4, kDivergence, "sum p ln(p / q) of the normalised tensors",
     "nat", true, &kullback_leibler_divergence},
    {"StandardDeviation", 5, kDeviation, "mean and deviation of x, then of y", "tensor", false,
     &standard_deviation},
    {"MeanAbsoluteError", 6, kMeanAbsolute, "mean |x - y|", "tensor", false, &mean_absolute_error},
    {"RootMeanSquareError", 7, kRootMeanSquare, "sqrt(mean (x - y)^2)", "tensor", false,
     &root_mean_square_error},
    {"MaxRelativeError", 8, kMaxRelative, "max |x / y - 1| where y is not 0", "", false,
     &max_relative_error},
    {"MeanRelativeError", 9, kMeanRelative, "sum |x / y - 1| where y is not 0, over all elements",
     "", false, &mean_relative_error},
    {"RelativeL2", -1, kRelativeL2, "|x - y| / |y|; inf when only y is zero", "", false,
     &relative_l2},
    {"SQNR", -1, kSqnr, "-20 log10 of RelativeL2", "dB", false, &sqnr},
    {"OneMinusCosine", -1, kOneMinusCosine, "1 - cosine, computed without cancellation", "", false,
     &one_minus_cosine},
    {"MaxScaledError", -1, kMaxScaled, "max |x - y| / max(|y|, rms of y nearby)", "", false,
     &max_scaled_error},
    {"Bias", -1, kBias, "mean (x - y)", "tensor", false, &bias},
    {"EqualBits", -1, kEqualBits, "share of elements equal bit by bit", "share", false,
     &equal_bits},
    {"WithinOneThousandth", -1, kOneThousandth, "share of elements with |x - y| <= 0.001 |y|",
     "share", false, &within_one_thousandth},
    {"WithinFiveThousandths", -1, kFiveThousandths, "share of elements with |x - y| <= 0.005 |y|",
     "share", false, &within_five_thousandths},
    {"UlpMax", -1, kUlpMax, "largest distance in units in the last place of the coarser type",
     "ulp", false, &ulp_max},
    {"UlpMedian", -1, kUlpMedian, "half of the distances are at most this", "ulp", false,
     &ulp_median},
    {"Ulp99", -1, kUlp99, "99 of 100 distances are at most this", "ulp", false, &ulp_99_percent},
};

bool is_named(const Algorithm& row, std::string_view text) {
  const std::string lower = to_lower(text);
  return row.name == text ||
         std::find(row.aliases.begin(), row.aliases.end(), lower) != row.aliases.end() ||
         to_lower(row.name) == lower;
}

}  // namespace

std::span<const Algorithm> all_algorithms() {
  return kAlgorithms;
}

const Algorithm* find_algorithm(std::string_view text) {
  const auto named = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                                  [&](const Algorithm& row) { return row.name == text; });
  if (named != std::end(kAlgorithms)) {
    return named;
  }
  const bool is_index = is_digits(text);
  const std::uint64_t index = is_index ? parse_u64(text).value_or(~std::uint64_t{0}) : 0;
  const auto found =
      std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms), [&](const Algorithm& row) {
        return is_index ? row.reference_index >= 0 &&
                              static_cast<std::uint64_t>(row.reference_index) == index
                        : is_named(row, text);
      });
  return found == std::end(kAlgorithms) ? nullptr : found;
}

Result<AlgorithmChoice> choose_algorithms(std::string_view text) {
  if (trim(text).empty()) {
    return Error{ErrorCode::invalid_argument, "expected algorithms, found nothing"};
  }
  AlgorithmChoice choice;
  if (to_lower(trim(text)) == "all") {
    for (const Algorithm& row : kAlgorithms) {
      if (row.reference_index >= 0) {
        choice.chosen.push_back(&row);
      }
    }
    return choice;
  }
  for (const std::string_view entry : split(text, ',')) {
    const Algorithm* row = find_algorithm(trim(entry));
    if (row == nullptr) {
      choice.unknown.emplace_back(trim(entry));
    } else if (std::find(choice.chosen.begin(), choice.chosen.end(), row) == choice.chosen.end()) {
      choice.chosen.push_back(row);
    }
  }
  if (choice.chosen.empty()) {
    return Error{ErrorCode::unsupported,
                 "expected a known algorithm, found \"" + printable(text) + "\""};
  }
  return choice;
}

bool needs_divergence(std::span<const Algorithm* const> algorithms) {
  return std::any_of(algorithms.begin(), algorithms.end(),
                     [](const Algorithm* row) { return row->needs_divergence; });
}

std::string format_value(const Algorithm& algorithm, const AlgorithmValue& value) {
  if (!value.text.empty()) {
    return value.text;
  }
  if (std::isnan(value.value)) {
    return "nan";  // printf would show the sign bit
  }
  char text[400] = {};
  std::snprintf(text, sizeof(text), algorithm.reference_index >= 0 ? "%.6f" : "%.9g", value.value);
  return text;
}

}  // namespace opdrift::metrics
