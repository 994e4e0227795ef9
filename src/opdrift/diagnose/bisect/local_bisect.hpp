#pragma once

#include <functional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/bisect/local_probes.hpp"
#include "opdrift/diagnose/bisect/search.hpp"

/// A bisection that runs every probe here and ends with the answer.
namespace opdrift::diagnose {

/// One probe, told when it is done.
struct ProbeStep {
  std::string node;  ///< the part begins (suffix) or ends (prefix) here
  ProbeResult result;
  bool inside = false;  ///< between two cut points
};

struct LocalBisectOptions {
  LocalOptions local;
  Direction direction = Direction::suffix;
  bool inside = true;  ///< go on between the two cut points that are left
  std::function<void(const ProbeStep&)> progress;
};

/// An operator the answer is among.
struct Suspect {
  std::string name;
  std::string dump_name;  ///< what dumps call it; the same for operators with a name
  std::string type;
};

/// A node as an operator of an answer.
Suspect suspect(const engine::Workpiece& piece, std::size_t node);

struct LocalBisectReport {
  ProbeResult whole;          ///< everything run as target; without a bad one nothing was searched
  std::size_t operators = 0;  ///< that were searched
  std::vector<std::string> cuts;
  std::vector<ProbeStep> steps;
  std::vector<Suspect> suspects;  ///< one when the search came to its end
  std::vector<std::string> notes;
};

/// Fails as LocalProbes does.
Result<LocalBisectReport> bisect_locally(const LocalBisectOptions& options);

}  // namespace opdrift::diagnose
