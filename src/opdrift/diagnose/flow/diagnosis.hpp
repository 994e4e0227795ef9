#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/diagnose/flow/facts.hpp"

/// What the decision flow answers.
namespace opdrift::diagnose::flow {

enum class Conclusion : std::uint8_t {
  nondeterministic,
  bad_evidence,
  preprocess,
  postprocess,
  exporting,
  overflow,
  overflow_const,
  underflow,
  precision,
  buffer,
  memory,
  fusion,
  aipp,
  quant,
  single_operator,
  accumulated,
  sensitive,
  clean,
  unlocated,
};

/// Code of a conclusion ("OVERFLOW_CONST") and what it means in one sentence.
std::string_view code_of(Conclusion conclusion);
std::string_view meaning_of(Conclusion conclusion);

enum class Confidence : std::uint8_t {
  suspected,
  strong,  ///< numbers of two dumps
  proved,  ///< a run with one thing changed passes
};

std::string_view to_string(Confidence confidence);

/// A file to write beside the report; commands refer to it by this name.
struct GeneratedFile {
  std::string name;
  std::string content;
};

struct BlamedOperator {
  OperatorFacts facts;
  std::string class_name;  ///< of classes.hpp; "" where none was computed
};

/// What repairs or works around it.
struct Fix {
  std::string kind;  ///< "keep_dtype", "customize_dtypes", "model", "option" ...
  std::string text;
  std::optional<GeneratedFile> file;
};

/// The next experiment. `role` is what to run: a role of facts.hpp, "dump A.vs.B" or "bisect".
struct NextStep {
  std::string role;
  std::string why;
  std::string command;
  std::vector<GeneratedFile> files;
};

struct Check {
  std::string id;  ///< "C1", "A", "P" ...
  std::string result;
};

struct Diagnosis {
  std::optional<Conclusion> conclusion;  ///< nothing: not decided yet, see `next`
  Confidence confidence = Confidence::suspected;
  char step = 'C';  ///< where the flow ended
  std::vector<BlamedOperator> operators;
  std::vector<Fix> fixes;
  std::vector<NextStep> next;  ///< what to do first comes first
  std::vector<Check> checks;
};

/// 0 CLEAN, 1 a problem was found, 2 the evidence does not suffice, 3 bad evidence.
int exit_status(const Diagnosis& diagnosis);

}  // namespace opdrift::diagnose::flow
