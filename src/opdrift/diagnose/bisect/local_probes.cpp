#include "opdrift/diagnose/bisect/local_probes.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/bisect/probe_files.hpp"
#include "opdrift/diagnose/bisect/user_check.hpp"
#include "opdrift/engine/dump_store.hpp"
#include "opdrift/engine/surgery/inline_branches.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::diagnose {

namespace {

using engine::NamedTensor;
using engine::NodeSet;
using engine::RunValue;
using engine::Workpiece;
using Names = std::vector<std::string>;
using Values = std::map<std::string, RunValue>;

/// Errors that say something about one part, not about the whole search.
bool concerns_part(const Error& error) {
  return error.code != ErrorCode::cancelled && error.code != ErrorCode::not_found &&
         error.code != ErrorCode::write_failed && error.code != ErrorCode::out_of_memory;
}

/// For every node of `golden`, the node of `target` with the same name and outputs.
Result<std::vector<std::size_t>> same_nodes(const Workpiece& golden, const Workpiece& target) {
  std::unordered_map<std::string_view, std::size_t> by_output;
  for (std::size_t node = 0; node < target.graph.size(); ++node) {
    for (const std::string& value : target.node(node).outputs) {
      by_output.emplace(value, node);
    }
  }
  std::vector<std::size_t> same;
  for (std::size_t node = 0; node < golden.graph.size(); ++node) {
    const std::vector<std::string>& outputs = golden.node(node).outputs;
    const auto found = outputs.empty() ? by_output.end() : by_output.find(outputs.front());
    if (found == by_output.end() || target.node(found->second).outputs != outputs) {
      return Error{ErrorCode::mismatch,
                   "expected two models with the same operators and values; the target has no "
                   "counterpart of operator '" +
                       printable(golden.graph.name(node)) + "'",
                   target.placed.model.path};
    }
    same.push_back(found->second);
  }
  return same;
}

}  // namespace

class LocalProbes::State {
 public:
  State(const LocalOptions& options, engine::WorkFolder work)
      : options_(options), work_(std::move(work)) {}

  Status open() {
    OPDRIFT_TRY(runtime_, engine::Runtime::load(options_.library));
    OPDRIFT_TRY(io::onnx::Model model, io::onnx::open_model(options_.model));
    OPDRIFT_TRY(engine::ModelInputs inputs, engine::make_inputs(model.graph, options_.inputs));
    inputs_ = std::move(inputs.tensors);
    OPDRIFT_TRY(golden_, open_side(std::move(model)));
    OPDRIFT_TRY(plan_, CutPlan::create(golden_, options_.start, options_.end));
    if (options_.target_model.empty()) {
      target_ = golden_;
    } else {
      OPDRIFT_TRY(io::onnx::Model other, io::onnx::open_model(options_.target_model));
      OPDRIFT_TRY(target_, open_side(std::move(other)));
    }
    OPDRIFT_TRY(same_, same_nodes(golden_, target_));
    OPDRIFT_TRY(finals_, golden_values(plan_.finals()));
    return Unit{};
  }

  Result<ProbeResult> probe(const NodeSet& target_nodes) {
    if (options_.cancel != nullptr && options_.cancel->cancelled()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    ++probes_;
    Result<ProbeResult> result = try_probe(split_off(golden_, plan_, target_nodes));
    if (!result && !check_failed_ && concerns_part(result.error())) {
      return ProbeResult{Outcome::skip, result.error().message};
    }
    return result;
  }

  Result<ProbeResult> probe_kept(const engine::KeptOperators& keep) {
    if (options_.cancel != nullptr && options_.cancel->cancelled()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    ++probes_;
    if (!options_.check.empty()) {
      return check_kept(keep);
    }
    const NodeSet all = upstream(target_.graph, plan_.ends());
    OPDRIFT_TRY(const Values values, run(target_, all, plan_.finals(), {}, options_.target, keep));
    return judge(values);
  }

  const Workpiece& piece() const { return golden_; }
  const CutPlan& plan() const { return plan_; }

 private:
  /// A model without the branches that these inputs do not take.
  Result<Workpiece> open_side(io::onnx::Model model) {
    const std::string path = model.path;
    engine::PlacedModel placed{std::move(model), io::onnx::folder_of_model(path)};
    OPDRIFT_CHECK_OK(engine::inline_taken_branches(*runtime_, placed, inputs_));
    return io::in_file(engine::prepare(std::move(placed)), path);
  }

  Result<ProbeResult> try_probe(const Split& split) {
    Names wanted = split.to_target;
    wanted.insert(wanted.end(), split.rest_reads.begin(), split.rest_reads.end());
    OPDRIFT_TRY(Values known, golden_values(wanted));
    if (!options_.check.empty()) {
      return check(split, known);
    }
    Names made = split.to_rest;
    made.insert(made.end(), split.target_finals.begin(), split.target_finals.end());
    std::sort(made.begin(), made.end());
    made.erase(std::unique(made.begin(), made.end()), made.end());
    OPDRIFT_TRY(Values values,
                run(target_, mapped(split.target), made, known, options_.target, {}));
    if (!split.rest_finals.empty()) {
      Values fed = known;
      for (const std::string& name : split.to_rest) {
        fed[name] = values[name];
      }
      OPDRIFT_TRY(Values rest,
                  run(golden_, split.rest, split.rest_finals, fed, options_.golden, {}));
      values.merge(rest);
    }
    return judge(values);
  }

  NodeSet mapped(const NodeSet& nodes) const {
    NodeSet other(nodes.size(), false);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if (nodes[node]) {
        other[same_[node]] = true;
      }
    }
    return other;
  }

  /// Values of the golden network, computed from its inputs.
  Result<Values> golden_values(const Names& names) {
    if (names.empty()) {
      return Values{};
    }
    std::vector<std::size_t> makers;
    for (const std::string& name : names) {
      makers.push_back(*golden_.graph.producer(name));
    }
    return run(golden_, upstream(golden_.graph, makers), names, {}, options_.golden, {});
  }

  Result<Values> run(const Workpiece& piece, const NodeSet& nodes, const Names& outputs,
                     const Values& known, const engine::RunSettings& settings,
                     const engine::KeptOperators& keep) {
    OPDRIFT_TRY(PartRun part, prepare_part(piece, nodes, outputs, inputs_, known));
    const bool own_target = &piece == &target_ && !options_.target_model.empty();
    OPDRIFT_TRY(std::vector<RunValue> values,
                io::in_file(engine::run_model(*runtime_, std::move(part.placed), settings,
                                              std::move(part.inputs), outputs, work_.path(), keep),
                            own_target ? options_.target_model : options_.model));
    Values named;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      named.emplace(outputs[i], std::move(values[i]));
    }
    return named;
  }

  Result<ProbeResult> judge(const Values& values) {
    ProbeResult result{Outcome::good, "unaffected"};
    for (const auto& [name, value] : values) {
      const auto golden = finals_.find(name);
      if (golden == finals_.end()) {
        continue;
      }
      if (!golden->second.tensor || !value.tensor) {
        return ProbeResult{Outcome::skip, "output '" + printable(name) + "' is no tensor"};
      }
      OPDRIFT_TRY(const OutputRule::Judged judged,
                  options_.rule.judge(*golden->second.tensor, *value.tensor));
      const std::string reason = printable(name) + ": " + judged.reason;
      if (!judged.good) {
        return ProbeResult{Outcome::bad, reason};
      }
      result.reason = reason;
    }
    return result;
  }

  Result<ProbeResult> check(const Split& split, const Values& known) {
    const std::string folder = work_.path() + "/probe_" + std::to_string(probes_);
    Names outputs = split.to_rest;
    outputs.insert(outputs.end(), split.target_finals.begin(), split.target_finals.end());
    OPDRIFT_TRY(const PartRun part,
                prepare_part(target_, mapped(split.target), outputs, inputs_, known));
    OPDRIFT_CHECK_OK(write_part(folder, "model.onnx", part));
    return run_check(folder, {});
  }

  Result<ProbeResult> check_kept(const engine::KeptOperators& keep) {
    const std::string folder = work_.path() + "/probe_" + std::to_string(probes_);
    const NodeSet all = upstream(target_.graph, plan_.ends());
    OPDRIFT_TRY(const PartRun part, prepare_part(target_, all, plan_.finals(), inputs_, {}));
    OPDRIFT_CHECK_OK(write_part(folder, "model.onnx", part));
    Names names(keep.begin(), keep.end());
    std::sort(names.begin(), names.end());
    names.emplace_back();
    OPDRIFT_CHECK_OK(io::write_file(folder + "/keep_dtype.cfg", join(names, "\n")));
    return run_check(folder, {{"keep", folder + "/keep_dtype.cfg"}});
  }

  Result<ProbeResult> run_check(const std::string& folder,
                                std::map<std::string, std::string> values) {
    values.emplace("model", folder + "/model.onnx");
    values.emplace("inputs", folder + "/inputs");
    values.emplace("dir", folder);
    const Result<Outcome> outcome =
        run_user_check(options_.check, values, work_.path() + "/check.log", options_.cancel);
    if (!outcome) {
      check_failed_ = true;
      return outcome.error();
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return ProbeResult{*outcome, "said by the check"};
  }

  LocalOptions options_;
  engine::WorkFolder work_;
  Workpiece golden_;
  Workpiece target_;
  std::vector<std::size_t> same_;  // nodes of target_ by node of golden_
  CutPlan plan_;
  std::shared_ptr<engine::Runtime> runtime_;
  std::vector<NamedTensor> inputs_;
  Values finals_;  // golden
  std::size_t probes_ = 0;
  bool check_failed_ = false;  // ends the search, whatever part it was about
};

LocalProbes::LocalProbes(std::unique_ptr<State> state) : state_(std::move(state)) {}
LocalProbes::~LocalProbes() = default;

Result<std::unique_ptr<LocalProbes>> LocalProbes::create(const LocalOptions& options) {
  std::error_code failed;
  const std::string parent = std::filesystem::temp_directory_path(failed).string();
  OPDRIFT_TRY(engine::WorkFolder work, engine::WorkFolder::create(failed ? "." : parent));
  auto state = std::make_unique<State>(options, std::move(work));
  OPDRIFT_CHECK_OK(state->open());
  return std::unique_ptr<LocalProbes>(new LocalProbes(std::move(state)));
}

const engine::Workpiece& LocalProbes::piece() const {
  return state_->piece();
}

const CutPlan& LocalProbes::plan() const {
  return state_->plan();
}

Result<ProbeResult> LocalProbes::probe(const engine::NodeSet& target_nodes) {
  return state_->probe(target_nodes);
}

Result<ProbeResult> LocalProbes::probe_kept(const engine::KeptOperators& keep) {
  return state_->probe_kept(keep);
}

}  // namespace opdrift::diagnose
