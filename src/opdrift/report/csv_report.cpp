#include <array>
#include <charconv>

#include "opdrift/report/csv_text.hpp"
#include "opdrift/report/report.hpp"

namespace opdrift::report {

namespace {

constexpr std::string_view kHeaderBefore =
    "order,step,operator,type,golden_operator,role,index,tensor,status,reason,rule,golden_dtype,"
    "target_dtype,golden_shape,target_shape";
constexpr std::string_view kHeaderUsual =
    ",count,cosine,one_minus_cosine,relative_l2,sqnr_db,max_abs,max_abs_index,max_abs_golden,"
    "max_abs_target,max_scaled,max_relative,rmse,bias,equal_share,within_1e-3,within_5e-3,max_ulp,"
    "class_mismatches";
constexpr std::string_view kHeaderBehind =
    ",label,tier,q_own,z,q_cum,explanation,golden_file,target_file\n";

constexpr int kUsualCells = 18;

std::string header_of(const verdict::RunResult& result) {
  std::string header(kHeaderBefore);
  header += result.usual_metrics ? kHeaderUsual : "";
  for (const std::string& name : result.metric_names) {
    header += "," + csv_text(name);
  }
  return header + std::string(kHeaderBehind);
}

/// Shortest text that reads back as the same double.
std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(all);
}

class Line {
 public:
  Line& text(std::string_view cell) { return add(csv_text(cell)); }
  Line& value(double cell) { return add(number(cell)); }
  Line& count(std::uint64_t cell) { return add(std::to_string(cell)); }
  Line& index(std::uint64_t cell) {
    return add(cell == metrics::kNoIndex ? std::string() : std::to_string(cell));
  }
  std::string finish() { return std::move(line_) + "\n"; }

 private:
  Line& add(const std::string& cell) {
    line_ += first_ ? "" : ",";
    line_ += cell;
    first_ = false;
    return *this;
  }

  std::string line_;
  bool first_ = true;
};

void add_measurement(Line& line, const metrics::Measurement& m) {
  line.count(m.count).value(m.cosine()).value(m.one_minus_cosine()).value(m.relative_l2());
  line.value(m.sqnr_db()).value(m.max_abs.value).index(m.max_abs.index).value(m.max_abs.golden);
  line.value(m.max_abs.target).value(m.max_scaled.value).value(m.max_relative).value(m.rmse());
  line.value(m.bias()).value(share(m.equal_bits, m.count)).value(share(m.within_1e3, m.count));
  line.value(share(m.within_5e3, m.count)).count(m.max_ulp).count(m.class_mismatches);
}

void add_judgement(Line& line, const verdict::TensorResult& tensor) {
  if (!tensor.judgement) {
    const std::string_view tier =
        tensor.statistics_only ? verdict::to_string(verdict::Tier::statistics) : "";
    line.text("").text(tier).text("").text("").text("").text("");
    return;
  }
  const verdict::Judgement& judgement = *tensor.judgement;
  line.text(verdict::to_string(judgement.label)).text(verdict::to_string(judgement.tier));
  line.value(judgement.q_own).value(judgement.z).value(judgement.q_cum);
  line.text(tensor.explanations.empty() ? "" : tensor.explanations.front().sentence);
}

const char* status_of(const verdict::TensorResult& tensor) {
  if (!tensor.measurement) {
    return "not compared";
  }
  return tensor.passed ? "passed" : "failed";
}

/// The usual metrics and those asked for; empty cells where there is nothing.
void add_metrics(Line& line, const verdict::TensorResult& tensor,
                 const verdict::RunResult& result) {
  if (result.usual_metrics && tensor.measurement) {
    add_measurement(line, *tensor.measurement);
  }
  for (int i = 0; i < kUsualCells && result.usual_metrics && !tensor.measurement; ++i) {
    line.text("");
  }
  for (std::size_t i = 0; i < result.metric_names.size(); ++i) {
    line.text(i < tensor.metric_values.size() ? tensor.metric_values[i].text : "");
  }
}

std::string line_of(const verdict::TensorResult& tensor, const verdict::RunResult& result) {
  Line line;
  line.count(tensor.order).text(tensor.step).text(tensor.operator_name).text(tensor.operator_type);
  line.text(tensor.golden_operator).text(tensor.role).count(tensor.index);
  line.text(tensor.tensor_name).text(status_of(tensor)).text(tensor.reason).text(tensor.rule);
  if (tensor.measurement) {
    line.text(tensor::name_of(tensor.measurement->golden.dtype));
    line.text(tensor::name_of(tensor.measurement->target.dtype));
  } else {
    line.text("").text("");
  }
  line.text(tensor::to_string(tensor.golden_shape, "x"));
  line.text(tensor::to_string(tensor.target_shape, "x"));
  add_metrics(line, tensor, result);
  add_judgement(line, tensor);
  return line.text(tensor.golden_path).text(tensor.target_path).finish();
}

}  // namespace

std::string render_csv(const verdict::RunResult& result) {
  std::string text = header_of(result);
  for (const verdict::TensorResult& tensor : result.tensors) {
    text += line_of(tensor, result);
  }
  return text;
}

}  // namespace opdrift::report
