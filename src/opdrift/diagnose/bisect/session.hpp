#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/bisect/search.hpp"

/// A bisection as a dialogue, for parts that only a device can run. Its folder holds
///
///   state.json      {"schema": "opdrift.bisect", "schema_version": 1, "model", "model_hash",
///                    "golden", "start", "end", "direction", "rule", "atc",
///                    "cuts": [operator], "probes": [{"cut", "outcome", "reason", "from"}]}
///   probe_<n>/      what the n-th probe needs: device.onnx, inputs/*.bin, commands.sh, and for a
///                   prefix golden.onnx, which goes on from the device's values
///
/// The state follows from the probes alone: whoever repeats them gets the same questions.
/// state.json is replaced whole, so an interrupted command loses nothing.
namespace opdrift::diagnose {

struct SessionOptions {
  std::string folder;  ///< for state and probes
  std::string model;
  std::string golden;  ///< folder with the golden tensors
  std::string start;
  std::string end;
  Direction direction = Direction::suffix;
  std::string rule;     ///< see OutputRule
  std::string atc;      ///< options every atc command of this search gets
  std::string library;  ///< of ONNX Runtime, which runs golden parts
};

/// A probe that was answered.
struct SessionProbe {
  std::string cut;
  Outcome outcome = Outcome::skip;
  std::string reason;
  std::string from;  ///< the results that were judged, "" when somebody said so
};

struct SessionState {
  SessionOptions options;
  std::string model_hash;
  std::vector<std::string> cuts;
  std::vector<SessionProbe> probes;
};

/// What to do next.
struct SessionStep {
  std::string cut;                 ///< "" when the search is over
  std::string folder;              ///< of the probe's files, "" when they were not to be written
  std::vector<std::string> files;  ///< that were written
  SearchAnswer answer;
};

/// Writes a new state. Fails with invalid_argument when the folder holds one already, and as
/// opening the model and finding its cut points do.
Result<SessionState> start_session(const SessionOptions& options);

/// Fails with not_found (no search was started there) or bad_json.
Result<SessionState> open_session(const std::string& folder);

/// The next probe. With `write` its files are made; fails with not_found when golden tensors are
/// missing (`skip` goes on then) and with mismatch when the model changed since the start.
Result<SessionStep> next_step(const SessionState& state, bool write);

/// The files for a probe at a cut of the caller's choice. Fails as next_step, and with not_found.
Result<SessionStep> probe_at(const SessionState& state, const std::string& cut);

/// The probes so far as commands that repeat them in another folder.
std::string replay_script(const SessionState& state);

/// Judges results: a folder, or a file of the target and one of the golden. For a prefix whose
/// final outputs are not among them the golden rest is run here. Fails when they cannot be found or
/// read.
Result<SessionProbe> judge_results(const SessionState& state, const std::string& cut,
                                   const std::vector<std::string>& from);

/// Adds an answer for a cut and writes the state. Fails with not_found for a cut the search has
/// not.
Status record_probe(SessionState& state, SessionProbe probe);

/// Removes the state and the probes' files.
Status reset_session(const std::string& folder);

}  // namespace opdrift::diagnose
