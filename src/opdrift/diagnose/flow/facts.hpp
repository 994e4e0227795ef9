#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/graph/atc_options.hpp"

/// What is known about the runs of a network, and all that the decision flow looks at:
///
///   runs     role -> verdict, cosine of the net outputs, digest of the inputs
///   compare  "<candidate>.vs.<reference>" -> operators in execution order
///   options  of the atc command that built the base run
///   boundary, export, aipp, repeat, bisect   the evidence of single steps
///
/// Roles: base (what fails), high (high precision), mixed_<k> (base and the keep list of round k),
/// nobuf, noreuse, nofuse, noaipp, noquant, golden, framework.
namespace opdrift::diagnose::flow {

enum class Verdict : std::uint8_t { unknown, pass, fail };

std::string_view to_string(Verdict verdict);

struct RunFacts {
  Verdict verdict = Verdict::unknown;   ///< as the task's own metric says
  std::optional<double> output_cosine;  ///< the worst net output against the golden
  std::string input_digest;             ///< "" unknown; runs of one input have one digest
};

/// Numbers beside an operator. Absent: not measured.
struct OperatorNumbers {
  std::optional<double> ref_absmax;     ///< largest |value| of the outputs, reference run
  std::optional<double> cand_absmax;    ///< the same, candidate
  std::optional<double> flushed_share;  ///< |ref| below the smallest normal number, candidate 0
  std::optional<double> ref_min;
  std::optional<double> ref_max;
  std::optional<double> cand_min;
  std::optional<double> cand_max;
  std::optional<double> max_abs;        ///< largest |candidate - reference|
  std::optional<double> relative_l2;    ///< of the worst output
  std::optional<double> over_65504;     ///< elements of the reference beyond float16
  std::optional<double> saturated;      ///< share of the candidate's elements equal to +-65504
  std::optional<double> nonfinite;      ///< elements of the candidate that are NaN or infinite
  std::optional<double> ref_in_absmax;  ///< largest |value| of the inputs, reference run
};

/// A number of an operator and its name in JSON.
struct NumberField {
  std::string_view name;
  std::optional<double> OperatorNumbers::*value;
};

/// All of OperatorNumbers, in the order of reports.
inline constexpr NumberField kNumberFields[] = {
    {"max_abs", &OperatorNumbers::max_abs},
    {"relative_l2", &OperatorNumbers::relative_l2},
    {"ref_min", &OperatorNumbers::ref_min},
    {"ref_max", &OperatorNumbers::ref_max},
    {"cand_min", &OperatorNumbers::cand_min},
    {"cand_max", &OperatorNumbers::cand_max},
    {"ref_absmax", &OperatorNumbers::ref_absmax},
    {"cand_absmax", &OperatorNumbers::cand_absmax},
    {"over_65504", &OperatorNumbers::over_65504},
    {"saturated", &OperatorNumbers::saturated},
    {"flushed_share", &OperatorNumbers::flushed_share},
    {"nonfinite", &OperatorNumbers::nonfinite},
    {"ref_in_absmax", &OperatorNumbers::ref_in_absmax},
};

/// One operator of a comparison. A cosine is NaN where there is no number; operators without a
/// counterpart have no cosine at all.
struct OperatorFacts {
  std::string op;
  std::string type;
  std::vector<std::string> original;  ///< of the framework's graph; the own name when not given
  std::vector<double> cos_in;
  std::vector<double> cos_out;
  OperatorNumbers numbers;
  bool constant = false;  ///< a Const, or an initializer
  bool quant = false;     ///< a quantiser
  std::string dtype;      ///< of the first output, as the graph says
  std::vector<std::string> passes;
  std::vector<std::string> places;   ///< where the outputs differ, in words
  std::vector<std::string> foreign;  ///< what they hold of other tensors, in words
};

using OperatorList = std::vector<OperatorFacts>;

struct BoundaryFacts {
  std::optional<double> input_cosine;  ///< online against offline, same original data
  std::optional<double> output_cosine;
  std::optional<bool> input_close;    ///< not merely alike: no other scale or offset
  std::vector<std::string> findings;  ///< of the input classifier
};

struct RepeatFacts {
  bool identical = true;
  std::string first_difference;  ///< operator, or what was found; "" unknown
  bool unrelated = false;        ///< the values look like those of another tensor
};

struct BisectFacts {
  std::vector<std::string> interval;  ///< operators, both ends
  std::optional<bool> single_op_ok;   ///< the single operator alone is good
};

/// A step's result that evidence brings along, e.g. of a dump that is not complete.
struct EvidenceNote {
  std::string id;
  std::string result;
};

struct Facts {
  std::map<std::string, RunFacts> runs;
  std::map<std::string, OperatorList> compare;
  graph::AtcOptions options;
  std::optional<BoundaryFacts> boundary;
  std::optional<double> export_cosine;
  std::vector<std::string> export_findings;
  std::vector<std::string> export_faults;  ///< findings that make it another model
  std::optional<double> aipp_input_cosine;
  std::optional<bool> aipp_input_close;  ///< as BoundaryFacts::input_close
  std::vector<std::string> aipp_findings;
  std::vector<std::string> keep;  ///< keep list so far, original names
  std::optional<RepeatFacts> repeat;
  std::optional<BisectFacts> bisect;
  std::vector<EvidenceNote> notes;
  std::string golden_model;  ///< file of the golden; "" unknown
  std::string device_soc;    ///< chip the dumps were made on; "" unknown
};

/// "base.vs.high", the key of a comparison.
std::string pair_key(std::string_view candidate, std::string_view reference);

}  // namespace opdrift::diagnose::flow
