#include <algorithm>

#include "opdrift/report/json_parts.hpp"
#include "opdrift/report/report.hpp"

namespace opdrift::report {

namespace {

Json classes_of(const metrics::ClassCounts& classes) {
  return {{"nan", classes.nan},
          {"positive_inf", classes.positive_inf},
          {"zero", classes.zero},
          {"negative_inf", classes.negative_inf},
          {"subnormal", classes.subnormal},
          {"saturated", classes.saturated}};
}

Json side_of(const metrics::SideStats& side) {
  return {{"dtype", tensor::name_of(side.dtype)},
          {"finite", side.finite},
          {"min", number(side.min)},
          {"max", number(side.max)},
          {"mean", number(side.mean())},
          {"rms", number(side.rms())},
          {"std", number(side.standard_deviation())},
          {"sum", number(side.sum)},
          {"sum_squares", number(side.sum_squares)},
          {"sum_centred_squares", number(side.sum_centred_squares)},
          {"classes", classes_of(side.classes)}};
}

Json worst_of(const metrics::Worst& worst) {
  if (worst.index == metrics::kNoIndex) {
    return nullptr;
  }
  return {{"value", number(worst.value)},
          {"index", worst.index},
          {"golden", number(worst.golden)},
          {"target", number(worst.target)}};
}

Json sums_of(const metrics::Measurement& m) {
  return {{"d", number(m.sum_d)},
          {"abs_d", number(m.sum_abs_d)},
          {"d2", number(m.sum_d2)},
          {"golden", number(m.sum_golden)},
          {"target", number(m.sum_target)},
          {"golden2", number(m.sum_golden2)},
          {"target2", number(m.sum_target2)},
          {"product", number(m.sum_product)},
          {"relative", number(m.sum_relative)}};
}

Json ulp_of(const metrics::Measurement& m) {
  if (m.ulp_dtype == tensor::DType::raw) {
    return nullptr;
  }
  return {
      {"dtype", tensor::name_of(m.ulp_dtype)}, {"max", m.max_ulp}, {"histogram", m.ulp_histogram}};
}

Json measurement_of(const metrics::Measurement& m) {
  return {{"count", m.count},
          {"finite_pairs", m.finite_pairs},
          {"class_mismatches", m.class_mismatches},
          {"equal_bits", m.equal_bits},
          {"cosine", number(m.cosine())},
          {"one_minus_cosine", number(m.one_minus_cosine())},
          {"relative_l2", number(m.relative_l2())},
          {"sqnr_db", number(m.sqnr_db())},
          {"rmse", number(m.rmse())},
          {"mean_abs_error", number(m.mean_abs_error())},
          {"bias", number(m.bias())},
          {"max_abs", worst_of(m.max_abs)},
          {"max_scaled", worst_of(m.max_scaled)},
          {"relative_pairs", m.relative_pairs},
          {"max_relative", number(m.max_relative)},
          {"within_1e-3", m.within_1e3},
          {"within_5e-3", m.within_5e3},
          {"kl_divergence", number(m.kl_divergence)},
          {"ulp", ulp_of(m)},
          {"sums", sums_of(m)},
          {"golden", side_of(m.golden)},
          {"target", side_of(m.target)}};
}

Json profile_of(const verdict::ErrorProfile& profile) {
  Json bins = Json::array();
  for (const verdict::ErrorBin& bin : profile.bins) {
    bins.push_back({bin.exponent, bin.count, number(bin.largest), number(bin.golden_largest),
                    number(bin.ratio_error), number(bin.ratio_golden),
                    number(bin.smallest_golden)});
  }
  return {{"both_nan", profile.both_nan},
          {"unequal_class", profile.unequal_class},
          {"bins", std::move(bins)}};
}

Json judgement_of(const verdict::Judgement& j) {
  Json worst = nullptr;
  if (j.worst != metrics::kNoIndex) {
    worst = {{"index", j.worst},
             {"golden", number(j.worst_golden)},
             {"target", number(j.worst_target)},
             {"expected", number(j.worst_expected)}};
  }
  return {{"label", verdict::to_string(j.label)},
          {"tier", verdict::to_string(j.tier)},
          {"cause", verdict::to_string(j.cause)},
          {"sentence", j.sentence},
          {"q_own", number(j.q_own)},
          {"z", number(j.z)},
          {"q1", number(j.q1)},
          {"z1", number(j.z1)},
          {"q_cum", number(j.q_cum)},
          {"relative", number(j.relative)},
          {"own", number(j.own)},
          {"rho", number(j.rho)},
          {"depth", number(j.depth)},
          {"inherited", number(j.inherited)},
          {"gain", number(j.gain)},
          {"self_check", number(j.self_check)},
          {"bias", number(j.bias)},
          {"bias_count", j.bias_count},
          {"flushed", j.flushed},
          {"new_classes", j.new_classes},
          {"inherited_classes", j.inherited_classes},
          {"wider_inputs", j.wider_inputs},
          {"inputs_replayed", j.inputs_replayed},
          {"sampled", j.sampled},
          {"worst", std::move(worst)},
          {"group", j.group}};
}

Json metrics_of(const verdict::TensorResult& tensor, const std::vector<std::string>& names) {
  Json json = Json::object();
  for (std::size_t i = 0; i < std::min(names.size(), tensor.metric_values.size()); ++i) {
    const verdict::MetricValue& value = tensor.metric_values[i];
    json[names[i]] = {{"value", number(value.value)}, {"text", value.text}};
    if (!value.note.empty()) {
      json[names[i]]["note"] = value.note;
    }
  }
  return json;
}

Json tensor_of(const verdict::TensorResult& tensor, const std::vector<std::string>& metric_names) {
  Json json = {{"operator", tensor.operator_name},
               {"type", tensor.operator_type},
               {"golden_operator", tensor.golden_operator},
               {"tensor", tensor.tensor_name},
               {"step", tensor.step},
               {"role", tensor.role},
               {"index", tensor.index},
               {"order", tensor.order},
               {"rule", tensor.rule},
               {"target_file", tensor.target_path},
               {"golden_file", tensor.golden_path},
               {"target_shape", tensor.target_shape},
               {"golden_shape", tensor.golden_shape},
               {"statistics_only", tensor.statistics_only},
               {"passed", tensor.passed},
               {"reason", tensor.reason}};
  json["measurement"] = tensor.measurement ? measurement_of(*tensor.measurement) : Json(nullptr);
  if (!tensor.metric_values.empty()) {
    json["metrics"] = metrics_of(tensor, metric_names);
  }
  if (tensor.profile) {
    json["profile"] = profile_of(*tensor.profile);
  }
  if (tensor.judgement) {
    json["judgement"] = judgement_of(*tensor.judgement);
    json["explanations"] = explanations_of(tensor.explanations);
    json["place"] = tensor.place ? place_of(*tensor.place) : Json(nullptr);
  }
  return json;
}

Json entry_of(const verdict::LedgerEntry& entry) {
  return {{"side", verdict::to_string(entry.side)},
          {"file", entry.path},
          {"tensor", entry.tensor},
          {"state", verdict::to_string(entry.state)},
          {"reason", entry.reason}};
}

Json network_operator_of(const verdict::NetworkOperator& op) {
  return {{"name", op.name}, {"type", op.type}, {"producers", op.producers}, {"rows", op.rows}};
}

Json summary_of(const verdict::RunResult& result) {
  const verdict::TensorResult* offender = result.first_offender();
  return {{"tensors", result.tensors.size()},
          {"failed", result.failed()},
          {"first_offender", offender == nullptr ? Json(nullptr) : Json(offender->label())},
          {"interrupted", result.interrupted},
          {"bytes_read", result.bytes_read},
          {"elapsed_s", result.elapsed_s}};
}

std::string dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

/// Appends a value as an element two levels down. Line ends inside texts are escaped in JSON, so
/// every one of the dump begins a line.
void append_element(const Json& json, std::string& out) {
  out += "\n  ";
  for (const char c : dump(json)) {
    out += c;
    if (c == '\n') {
      out += "  ";
    }
  }
}

/// Appends a member that is a list, one element at a time: a whole tree would take many times the
/// memory of its text.
template <typename List, typename ToJson>
void append_list(std::string_view name, const List& list, ToJson to_json, std::string& out) {
  constexpr std::size_t kTried = 64;  // elements that tell how much room the others will take
  out += ",\n \"" + std::string(name) + "\": [";
  const std::size_t start = out.size();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i == kTried) {
      out.reserve(start + (out.size() - start) / kTried * (list.size() + list.size() / 16));
    }
    out += i > 0 ? "," : "";
    append_element(to_json(list[i]), out);
  }
  out += list.empty() ? "]" : "\n ]";
}

}  // namespace

std::string render_json(const verdict::RunResult& result) {
  const Json head = {
      {"schema", "opdrift-result/1"},
      {"golden", {{"path", result.golden_path}, {"kind", result.golden_kind}}},
      {"target", {{"path", result.target_path}, {"kind", result.target_kind}}},
      {"rule", result.rule},
      {"verdict", result.verdict ? verdict_of(*result.verdict) : Json(nullptr)},
      {"overflow", result.verdict ? overflow_of(result.overflow) : Json(nullptr)},
      {"summary", summary_of(result)},
      {"metrics", {{"names", result.metric_names}, {"usual", result.usual_metrics}}},
      {"notes", result.notes},
      {"totals",
       {{"golden", totals_of(result.totals(verdict::RunSide::golden))},
        {"target", totals_of(result.totals(verdict::RunSide::target))}}},
  };
  std::string text = dump(head);
  text.resize(text.size() - 2);  // the line end and brace that close it
  append_list(
      "tensors", result.tensors,
      [&](const verdict::TensorResult& tensor) { return tensor_of(tensor, result.metric_names); },
      text);
  append_list("network", result.network, network_operator_of, text);
  append_list("ledger", result.ledger, entry_of, text);
  text += "\n}\n";
  return text;
}

}  // namespace opdrift::report
