#include <algorithm>
#include <filesystem>

#include "opdrift/diagnose/flow/classes.hpp"
#include "opdrift/diagnose/flow/json_fields.hpp"
#include "opdrift/diagnose/flow/report.hpp"
#include "opdrift/io/file_writer.hpp"

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

Ordered evidence_json(const OperatorFacts& op) {
  Ordered json = Ordered::object();
  if (comparable(op)) {
    json["cosine"] = number_json(1.0 - output_error(op));
  }
  if (!op.cos_in.empty() || !op.cos_out.empty()) {
    json["cos_in"] = numbers_json(op.cos_in);
    json["cos_out"] = numbers_json(op.cos_out);
  }
  for (const NumberField& field : kNumberFields) {
    if (const auto& number = op.numbers.*(field.value)) {
      json[std::string(field.name)] = number_json(*number);
    }
  }
  if (!op.places.empty()) {
    json["places"] = op.places;
  }
  if (!op.foreign.empty()) {
    json["foreign"] = op.foreign;
  }
  return json;
}

Ordered operator_json(const BlamedOperator& blamed) {
  const OperatorFacts& op = blamed.facts;
  return {{"name", op.op},
          {"original", op.original},
          {"type", op.type},
          {"class", blamed.class_name},
          {"passes", op.passes},
          {"dtype", op.dtype},
          {"evidence", evidence_json(op)}};
}

Ordered fix_json(const Fix& fix) {
  Ordered json = {{"kind", fix.kind}, {"text", fix.text}};
  if (fix.file) {
    json["file"] = fix.file->name;
  }
  return json;
}

Ordered next_json(const NextStep& next) {
  Ordered json = {{"role", next.role}, {"why", next.why}, {"command", next.command}};
  json["files"] = Ordered::array();
  for (const GeneratedFile& file : next.files) {
    json["files"].push_back(file.name);
  }
  return json;
}

template <typename List, typename Function>
Ordered list_json(const List& list, const Function& function) {
  Ordered json = Ordered::array();
  for (const auto& one : list) {
    json.push_back(function(one));
  }
  return json;
}

void add_file(const GeneratedFile& file, std::vector<GeneratedFile>& files) {
  const bool known = std::any_of(files.begin(), files.end(),
                                 [&](const GeneratedFile& one) { return one.name == file.name; });
  if (!known) {
    files.push_back(file);
  }
}

}  // namespace

std::string render_json(const Diagnosis& diagnosis) {
  Ordered json = {{"schema", "opdrift-diagnosis/1"}};
  json["conclusion"] = nullptr;
  if (diagnosis.conclusion) {
    json["conclusion"] = code_of(*diagnosis.conclusion);
    json["meaning"] = meaning_of(*diagnosis.conclusion);
    json["confidence"] = to_string(diagnosis.confidence);
  }
  json["step"] = std::string(1, diagnosis.step);
  json["operators"] = list_json(diagnosis.operators, operator_json);
  json["fix"] = list_json(diagnosis.fixes, fix_json);
  json["next"] = list_json(diagnosis.next, next_json);
  json["checks"] = list_json(diagnosis.checks, [](const Check& check) {
    return Ordered{{"id", check.id}, {"result", check.result}};
  });
  json["exit_status"] = exit_status(diagnosis);
  return json.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

std::vector<GeneratedFile> generated_files(const Diagnosis& diagnosis) {
  std::vector<GeneratedFile> files;
  for (const NextStep& next : diagnosis.next) {
    for (const GeneratedFile& file : next.files) {
      add_file(file, files);
    }
  }
  for (const Fix& fix : diagnosis.fixes) {
    if (fix.file) {
      add_file(*fix.file, files);
    }
  }
  return files;
}

Status write_report(const Diagnosis& diagnosis, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) {
    return Error{ErrorCode::write_failed, "cannot make the folder: " + problem.message(), folder};
  }
  std::vector<GeneratedFile> files = generated_files(diagnosis);
  files.push_back({"diagnosis.txt", render_text(diagnosis)});
  files.push_back({"diagnosis.json", render_json(diagnosis)});
  for (const GeneratedFile& file : files) {
    OPDRIFT_CHECK_OK(io::write_file(folder + "/" + file.name, file.content));
  }
  return Unit{};
}

}  // namespace opdrift::diagnose::flow
