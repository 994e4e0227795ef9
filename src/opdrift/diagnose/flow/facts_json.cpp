#include "opdrift/diagnose/flow/facts_json.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/flow/json_fields.hpp"

namespace opdrift::diagnose::flow {

namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;

bool worse(double value, double than) {
  return std::isnan(value) || (!std::isnan(than) && value < than);
}

Status read_verdict(const JsonObject& object, Verdict& out) {
  std::string word;
  OPDRIFT_CHECK_OK(read_text(object, "verdict", word));
  for (const Verdict verdict : {Verdict::unknown, Verdict::pass, Verdict::fail}) {
    if (word == to_string(verdict)) {
      out = verdict;
      return Unit{};
    }
  }
  if (word.empty()) {
    return Unit{};
  }
  return Error{ErrorCode::bad_json, printable(object.name_of("verdict")) +
                                        ": expected pass, fail or unknown, found '" +
                                        printable(word) + "'"};
}

Result<RunFacts> read_run(const JsonObject& object) {
  RunFacts run;
  OPDRIFT_CHECK_OK(read_verdict(object, run.verdict));
  std::vector<double> cosines;
  OPDRIFT_CHECK_OK(read_numbers(object, "output_cosine", cosines));
  for (const double cosine : cosines) {
    if (!run.output_cosine || worse(cosine, *run.output_cosine)) {
      run.output_cosine = cosine;
    }
  }
  OPDRIFT_CHECK_OK(read_text(object, "input_digest", run.input_digest));
  return run;
}

Status read_runs(const JsonObject& top, Facts& facts) {
  const Json* const runs = top.find("runs");
  if (runs == nullptr) {
    return Unit{};
  }
  OPDRIFT_CHECK_OK(as_object(*runs, "runs"));
  for (const auto& [role, value] : runs->items()) {
    if (value.is_null()) {
      continue;
    }
    OPDRIFT_TRY(const JsonObject object, as_object(value, "runs." + role));
    OPDRIFT_TRY(facts.runs[role], read_run(object));
  }
  return Unit{};
}

Result<OperatorFacts> read_operator(const JsonObject& object) {
  OperatorFacts op;
  OPDRIFT_CHECK_OK(read_text(object, "op", op.op));
  OPDRIFT_CHECK_OK(read_text(object, "type", op.type));
  OPDRIFT_CHECK_OK(read_texts(object, "original", op.original));
  OPDRIFT_CHECK_OK(read_numbers(object, "cos_in", op.cos_in));
  OPDRIFT_CHECK_OK(read_numbers(object, "cos_out", op.cos_out));
  for (const NumberField& field : kNumberFields) {
    const std::string name(field.name);
    OPDRIFT_CHECK_OK(read_number(object, name.c_str(), op.numbers.*(field.value)));
  }
  OPDRIFT_CHECK_OK(read_flag(object, "const", op.constant));
  OPDRIFT_CHECK_OK(read_flag(object, "quant", op.quant));
  OPDRIFT_CHECK_OK(read_text(object, "dtype", op.dtype));
  OPDRIFT_CHECK_OK(read_texts(object, "passes", op.passes));
  OPDRIFT_CHECK_OK(read_texts(object, "places", op.places));
  OPDRIFT_CHECK_OK(read_texts(object, "foreign", op.foreign));
  if (op.original.empty() && !op.op.empty()) {
    op.original = {op.op};
  }
  return op;
}

Result<OperatorList> read_operators(const Json& list, const std::string& where) {
  if (!list.is_array()) {
    return Error{ErrorCode::bad_json,
                 printable(where) + ": expected a list of operators, found " + list.type_name()};
  }
  OperatorList operators;
  for (std::size_t i = 0; i < list.size(); ++i) {
    OPDRIFT_TRY(const JsonObject object, as_object(list[i], where + "[" + std::to_string(i) + "]"));
    OPDRIFT_TRY(OperatorFacts op, read_operator(object));
    operators.push_back(std::move(op));
  }
  return operators;
}

Status read_comparisons(const JsonObject& top, Facts& facts) {
  const Json* const compare = top.find("compare");
  if (compare == nullptr) {
    return Unit{};
  }
  OPDRIFT_CHECK_OK(as_object(*compare, "compare"));
  for (const auto& [pair, list] : compare->items()) {
    if (!list.is_null()) {
      OPDRIFT_TRY(facts.compare[pair], read_operators(list, "compare." + pair));
    }
  }
  return Unit{};
}

std::string option_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

Status read_options(const JsonObject& top, Facts& facts) {
  const Json* const options = top.find("options");
  if (options == nullptr) {
    return Unit{};
  }
  if (options->is_string()) {
    facts.options = graph::parse_atc_command(options->get_ref<const std::string&>());
    return Unit{};
  }
  OPDRIFT_CHECK_OK(as_object(*options, "options"));
  for (const auto& [key, value] : options->items()) {
    const std::string name = key.substr(std::min(key.find_first_not_of('-'), key.size()));
    facts.options.values.emplace_back(name, option_text(value));
  }
  return Unit{};
}

/// A flag that may be missing.
Status read_answer(const JsonObject& object, const char* key, std::optional<bool>& out) {
  if (object.find(key) != nullptr) {
    bool answer = false;
    OPDRIFT_CHECK_OK(read_flag(object, key, answer));
    out = answer;
  }
  return Unit{};
}

Status read_boundary(const JsonObject& top, Facts& facts) {
  const Json* const value = top.find("boundary");
  if (value == nullptr) {
    return Unit{};
  }
  OPDRIFT_TRY(const JsonObject object, as_object(*value, "boundary"));
  BoundaryFacts boundary;
  OPDRIFT_CHECK_OK(read_number(object, "input_cosine", boundary.input_cosine));
  OPDRIFT_CHECK_OK(read_number(object, "output_cosine", boundary.output_cosine));
  OPDRIFT_CHECK_OK(read_answer(object, "input_close", boundary.input_close));
  OPDRIFT_CHECK_OK(read_texts(object, "findings", boundary.findings));
  facts.boundary = std::move(boundary);
  return Unit{};
}

Status read_export(const JsonObject& top, Facts& facts) {
  const Json* const value = top.find("export");
  if (value == nullptr) {
    return Unit{};
  }
  OPDRIFT_TRY(const JsonObject object, as_object(*value, "export"));
  OPDRIFT_CHECK_OK(read_number(object, "output_cosine", facts.export_cosine));
  OPDRIFT_CHECK_OK(read_texts(object, "faults", facts.export_faults));
  return read_texts(object, "findings", facts.export_findings);
}

/// `first_difference` may be an object that names the operator.
Status read_first_difference(const JsonObject& object, std::string& out) {
  const Json* const value = object.find("first_difference");
  if (value == nullptr || !value->is_object()) {
    return read_text(object, "first_difference", out);
  }
  const JsonObject inner{*value, object.name_of("first_difference")};
  OPDRIFT_CHECK_OK(read_text(inner, "operator", out));
  return read_text(inner, "op", out);
}

Status read_repeat(const JsonObject& top, Facts& facts) {
  const Json* const value = top.find("repeat");
  if (value == nullptr) {
    return Unit{};
  }
  OPDRIFT_TRY(const JsonObject object, as_object(*value, "repeat"));
  RepeatFacts repeat;
  OPDRIFT_CHECK_OK(read_flag(object, "identical", repeat.identical));
  OPDRIFT_CHECK_OK(read_first_difference(object, repeat.first_difference));
  OPDRIFT_CHECK_OK(read_flag(object, "unrelated", repeat.unrelated));
  facts.repeat = std::move(repeat);
  return Unit{};
}

Status read_bisect(const JsonObject& top, Facts& facts) {
  const Json* const value = top.find("bisect");
  if (value == nullptr) {
    return Unit{};
  }
  OPDRIFT_TRY(const JsonObject object, as_object(*value, "bisect"));
  BisectFacts bisect;
  OPDRIFT_CHECK_OK(read_texts(object, "interval", bisect.interval));
  OPDRIFT_CHECK_OK(read_answer(object, "single_op_ok", bisect.single_op_ok));
  facts.bisect = std::move(bisect);
  return Unit{};
}

Status read_notes(const JsonObject& top, Facts& facts) {
  const Json* const notes = top.find("notes");
  if (notes == nullptr) {
    return Unit{};
  }
  if (!notes->is_array()) {
    return Error{ErrorCode::bad_json, "notes: expected a list"};
  }
  for (const Json& one : *notes) {
    OPDRIFT_TRY(const JsonObject object, as_object(one, "notes[]"));
    EvidenceNote note;
    OPDRIFT_CHECK_OK(read_text(object, "id", note.id));
    OPDRIFT_CHECK_OK(read_text(object, "result", note.result));
    facts.notes.push_back(std::move(note));
  }
  return Unit{};
}

using Part = Status (*)(const JsonObject& top, Facts& facts);
constexpr Part kParts[] = {&read_runs,   &read_comparisons, &read_options, &read_boundary,
                           &read_export, &read_repeat,      &read_bisect,  &read_notes};

Result<Facts> facts_of(const Json& value) {
  OPDRIFT_TRY(const JsonObject top, as_object(value, ""));
  Facts facts;
  for (const Part part : kParts) {
    OPDRIFT_CHECK_OK(part(top, facts));
  }
  OPDRIFT_CHECK_OK(read_number(top, "aipp_input_cosine", facts.aipp_input_cosine));
  OPDRIFT_CHECK_OK(read_answer(top, "aipp_input_close", facts.aipp_input_close));
  OPDRIFT_CHECK_OK(read_texts(top, "aipp_findings", facts.aipp_findings));
  OPDRIFT_CHECK_OK(read_texts(top, "keep", facts.keep));
  OPDRIFT_CHECK_OK(read_text(top, "golden_model", facts.golden_model));
  OPDRIFT_CHECK_OK(read_text(top, "device_soc", facts.device_soc));
  return facts;
}

/// A recorded case holds the facts under that name.
const Json& facts_within(const Json& value) {
  if (value.is_object() && value.contains("facts") && !value.contains("runs")) {
    return value.at("facts");
  }
  return value;
}

}  // namespace

Result<Facts> parse_facts(std::string_view text, const std::string& path) {
  const std::string quoted = quote_bare_numbers(text);
  Result<Json> value = parse_json<Json>(quoted, path);
  if (!value) {
    if (quoted.size() != text.size()) {
      value.error().offset.reset();  // counted in the text with the quotes
    }
    return value.error();
  }
  Result<Facts> facts = facts_of(facts_within(*value));
  if (!facts) {
    facts.error().path = path;
  }
  return facts;
}

Result<Facts> read_facts(const std::string& path) {
  OPDRIFT_TRY(const auto file, MappedFile::open(path));
  if (file->size() > kLargestFile) {
    return Error{ErrorCode::limit,
                 "expected facts of at most 64 MiB, found " + human_bytes(file->size()), path};
  }
  return parse_facts(as_text(file->bytes()), path);
}

}  // namespace opdrift::diagnose::flow
