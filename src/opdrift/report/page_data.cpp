#include "opdrift/report/page_data.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "opdrift/report/json_parts.hpp"
#include "opdrift/report/page_columns.hpp"

namespace opdrift::report {

namespace {

using metrics::Measurement;
using metrics::SideStats;
using verdict::Judgement;
using verdict::TensorResult;

constexpr std::size_t kMostLedgerLines = 60'000;
constexpr std::size_t kMostProfiles = 2'000;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shape_text(const tensor::Shape& shape) {
  std::string text;
  for (const std::uint64_t extent : shape) {
    text += (text.empty() ? "" : ",") + std::to_string(extent);
  }
  return text;
}

/// An index, or nothing where no element was eligible.
void append_index(std::uint64_t index, std::string& out) {
  if (index == metrics::kNoIndex) {
    out += "null";
  } else {
    append_cell(index, out);
  }
}

/// The columns of all tensors.
class TensorColumns {
 public:
  TensorColumns(const std::vector<TensorResult>& tensors, PageTexts& texts)
      : tensors_(tensors), texts_(texts), columns_(tensors.size()) {}

  /// What the curve shows.
  std::string curve_json() {
    text("operator", [](const TensorResult& t) { return std::string_view(t.operator_name); });
    text("golden_operator",
         [](const TensorResult& t) { return std::string_view(t.golden_operator); });
    text("step", [](const TensorResult& t) { return std::string_view(t.step); });
    value("role", [](const TensorResult& t) { return std::uint64_t{t.role == "output"}; });
    value("passed", [](const TensorResult& t) { return std::uint64_t{t.passed}; });
    value("measured",
          [](const TensorResult& t) { return std::uint64_t{t.measurement.has_value()}; });
    word("label", [](const Judgement& j) { return verdict::to_string(j.label); });
    measured("relative_l2", [](const Measurement& m) { return m.relative_l2(); });
    measured("class_mismatches", [](const Measurement& m) { return m.class_mismatches; });
    constexpr NamedNumber kNumbers[] = {{"relative", &Judgement::relative},
                                        {"depth", &Judgement::depth},
                                        {"own", &Judgement::own},
                                        {"rho", &Judgement::rho}};
    judged_numbers(kNumbers);
    return columns_.take_json();
  }

  /// What the table and the words about a tensor need besides.
  std::string table_json() {
    add_names();
    add_errors();
    word("tier", [](const Judgement& j) { return verdict::to_string(j.tier); });
    word("cause", [](const Judgement& j) { return verdict::to_string(j.cause); });
    word("sentence", [](const Judgement& j) { return std::string_view(j.sentence); });
    constexpr NamedNumber kNumbers[] = {
        {"q_own", &Judgement::q_own}, {"z", &Judgement::z}, {"q_cum", &Judgement::q_cum}};
    judged_numbers(kNumbers);
    return columns_.take_json();
  }

  /// What only the panel of one tensor shows.
  std::string details_json() {
    add_files();
    add_measurements();
    add_worst();
    add_side("target", &Measurement::target);
    add_side("golden", &Measurement::golden);
    add_judgements();
    return columns_.take_json();
  }

 private:
  template <typename Text>
  void text(std::string_view name, Text&& of) {
    columns_.add(name, [&](std::size_t row, std::string& out) {
      append_cell(std::uint64_t{texts_.number_of(of(tensors_[row]))}, out);
    });
  }

  template <typename Value>
  void value(std::string_view name, Value&& of) {
    columns_.add(name,
                 [&](std::size_t row, std::string& out) { append_cell(of(tensors_[row]), out); });
  }

  /// A column of the measurement, null where there is none.
  template <typename Value>
  void measured(std::string_view name, Value&& of) {
    columns_.add(name, [&](std::size_t row, std::string& out) {
      const auto& measurement = tensors_[row].measurement;
      if (measurement) {
        append_cell(of(*measurement), out);
      } else {
        out += "null";
      }
    });
  }

  template <typename Value>
  void judged(std::string_view name, Value&& of) {
    columns_.add(name, [&](std::size_t row, std::string& out) {
      const auto& judgement = tensors_[row].judgement;
      if (judgement) {
        append_cell(of(*judgement), out);
      } else {
        out += "null";
      }
    });
  }

  template <typename Text>
  void word(std::string_view name, Text&& of) {
    text(name, [&](const TensorResult& t) {
      return t.judgement ? std::string_view(of(*t.judgement)) : std::string_view();
    });
  }

  using NamedNumber = std::pair<const char*, double Judgement::*>;

  void judged_numbers(std::span<const NamedNumber> numbers) {
    for (const auto& [name, member] : numbers) {
      judged(name, [m = member](const Judgement& j) { return j.*m; });
    }
  }

  void add_names() {
    text("type", [](const TensorResult& t) { return std::string_view(t.operator_type); });
    text("tensor", [](const TensorResult& t) { return std::string_view(t.tensor_name); });
    text("target_shape", [](const TensorResult& t) { return shape_text(t.target_shape); });
    text("target_dtype", [](const TensorResult& t) {
      return t.measurement ? std::string_view(tensor::name_of(t.measurement->target.dtype))
                           : std::string_view();
    });
    text("reason", [](const TensorResult& t) {
      return t.judgement && t.judgement->sentence == t.reason ? std::string_view()
                                                              : std::string_view(t.reason);
    });
    value("index", [](const TensorResult& t) { return std::uint64_t{t.index}; });
    value("order", [](const TensorResult& t) { return t.order; });
    value("statistics_only",
          [](const TensorResult& t) { return std::uint64_t{t.statistics_only}; });
  }

  void add_errors() {
    measured("count", [](const Measurement& m) { return m.count; });
    measured("cosine", [](const Measurement& m) { return m.one_minus_cosine(); });
    measured("max_abs", [](const Measurement& m) {
      return m.max_abs.index == metrics::kNoIndex ? metrics::kNan : m.max_abs.value;
    });
  }

  void add_files() {
    text("target_file", [](const TensorResult& t) { return std::string_view(t.target_path); });
    text("golden_file", [](const TensorResult& t) { return std::string_view(t.golden_path); });
    text("golden_shape", [](const TensorResult& t) { return shape_text(t.golden_shape); });
    text("golden_dtype", [](const TensorResult& t) {
      return t.measurement ? std::string_view(tensor::name_of(t.measurement->golden.dtype))
                           : std::string_view();
    });
  }

  void add_measurements() {
    measured("rmse", [](const Measurement& m) { return m.rmse(); });
    measured("mean_abs", [](const Measurement& m) { return m.mean_abs_error(); });
    measured("mean_bias", [](const Measurement& m) { return m.bias(); });
    measured("max_relative", [](const Measurement& m) { return m.max_relative; });
    measured("kl", [](const Measurement& m) { return m.kl_divergence; });
    measured("equal_bits", [](const Measurement& m) { return m.equal_bits; });
    measured("within_1e3", [](const Measurement& m) { return m.within_1e3; });
    measured("within_5e3", [](const Measurement& m) { return m.within_5e3; });
    measured("ulp_max", [](const Measurement& m) {
      return m.ulp_dtype == tensor::DType::raw ? metrics::kNan : static_cast<double>(m.max_ulp);
    });
    text("ulp_dtype", [](const TensorResult& t) {
      return t.measurement && t.measurement->ulp_dtype != tensor::DType::raw
                 ? std::string_view(tensor::name_of(t.measurement->ulp_dtype))
                 : std::string_view();
    });
  }

  void add_worst() {
    columns_.add("max_abs_index", [&](std::size_t row, std::string& out) {
      const auto& measurement = tensors_[row].measurement;
      append_index(measurement ? measurement->max_abs.index : metrics::kNoIndex, out);
    });
    measured("max_abs_golden", [](const Measurement& m) { return m.max_abs.golden; });
    measured("max_abs_target", [](const Measurement& m) { return m.max_abs.target; });
  }

  void add_side(const std::string& side, SideStats Measurement::*member) {
    const auto number = [&](const char* name, auto of) {
      measured(side + "_" + name, [&](const Measurement& m) { return of(m.*member); });
    };
    number("min", [](const SideStats& s) { return s.min; });
    number("max", [](const SideStats& s) { return s.max; });
    number("mean", [](const SideStats& s) { return s.mean(); });
    number("std", [](const SideStats& s) { return s.standard_deviation(); });
    number("nan", [](const SideStats& s) { return s.classes.nan; });
    number("inf",
           [](const SideStats& s) { return s.classes.positive_inf + s.classes.negative_inf; });
    number("zero", [](const SideStats& s) { return s.classes.zero; });
    number("subnormal", [](const SideStats& s) { return s.classes.subnormal; });
    number("saturated", [](const SideStats& s) { return s.classes.saturated; });
  }

  void add_judgements() {
    constexpr NamedNumber kNumbers[] = {
        {"inherited", &Judgement::inherited},           {"gain", &Judgement::gain},
        {"self_check", &Judgement::self_check},         {"bias", &Judgement::bias},
        {"worst_golden", &Judgement::worst_golden},     {"worst_target", &Judgement::worst_target},
        {"worst_expected", &Judgement::worst_expected},
    };
    judged_numbers(kNumbers);
    constexpr std::pair<const char*, std::uint64_t Judgement::*> kCounts[] = {
        {"flushed", &Judgement::flushed},
        {"new_classes", &Judgement::new_classes},
        {"inherited_classes", &Judgement::inherited_classes},
        {"sampled", &Judgement::sampled},
    };
    for (const auto& [name, member] : kCounts) {
      judged(name, [m = member](const Judgement& j) { return j.*m; });
    }
    columns_.add("worst_index", [&](std::size_t row, std::string& out) {
      const auto& judgement = tensors_[row].judgement;
      append_index(judgement ? judgement->worst : metrics::kNoIndex, out);
    });
  }

  const std::vector<TensorResult>& tensors_;
  PageTexts& texts_;
  PageColumns columns_;
};

/// Values of the metrics that were asked for by name.
std::string metrics_json(const verdict::RunResult& result) {
  std::string json = "[";
  for (std::size_t i = 0; i < result.metric_names.size(); ++i) {
    PageColumns column(result.tensors.size());
    column.add("values", [&](std::size_t row, std::string& out) {
      const auto& values = result.tensors[row].metric_values;
      append_cell(i < values.size() ? values[i].value : metrics::kNan, out);
    });
    const std::string values = column.take_json();  // {"values": ...}
    json += i == 0 ? "" : ",";
    json += "{\"name\":" + json_text(result.metric_names[i]) + "," + values.substr(1);
  }
  return json + "]";
}

/// Buckets up to the last one that holds something; null without a float type.
std::string histograms_json(const std::vector<TensorResult>& tensors) {
  std::string json = "[";
  for (const TensorResult& tensor : tensors) {
    json += json.size() == 1 ? "" : ",";
    if (!tensor.measurement || tensor.measurement->ulp_dtype == tensor::DType::raw) {
      json += "null";
      continue;
    }
    const auto& histogram = tensor.measurement->ulp_histogram;
    const auto last = std::find_if(histogram.rbegin(), histogram.rend(),
                                   [](std::uint64_t count) { return count > 0; });
    json += "[";
    for (auto bucket = histogram.begin(); bucket != last.base(); ++bucket) {
      json += bucket == histogram.begin() ? "" : ",";
      append_cell(*bucket, json);
    }
    json += "]";
  }
  return json + "]";
}

/// {"row": what `of` gives} for the rows where that is not null.
std::string by_row(const std::vector<TensorResult>& tensors,
                   const std::function<Json(const TensorResult&)>& of, std::size_t most) {
  Json json = Json::object();
  for (std::size_t row = 0; row < tensors.size() && json.size() < most; ++row) {
    Json value = of(tensors[row]);
    if (!value.is_null()) {
      json[std::to_string(row)] = std::move(value);
    }
  }
  return dump(json);
}

Json profile_of(const TensorResult& tensor) {
  if (!tensor.profile || tensor.profile->bins.empty()) {
    return nullptr;
  }
  Json bins = Json::array();
  for (const verdict::ErrorBin& bin : tensor.profile->bins) {
    bins.push_back({bin.exponent, bin.count, number(bin.largest)});
  }
  return bins;
}

Json explanations_or_null(const TensorResult& tensor) {
  return tensor.explanations.empty() ? Json(nullptr) : explanations_of(tensor.explanations);
}

Json place_or_null(const TensorResult& tensor) {
  return tensor.place ? place_of(*tensor.place) : Json(nullptr);
}

Json group_or_null(const TensorResult& tensor) {
  const bool grouped = tensor.judgement && !tensor.judgement->group.empty();
  return grouped ? Json(tensor.judgement->group) : Json(nullptr);
}

template <typename Of>
std::string list_json(const std::vector<verdict::NetworkOperator>& network, Of&& of) {
  std::string json = "[";
  for (const verdict::NetworkOperator& op : network) {
    json += json.size() == 1 ? "" : ",";
    of(op, json);
  }
  return json + "]";
}

template <typename Number>
void append_list(const std::vector<Number>& numbers, std::string& json) {
  json += "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    json += i == 0 ? "" : ",";
    append_cell(std::uint64_t{numbers[i]}, json);
  }
  json += "]";
}

std::string network_json(const std::vector<verdict::NetworkOperator>& network, PageTexts& texts) {
  using verdict::NetworkOperator;
  return "{\"names\":" +
         list_json(network,
                   [&](const NetworkOperator& op, std::string& json) {
                     append_cell(std::uint64_t{texts.number_of(op.name)}, json);
                   }) +
         ",\"types\":" +
         list_json(network,
                   [&](const NetworkOperator& op, std::string& json) {
                     append_cell(std::uint64_t{texts.number_of(op.type)}, json);
                   }) +
         ",\"producers\":" +
         list_json(network, [](const NetworkOperator& op,
                               std::string& json) { append_list(op.producers, json); }) +
         ",\"rows\":" +
         list_json(network, [](const NetworkOperator& op,
                               std::string& json) { append_list(op.rows, json); }) +
         "}";
}

bool uneventful(const verdict::LedgerEntry& entry) {
  return entry.state == verdict::LedgerState::compared ||
         entry.state == verdict::LedgerState::equal;
}

/// The lines to show, in order: all, or with the uneventful ones left out first.
std::vector<const verdict::LedgerEntry*> shown_lines(
    const std::vector<verdict::LedgerEntry>& ledger) {
  const auto quiet = std::count_if(ledger.begin(), ledger.end(), uneventful);
  const std::size_t events = ledger.size() - static_cast<std::size_t>(quiet);
  std::size_t quiet_room = kMostLedgerLines - std::min(kMostLedgerLines, events);
  std::vector<const verdict::LedgerEntry*> lines;
  for (const verdict::LedgerEntry& entry : ledger) {
    if (lines.size() == kMostLedgerLines || (uneventful(entry) && quiet_room == 0)) {
      continue;
    }
    quiet_room -= uneventful(entry) ? 1U : 0U;
    lines.push_back(&entry);
  }
  return lines;
}

std::string ledger_json(const std::vector<verdict::LedgerEntry>& ledger, PageTexts& texts) {
  const auto lines = shown_lines(ledger);
  PageColumns columns(lines.size());
  const auto text = [&](std::string_view name, auto of) {
    columns.add(name, [&](std::size_t row, std::string& out) {
      append_cell(std::uint64_t{texts.number_of(of(*lines[row]))}, out);
    });
  };
  using Entry = verdict::LedgerEntry;
  text("side", [](const Entry& e) { return std::string_view(verdict::to_string(e.side)); });
  text("state", [](const Entry& e) { return std::string_view(verdict::to_string(e.state)); });
  text("file", [](const Entry& e) { return std::string_view(e.path); });
  text("tensor", [](const Entry& e) { return std::string_view(e.tensor); });
  text("reason", [](const Entry& e) { return std::string_view(e.reason); });
  return "{\"rows\":" + std::to_string(lines.size()) +
         ",\"left_out\":" + std::to_string(ledger.size() - lines.size()) +
         ",\"columns\":" + columns.take_json() + "}";
}

std::string run_json(const verdict::RunResult& result) {
  return dump(Json{
      {"target", {{"path", result.target_path}, {"kind", result.target_kind}}},
      {"golden", {{"path", result.golden_path}, {"kind", result.golden_kind}}},
      {"rule", result.rule},
      {"verdict", result.verdict ? verdict_of(*result.verdict) : Json(nullptr)},
      {"overflow", result.verdict ? overflow_of(result.overflow) : Json(nullptr)},
      {"notes", result.notes},
      {"interrupted", result.interrupted},
      {"bytes_read", result.bytes_read},
      {"elapsed_s", number(result.elapsed_s)},
      {"totals",
       {{"golden", totals_of(result.totals(verdict::RunSide::golden))},
        {"target", totals_of(result.totals(verdict::RunSide::target))}}},
  });
}

}  // namespace

std::vector<std::string> page_data(const verdict::RunResult& result) {
  PageTexts texts;
  TensorColumns columns(result.tensors, texts);
  const std::size_t all = result.tensors.size();
  std::string curve = R"({"kind":"report","version":")" OPDRIFT_VERSION R"(","run":)";
  curve += run_json(result);
  curve += ",\"rows\":" + std::to_string(all);
  curve += ",\"columns\":" + columns.curve_json();
  curve += ",\"explanations\":" + by_row(result.tensors, explanations_or_null, all);
  curve += ",\"places\":" + by_row(result.tensors, place_or_null, all);
  curve += ",\"strings\":" + texts.take_json() + "}";
  std::string table = "{\"columns\":" + columns.table_json();
  table += ",\"metrics\":" + metrics_json(result);
  table += ",\"groups\":" + by_row(result.tensors, group_or_null, all);
  table += ",\"network\":" + network_json(result.network, texts);
  table += ",\"strings\":" + texts.take_json() + "}";
  std::string details = "{\"columns\":" + columns.details_json();
  details += ",\"histograms\":" + histograms_json(result.tensors);
  details += ",\"profiles\":" + by_row(result.tensors, profile_of, kMostProfiles);
  details += ",\"strings\":" + texts.take_json() + "}";
  std::string ledger = "{\"ledger\":" + ledger_json(result.ledger, texts);
  ledger += ",\"strings\":" + texts.take_json() + "}";
  return {std::move(curve), std::move(table), std::move(details), std::move(ledger)};
}

}  // namespace opdrift::report
