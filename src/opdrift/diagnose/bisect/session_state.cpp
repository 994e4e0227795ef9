#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/shell_words.hpp"
#include "opdrift/base/stable_hash.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/bisect/cut_plan.hpp"
#include "opdrift/diagnose/bisect/output_rule.hpp"
#include "opdrift/diagnose/bisect/session.hpp"
#include "opdrift/diagnose/bisect/session_files.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::diagnose {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "opdrift.bisect";
constexpr int kVersion = 1;

Json to_json(const SessionState& state) {
  Json probes = Json::array();
  for (const SessionProbe& probe : state.probes) {
    probes.push_back({{"cut", probe.cut},
                      {"outcome", to_string(probe.outcome)},
                      {"reason", probe.reason},
                      {"from", probe.from}});
  }
  const SessionOptions& options = state.options;
  return {{"schema", kSchema},
          {"schema_version", kVersion},
          {"model", options.model},
          {"model_hash", state.model_hash},
          {"golden", options.golden},
          {"start", options.start},
          {"end", options.end},
          {"direction", to_string(options.direction)},
          {"rule", options.rule},
          {"atc", options.atc},
          {"onnxruntime", options.library},
          {"cuts", state.cuts},
          {"probes", std::move(probes)}};
}

Status write_state(const SessionState& state) {
  const std::string text = to_json(state).dump(1, ' ', false, Json::error_handler_t::replace);
  return io::write_file(state_path(state.options.folder), text + "\n");
}

Error bad_state(const std::string& path, const std::string& what) {
  return Error{ErrorCode::bad_json, "not a state of opdrift bisect: " + what, path};
}

Result<SessionProbe> probe_of(const Json& json, const std::string& path) {
  SessionProbe probe;
  if (!json.is_object()) {
    return bad_state(path, "a probe is no object");
  }
  probe.cut = json_text(json, "cut");
  probe.reason = json_text(json, "reason");
  probe.from = json_text(json, "from");
  const std::optional<Outcome> outcome = outcome_by_name(json_text(json, "outcome"));
  if (!outcome) {
    return bad_state(path, "a probe has no outcome");
  }
  probe.outcome = *outcome;
  return probe;
}

}  // namespace

std::string state_path(const std::string& folder) {
  return folder + "/state.json";
}

Result<std::string> hash_of_file(const std::string& path) {
  OPDRIFT_TRY(const Bytes file, map_file(path));
  return std::to_string(stable_hash(as_text(file.span)));
}

Result<SessionState> start_session(const SessionOptions& options) {
  std::error_code failed;
  if (fs::exists(state_path(options.folder), failed)) {
    return Error{ErrorCode::invalid_argument,
                 "a search is under way here; 'opdrift bisect reset' ends it", options.folder};
  }
  SessionState state;
  state.options = options;
  state.options.model = fs::absolute(options.model, failed).string();
  state.options.golden =
      options.golden.empty() ? "" : fs::absolute(options.golden, failed).string();
  OPDRIFT_CHECK_OK(OutputRule::parse(options.rule));
  OPDRIFT_TRY(const engine::Workpiece piece, engine::open_workpiece(options.model));
  OPDRIFT_TRY(const CutPlan plan, CutPlan::create(piece, options.start, options.end));
  for (const std::size_t stop : plan.stops(options.direction)) {
    state.cuts.push_back(piece.graph.name(plan.order()[stop]));
  }
  OPDRIFT_TRY(state.model_hash, hash_of_file(options.model));
  fs::create_directories(options.folder, failed);
  if (failed) {
    return Error{ErrorCode::write_failed, "cannot make the folder: " + failed.message(),
                 options.folder};
  }
  OPDRIFT_CHECK_OK(write_state(state));
  return state;
}

Result<SessionState> open_session(const std::string& folder) {
  const std::string path = state_path(folder);
  std::error_code failed;
  if (!fs::exists(path, failed)) {
    return Error{ErrorCode::not_found, "no search was started here; 'opdrift bisect start' does",
                 folder};
  }
  OPDRIFT_TRY(const Bytes file, map_file(path));
  OPDRIFT_TRY(const Json json, parse_json<Json>(as_text(file.span), path));
  if (!json.is_object() || json_text(json, "schema") != kSchema) {
    return bad_state(path, "expected the schema " + std::string(kSchema));
  }
  SessionState state;
  state.options = {folder,
                   json_text(json, "model"),
                   json_text(json, "golden"),
                   json_text(json, "start"),
                   json_text(json, "end"),
                   direction_by_name(json_text(json, "direction")).value_or(Direction::suffix),
                   json_text(json, "rule"),
                   json_text(json, "atc"),
                   json_text(json, "onnxruntime")};
  state.model_hash = json_text(json, "model_hash");
  for (const Json& cut : json.value("cuts", Json::array())) {
    if (!cut.is_string()) {
      return bad_state(path, "a cut is no text");
    }
    state.cuts.push_back(cut.get<std::string>());
  }
  if (state.cuts.empty()) {
    return bad_state(path, "it has no cuts");
  }
  for (const Json& probe : json.value("probes", Json::array())) {
    OPDRIFT_TRY(SessionProbe read, probe_of(probe, path));
    state.probes.push_back(std::move(read));
  }
  return state;
}

Result<Search> search_of(const SessionState& state) {
  Search search(state.options.direction, state.cuts.size());
  for (const SessionProbe& probe : state.probes) {
    const auto cut = std::find(state.cuts.begin(), state.cuts.end(), probe.cut);
    if (cut == state.cuts.end()) {
      return Error{ErrorCode::not_found, "the search has no cut at '" + printable(probe.cut) + "'",
                   state_path(state.options.folder)};
    }
    search.record(static_cast<std::size_t>(cut - state.cuts.begin()), probe.outcome);
  }
  return search;
}

Status record_probe(SessionState& state, SessionProbe probe) {
  if (std::find(state.cuts.begin(), state.cuts.end(), probe.cut) == state.cuts.end()) {
    const std::vector<std::string_view> names(state.cuts.begin(), state.cuts.end());
    return Error{ErrorCode::not_found, "the search has no cut at '" + printable(probe.cut) + "'" +
                                           did_you_mean(probe.cut, names)};
  }
  state.probes.push_back(std::move(probe));
  return write_state(state);
}

std::string replay_script(const SessionState& state) {
  const SessionOptions& options = state.options;
  std::vector<std::string> words = {
      "opdrift",  "bisect",       "start",       options.model,
      "--golden", options.golden, "--direction", std::string(to_string(options.direction))};
  for (const auto& [flag, value] :
       {std::pair("--start", &options.start), std::pair("--end", &options.end),
        std::pair("--rule", &options.rule), std::pair("--atc", &options.atc)}) {
    if (!value->empty()) {
      words.insert(words.end(), {flag, *value});
    }
  }
  std::string text = shell_command(words) + "\n";
  for (const SessionProbe& probe : state.probes) {
    text += shell_command(
        {"opdrift", "bisect", std::string(to_string(probe.outcome)), "--cut", probe.cut});
    text += probe.reason.empty() ? "\n" : "  # " + printable(probe.reason) + "\n";
  }
  return text;
}

Status reset_session(const std::string& folder) {
  OPDRIFT_CHECK_OK(open_session(folder));
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name == "state.json" || (name.starts_with("probe_") && is_digits(name.substr(6)))) {
      std::error_code ignored;
      fs::remove_all(entry->path(), ignored);
    }
  }
  std::error_code ignored;
  fs::remove(folder, ignored);  // unless something else lies in it
  return Unit{};
}

}  // namespace opdrift::diagnose
