#pragma once

#include <nlohmann/json.hpp>

#include "opdrift/verdict/result.hpp"

/// Pieces of a result as JSON (docs/result-json.md), shared by the formats that hold JSON.
namespace opdrift::report {

using Json = nlohmann::ordered_json;

/// A number, or "nan", "inf", "-inf" for those JSON cannot hold.
Json number(double value);

Json explanations_of(const std::vector<verdict::Explanation>& explanations);
Json place_of(const verdict::ErrorPlace& place);
Json overflow_of(const verdict::OverflowSummary& overflow);
Json verdict_of(const verdict::RunVerdict& verdict);
Json totals_of(const verdict::LedgerTotals& totals);

}  // namespace opdrift::report
