#include "opdrift/report/json_result.hpp"

#include <simdjson.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"

namespace opdrift::report {

namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kSchema = "opdrift-result/1";

/// One object of the document; keys that are absent or of another kind leave the default alone.
class Node {
 public:
  explicit Node(dom::element element) : element_(element) {}

  std::optional<Node> child(std::string_view key) const {
    dom::element found;
    if (element_[key].get(found) != simdjson::SUCCESS || found.is_null()) {
      return std::nullopt;
    }
    return Node(found);
  }

  std::vector<Node> list(std::string_view key) const {
    std::vector<Node> items;
    dom::array array;
    if (element_[key].get(array) == simdjson::SUCCESS) {
      for (const dom::element item : array) {
        items.emplace_back(item);
      }
    }
    return items;
  }

  void read(std::string_view key, std::string& out) const {
    std::string_view text;
    if (element_[key].get(text) == simdjson::SUCCESS) {
      out = text;
    }
  }

  void read(std::string_view key, std::uint64_t& out) const {
    std::uint64_t value = 0;
    if (element_[key].get(value) == simdjson::SUCCESS) {
      out = value;
    }
  }

  void read(std::string_view key, std::uint32_t& out) const {
    std::uint64_t value = out;
    read(key, value);
    out = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
  }

  void read(std::string_view key, bool& out) const {
    bool value = false;
    if (element_[key].get(value) == simdjson::SUCCESS) {
      out = value;
    }
  }

  void read(std::string_view key, double& out) const {
    dom::element found;
    if (element_[key].get(found) == simdjson::SUCCESS && (found.is_number() || found.is_string())) {
      out = number_of(found);
    }
  }

  void read(std::string_view key, std::vector<std::uint64_t>& out) const {
    for (const Node& item : list(key)) {
      std::uint64_t value = 0;
      if (item.element_.get(value) == simdjson::SUCCESS) {
        out.push_back(value);
      }
    }
  }

  void read(std::string_view key, std::vector<std::string>& out) const {
    for (const Node& item : list(key)) {
      std::string_view value;
      if (item.element_.get(value) == simdjson::SUCCESS) {
        out.emplace_back(value);
      }
    }
  }

  /// The items of this list as numbers.
  std::vector<double> numbers() const {
    std::vector<double> numbers;
    dom::array array;
    if (element_.get(array) == simdjson::SUCCESS) {
      for (const dom::element item : array) {
        numbers.push_back(number_of(item));
      }
    }
    return numbers;
  }

  void read(std::string_view key, tensor::DType& out) const {
    std::string name;
    read(key, name);
    out = tensor::dtype_by_name(name).value_or(out);
  }

  /// A word out of those that to_string gives for the enumerators up to `last`.
  template <typename Enum>
  void read_word(std::string_view key, Enum last, Enum& out) const {
    std::string word;
    read(key, word);
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      if (word == to_string(static_cast<Enum>(i))) {
        out = static_cast<Enum>(i);
        return;
      }
    }
  }

 private:
  /// Numbers, and the words for those that JSON has not.
  static double number_of(dom::element element) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double value = std::numeric_limits<double>::quiet_NaN();
    std::string_view word;
    if (element.get(value) != simdjson::SUCCESS && element.get(word) == simdjson::SUCCESS) {
      value = word == "inf" ? kInfinity : word == "-inf" ? -kInfinity : value;
    }
    return value;
  }

  dom::element element_;
};

void read_side(const Node& node, metrics::SideStats& side) {
  node.read("dtype", side.dtype);
  node.read("finite", side.finite);
  node.read("min", side.min);
  node.read("max", side.max);
  node.read("sum", side.sum);
  node.read("sum_squares", side.sum_squares);
  node.read("sum_centred_squares", side.sum_centred_squares);
  if (const auto classes = node.child("classes")) {
    classes->read("nan", side.classes.nan);
    classes->read("positive_inf", side.classes.positive_inf);
    classes->read("negative_inf", side.classes.negative_inf);
    classes->read("zero", side.classes.zero);
    classes->read("subnormal", side.classes.subnormal);
    classes->read("saturated", side.classes.saturated);
  }
}

void read_worst(const Node& node, std::string_view key, metrics::Worst& worst) {
  if (const auto found = node.child(key)) {
    found->read("value", worst.value);
    found->read("index", worst.index);
    found->read("golden", worst.golden);
    found->read("target", worst.target);
  }
}

void read_sums(const Node& node, metrics::Measurement& m) {
  node.read("d", m.sum_d);
  node.read("abs_d", m.sum_abs_d);
  node.read("d2", m.sum_d2);
  node.read("golden", m.sum_golden);
  node.read("target", m.sum_target);
  node.read("golden2", m.sum_golden2);
  node.read("target2", m.sum_target2);
  node.read("product", m.sum_product);
  node.read("relative", m.sum_relative);
}

metrics::Measurement measurement_of(const Node& node) {
  metrics::Measurement m;
  node.read("count", m.count);
  node.read("finite_pairs", m.finite_pairs);
  node.read("class_mismatches", m.class_mismatches);
  node.read("equal_bits", m.equal_bits);
  node.read("relative_pairs", m.relative_pairs);
  node.read("max_relative", m.max_relative);
  node.read("within_1e-3", m.within_1e3);
  node.read("within_5e-3", m.within_5e3);
  node.read("kl_divergence", m.kl_divergence);
  read_worst(node, "max_abs", m.max_abs);
  read_worst(node, "max_scaled", m.max_scaled);
  if (const auto sums = node.child("sums")) {
    read_sums(*sums, m);
  }
  if (const auto ulp = node.child("ulp")) {
    ulp->read("dtype", m.ulp_dtype);
    ulp->read("max", m.max_ulp);
    std::vector<std::uint64_t> histogram;
    ulp->read("histogram", histogram);
    std::copy_n(histogram.begin(), std::min(histogram.size(), m.ulp_histogram.size()),
                m.ulp_histogram.begin());
  }
  if (const auto golden = node.child("golden")) {
    read_side(*golden, m.golden);
  }
  if (const auto target = node.child("target")) {
    read_side(*target, m.target);
  }
  return m;
}

verdict::Judgement judgement_of(const Node& node) {
  verdict::Judgement j;
  node.read_word("label", verdict::Label::unjudged, j.label);
  node.read_word("tier", verdict::Tier::none, j.tier);
  node.read_word("cause", verdict::Cause::gate, j.cause);
  node.read("sentence", j.sentence);
  node.read("q_own", j.q_own);
  node.read("z", j.z);
  node.read("q1", j.q1);
  node.read("z1", j.z1);
  node.read("q_cum", j.q_cum);
  node.read("relative", j.relative);
  node.read("own", j.own);
  node.read("rho", j.rho);
  node.read("depth", j.depth);
  node.read("inherited", j.inherited);
  node.read("gain", j.gain);
  node.read("self_check", j.self_check);
  node.read("bias", j.bias);
  node.read("bias_count", j.bias_count);
  node.read("flushed", j.flushed);
  node.read("new_classes", j.new_classes);
  node.read("inherited_classes", j.inherited_classes);
  node.read("wider_inputs", j.wider_inputs);
  node.read("inputs_replayed", j.inputs_replayed);
  node.read("sampled", j.sampled);
  node.read("group", j.group);
  if (const auto worst = node.child("worst")) {
    worst->read("index", j.worst);
    worst->read("golden", j.worst_golden);
    worst->read("target", j.worst_target);
    worst->read("expected", j.worst_expected);
  }
  return j;
}

verdict::ErrorPlace::Slice slice_of(const Node& node) {
  verdict::ErrorPlace::Slice slice;
  node.read("first", slice.first);
  node.read("count", slice.count);
  node.read("share", slice.share);
  return slice;
}

verdict::ErrorPlace place_of(const Node& node) {
  verdict::ErrorPlace place;
  node.read("sentence", place.sentence);
  node.read("first_bad", place.first_bad);
  node.read("first_bad_index", place.first_bad_index);
  for (const Node& item : node.list("axes")) {
    verdict::ErrorPlace::Axis axis;
    item.read("extent", axis.extent);
    for (const Node& slice : item.list("top")) {
      axis.top.push_back(slice_of(slice));
    }
    if (const auto block = item.child("block")) {
      axis.block = slice_of(*block);
    }
    place.axes.push_back(std::move(axis));
  }
  return place;
}

std::vector<verdict::Explanation> explanations_of(const Node& node) {
  std::vector<verdict::Explanation> explanations;
  for (const Node& item : node.list("explanations")) {
    verdict::Explanation explanation;
    item.read_word("kind", verdict::ExplanationKind::other_function, explanation.kind);
    item.read("sentence", explanation.sentence);
    item.read("residual", explanation.residual);
    item.read("explained", explanation.explained);
    explanations.push_back(std::move(explanation));
  }
  return explanations;
}

std::vector<verdict::MetricValue> metrics_of(const Node& node,
                                             const std::vector<std::string>& names) {
  std::vector<verdict::MetricValue> values;
  for (const std::string& name : names) {
    verdict::MetricValue& value = values.emplace_back();
    if (const auto metric = node.child(name)) {
      metric->read("value", value.value);
      metric->read("text", value.text);
      metric->read("note", value.note);
    }
  }
  return values;
}

verdict::ErrorProfile profile_of(const Node& node) {
  verdict::ErrorProfile profile;
  node.read("both_nan", profile.both_nan);
  node.read("unequal_class", profile.unequal_class);
  for (const Node& item : node.list("bins")) {
    const std::vector<double> numbers = item.numbers();
    // A hostile file must not reach a conversion that has no result.
    if (numbers.size() == 7 && std::abs(numbers[0]) < 1e5 && numbers[1] >= 0.0 &&
        numbers[1] < 0x1p62) {
      profile.bins.push_back({static_cast<int>(numbers[0]), static_cast<std::uint64_t>(numbers[1]),
                              numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]});
    }
  }
  return profile;
}

verdict::TensorResult tensor_of(const Node& node, const std::vector<std::string>& metric_names) {
  verdict::TensorResult tensor;
  node.read("operator", tensor.operator_name);
  node.read("type", tensor.operator_type);
  node.read("golden_operator", tensor.golden_operator);
  node.read("tensor", tensor.tensor_name);
  node.read("step", tensor.step);
  node.read("role", tensor.role);
  node.read("index", tensor.index);
  node.read("order", tensor.order);
  node.read("rule", tensor.rule);
  node.read("target_file", tensor.target_path);
  node.read("golden_file", tensor.golden_path);
  node.read("target_shape", tensor.target_shape);
  node.read("golden_shape", tensor.golden_shape);
  node.read("statistics_only", tensor.statistics_only);
  node.read("passed", tensor.passed);
  node.read("reason", tensor.reason);
  if (const auto measurement = node.child("measurement")) {
    tensor.measurement = measurement_of(*measurement);
  }
  if (const auto metrics = node.child("metrics")) {
    tensor.metric_values = metrics_of(*metrics, metric_names);
  }
  if (const auto profile = node.child("profile")) {
    tensor.profile = profile_of(*profile);
  }
  if (const auto judgement = node.child("judgement")) {
    tensor.judgement = judgement_of(*judgement);
  }
  if (const auto place = node.child("place")) {
    tensor.place = place_of(*place);
  }
  tensor.explanations = explanations_of(node);
  return tensor;
}

verdict::LedgerEntry ledger_entry_of(const Node& node) {
  verdict::LedgerEntry entry;
  std::string side;
  node.read("side", side);
  entry.side = side == "target" ? verdict::RunSide::target : verdict::RunSide::golden;
  node.read("file", entry.path);
  node.read("tensor", entry.tensor);
  node.read_word("state", verdict::LedgerState::skipped, entry.state);
  node.read("reason", entry.reason);
  return entry;
}

verdict::RunVerdict verdict_of(const Node& node) {
  verdict::RunVerdict verdict;
  node.read_word("outcome", verdict::Outcome::inconclusive, verdict.outcome);
  node.read("sentence", verdict.sentence);
  for (const Node& item : node.list("findings")) {
    verdict::Finding finding;
    item.read_word("kind", verdict::FindingKind::order_only, finding.kind);
    item.read("sentence", finding.sentence);
    item.read("value", finding.value);
    item.read("operators", finding.operators);
    item.read("assumed", finding.assumed);
    verdict.findings.push_back(std::move(finding));
  }
  node.read("missing_outputs", verdict.missing_outputs);
  node.read("unjudged", verdict.unjudged);
  node.read("inputs_differ", verdict.inputs_differ);
  std::vector<std::uint64_t> rows;
  node.read("first_divergence", rows);
  verdict.first_divergence.assign(rows.begin(), rows.end());
  return verdict;
}

std::vector<verdict::RangeNote> range_notes_of(const Node& node, std::string_view key) {
  std::vector<verdict::RangeNote> notes;
  for (const Node& item : node.list(key)) {
    verdict::RangeNote note;
    item.read("name", note.name);
    item.read("value", note.value);
    item.read("ratio", note.ratio);
    item.read("sentence", note.sentence);
    notes.push_back(std::move(note));
  }
  return notes;
}

verdict::OverflowSummary overflow_of(const Node& node) {
  verdict::OverflowSummary overflow;
  node.read("sentence", overflow.sentence);
  node.read("path", overflow.path);
  overflow.headroom = range_notes_of(node, "headroom");
  overflow.constants = range_notes_of(node, "constants");
  return overflow;
}

verdict::NetworkOperator network_operator_of(const Node& node) {
  verdict::NetworkOperator op;
  node.read("name", op.name);
  node.read("type", op.type);
  std::vector<std::uint64_t> positions;
  node.read("producers", positions);
  op.producers.reserve(positions.size());
  for (const std::uint64_t position : positions) {
    op.producers.push_back(static_cast<std::uint32_t>(
        std::min<std::uint64_t>(position, std::numeric_limits<std::uint32_t>::max())));
  }
  positions.clear();
  node.read("rows", positions);
  op.rows.assign(positions.begin(), positions.end());
  return op;
}

/// Positions that point at nothing are dropped: an operator reads earlier ones only.
void read_network(const Node& root, verdict::RunResult& result) {
  for (const Node& item : root.list("network")) {
    verdict::NetworkOperator& op = result.network.emplace_back(network_operator_of(item));
    const std::size_t own = result.network.size() - 1;
    std::erase_if(op.producers, [&](std::uint32_t producer) { return producer >= own; });
    std::erase_if(op.rows, [&](std::size_t row) { return row >= result.tensors.size(); });
  }
}

void read_head(const Node& root, verdict::RunResult& result) {
  if (const auto golden = root.child("golden")) {
    golden->read("path", result.golden_path);
    golden->read("kind", result.golden_kind);
  }
  if (const auto target = root.child("target")) {
    target->read("path", result.target_path);
    target->read("kind", result.target_kind);
  }
  if (const auto summary = root.child("summary")) {
    summary->read("interrupted", result.interrupted);
    summary->read("bytes_read", result.bytes_read);
    summary->read("elapsed_s", result.elapsed_s);
  }
  if (const auto metrics = root.child("metrics")) {
    metrics->read("names", result.metric_names);
    metrics->read("usual", result.usual_metrics);
  }
  root.read("rule", result.rule);
  root.read("notes", result.notes);
}

/// simdjson does not say where; a second reader that keeps nothing does.
Error json_problem(std::string_view text, const std::string& path, simdjson::error_code problem) {
  const Result<nlohmann::json> again = opdrift::parse_json<nlohmann::json>(
      text, path, [](int, auto, const nlohmann::json&) { return false; });
  return again ? Error{ErrorCode::bad_json, simdjson::error_message(problem), path} : again.error();
}

/// The document in `parser`, when it is a result.
Result<dom::element> document_of(dom::parser& parser, std::string_view text,
                                 const std::string& path) {
  dom::element document;
  const simdjson::error_code problem = parser.parse(text.data(), text.size()).get(document);
  if (problem != simdjson::SUCCESS) {
    return json_problem(text, path, problem);
  }
  std::string schema;
  Node(document).read("schema", schema);
  if (schema != kSchema) {
    return Error{ErrorCode::bad_json,
                 "expected a result with schema " + std::string(kSchema) +
                     (schema.empty() ? "" : ", found " + schema),
                 path};
  }
  return document;
}

void read_verdict(const Node& root, verdict::RunResult& result) {
  if (const auto overflow = root.child("overflow")) {
    result.overflow = overflow_of(*overflow);
  }
  if (const auto verdict = root.child("verdict")) {
    result.verdict = verdict_of(*verdict);
    std::erase_if(result.verdict->first_divergence,
                  [&](std::size_t row) { return row >= result.tensors.size(); });
  }
}

/// A document of its own up to the tensors; everything when they are not where render_json puts
/// them.
std::string text_before_tensors(std::string_view text) {
  const std::size_t end = text.find(",\n \"tensors\": [");
  return std::string(text.substr(0, end)) + (end == std::string_view::npos ? "" : "}");
}

}  // namespace

Result<verdict::RunResult> parse_json(std::string_view text, const std::string& path) {
  dom::parser parser;
  OPDRIFT_TRY(const dom::element document, document_of(parser, text, path));
  const Node root(document);
  verdict::RunResult result;
  read_head(root, result);
  for (const Node& item : root.list("tensors")) {
    result.tensors.push_back(tensor_of(item, result.metric_names));
  }
  for (const Node& item : root.list("ledger")) {
    result.ledger.push_back(ledger_entry_of(item));
  }
  read_network(root, result);
  read_verdict(root, result);
  return result;
}

Result<ResultSummary> parse_json_summary(std::string_view text, const std::string& path) {
  dom::parser parser;
  OPDRIFT_TRY(const dom::element document, document_of(parser, text_before_tensors(text), path));
  const Node root(document);
  ResultSummary found;
  read_head(root, found.head);
  read_verdict(root, found.head);
  if (const auto summary = root.child("summary")) {
    summary->read("tensors", found.tensors);
    summary->read("failed", found.failed);
    summary->read("first_offender", found.first_offender);
  }
  return found;
}

}  // namespace opdrift::report
