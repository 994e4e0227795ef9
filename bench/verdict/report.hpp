#pragma once

#include <string>
#include <vector>

#include "evaluation.hpp"

/// results.md and the log of every label.
namespace opdrift::evaluation {

struct Results {
  std::string runtime_version;
  std::vector<CleanRow> clean;
  std::vector<FaultRow> faults;
  std::vector<std::string> failures;  ///< networks that could not be evaluated
};

/// The tables as Markdown.
std::string markdown(const Results& results);

/// One line per tensor of every clean run and one per fault, separated by tabs:
///
///   clean  network  variant  value  type  JUDGEMENT  genuine  sentence
///   fault  network  format   value  type  JUDGEMENT  kind  above  first  others  named  sentence
///
///   JUDGEMENT = label  tier  cause  q_own  z  q1  z1  own  rho  depth  inherited  relative
std::string log_lines(const Results& results);

}  // namespace opdrift::evaluation
