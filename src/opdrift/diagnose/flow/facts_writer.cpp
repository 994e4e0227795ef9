#include <algorithm>

#include "opdrift/diagnose/flow/facts_json.hpp"
#include "opdrift/diagnose/flow/json_fields.hpp"

namespace opdrift::diagnose::flow {

namespace {

using Ordered = nlohmann::ordered_json;

Ordered numbers_json(const std::vector<double>& numbers) {
  Ordered list = Ordered::array();
  for (const double number : numbers) {
    list.push_back(number_json(number));
  }
  return list;
}

Ordered run_json(const RunFacts& run) {
  Ordered json = Ordered::object();
  if (run.verdict != Verdict::unknown) {
    json["verdict"] = to_string(run.verdict);
  }
  if (run.output_cosine) {
    json["output_cosine"] = number_json(*run.output_cosine);
  }
  if (!run.input_digest.empty()) {
    json["input_digest"] = run.input_digest;
  }
  return json;
}

Ordered operator_json(const OperatorFacts& op) {
  Ordered json = {{"op", op.op}, {"type", op.type}, {"original", op.original}};
  json["cos_in"] = numbers_json(op.cos_in);
  json["cos_out"] = numbers_json(op.cos_out);
  for (const NumberField& field : kNumberFields) {
    if (const auto& number = op.numbers.*(field.value)) {
      json[std::string(field.name)] = number_json(*number);
    }
  }
  if (op.constant) {
    json["const"] = true;
  }
  if (op.quant) {
    json["quant"] = true;
  }
  if (!op.dtype.empty()) {
    json["dtype"] = op.dtype;
  }
  if (!op.passes.empty()) {
    json["passes"] = op.passes;
  }
  if (!op.places.empty()) {
    json["places"] = op.places;
  }
  if (!op.foreign.empty()) {
    json["foreign"] = op.foreign;
  }
  return json;
}

void add_boundary(const Facts& facts, Ordered& json) {
  if (!facts.boundary) {
    return;
  }
  Ordered boundary = Ordered::object();
  if (facts.boundary->input_cosine) {
    boundary["input_cosine"] = number_json(*facts.boundary->input_cosine);
  }
  if (facts.boundary->output_cosine) {
    boundary["output_cosine"] = number_json(*facts.boundary->output_cosine);
  }
  if (facts.boundary->input_close) {
    boundary["input_close"] = *facts.boundary->input_close;
  }
  boundary["findings"] = facts.boundary->findings;
  json["boundary"] = std::move(boundary);
}

void add_export(const Facts& facts, Ordered& json) {
  if (!facts.export_cosine && facts.export_findings.empty() && facts.export_faults.empty()) {
    return;
  }
  Ordered exported = Ordered::object();
  if (facts.export_cosine) {
    exported["output_cosine"] = number_json(*facts.export_cosine);
  }
  exported["findings"] = facts.export_findings;
  if (!facts.export_faults.empty()) {
    exported["faults"] = facts.export_faults;
  }
  json["export"] = std::move(exported);
}

void add_single_steps(const Facts& facts, Ordered& json) {
  if (facts.aipp_input_cosine) {
    json["aipp_input_cosine"] = number_json(*facts.aipp_input_cosine);
  }
  if (facts.aipp_input_close) {
    json["aipp_input_close"] = *facts.aipp_input_close;
  }
  if (!facts.aipp_findings.empty()) {
    json["aipp_findings"] = facts.aipp_findings;
  }
  if (!facts.keep.empty()) {
    json["keep"] = facts.keep;
  }
  if (facts.repeat) {
    json["repeat"] = {{"identical", facts.repeat->identical},
                      {"first_difference", facts.repeat->first_difference},
                      {"unrelated", facts.repeat->unrelated}};
  }
  if (facts.bisect) {
    json["bisect"] = {{"interval", facts.bisect->interval}};
    if (facts.bisect->single_op_ok) {
      json["bisect"]["single_op_ok"] = *facts.bisect->single_op_ok;
    }
  }
}

void add_rest(const Facts& facts, Ordered& json) {
  for (const EvidenceNote& note : facts.notes) {
    json["notes"].push_back({{"id", note.id}, {"result", note.result}});
  }
  if (!facts.golden_model.empty()) {
    json["golden_model"] = facts.golden_model;
  }
  if (!facts.device_soc.empty()) {
    json["device_soc"] = facts.device_soc;
  }
}

}  // namespace

std::string write_facts(const Facts& facts) {
  Ordered json = {{"runs", Ordered::object()}};
  for (const auto& [role, run] : facts.runs) {
    json["runs"][role] = run_json(run);
  }
  json["options"] = Ordered::object();
  for (const auto& [name, value] : facts.options.values) {
    json["options"][name] = value;
  }
  add_boundary(facts, json);
  add_export(facts, json);
  add_single_steps(facts, json);
  add_rest(facts, json);
  for (const auto& [pair, operators] : facts.compare) {
    Ordered list = Ordered::array();
    for (const OperatorFacts& op : operators) {
      list.push_back(operator_json(op));
    }
    json["compare"][pair] = std::move(list);
  }
  return json.dump(1, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

}  // namespace opdrift::diagnose::flow
