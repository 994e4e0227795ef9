#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/flow/diagnosis.hpp"

/// A diagnosis as JSON, schema "opdrift-diagnosis/1":
///
///   { "schema", "conclusion": CODE or null, "meaning", "confidence", "step",
///     "operators": [ { "name", "original", "type", "class", "passes", "dtype",
///                      "evidence": { "cosine", "cos_in", "cos_out", numbers of kNumberFields,
///                                    "places" } } ],
///     "fix":  [ { "kind", "text", "file" } ],
///     "next": [ { "role", "why", "command", "files": [NAME] } ],
///     "checks": [ { "id", "result" } ], "exit_status" }
///
/// Numbers that JSON cannot hold are the strings "nan", "inf" and "-inf".
namespace opdrift::diagnose::flow {

std::string render_json(const Diagnosis& diagnosis);

/// The same for people.
std::string render_text(const Diagnosis& diagnosis);

/// All files of fixes and experiments, each name once.
std::vector<GeneratedFile> generated_files(const Diagnosis& diagnosis);

/// Writes diagnosis.json, diagnosis.txt and the generated files into a folder, made if missing.
Status write_report(const Diagnosis& diagnosis, const std::string& folder);

}  // namespace opdrift::diagnose::flow
