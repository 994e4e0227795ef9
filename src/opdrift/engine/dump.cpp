#include "opdrift/engine/dump.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "opdrift/base/pattern.hpp"
#include "opdrift/base/stable_hash.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/engine/dump_names.hpp"
#include "opdrift/engine/dump_store.hpp"
#include "opdrift/engine/instrument.hpp"
#include "opdrift/engine/manifest.hpp"
#include "opdrift/engine/optimised_model.hpp"
#include "opdrift/engine/output_check.hpp"
#include "opdrift/engine/tapped_session.hpp"
#include "opdrift/engine/taps.hpp"
#include "opdrift/engine/wanted_values.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;
using onnx::ValueInfo;
using onnx::ValueKind;

std::uint64_t now_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

/// Adds the values inside the bodies of `node`. They exist once per iteration or not at all, so
/// they are listed only.
void list_body_values(const onnx::Node& node, const onnx::Node& outer,
                      std::vector<SkippedOutput>& out) {
  for (const onnx::Attribute& attribute : node.attributes) {
    for (const auto& body : attribute.graphs) {
      for (const onnx::Node& inner : body->nodes) {
        for (const std::string& output : inner.outputs) {
          if (!output.empty()) {
            out.push_back({inner.name.empty() ? inner.op_type : inner.name, output,
                           "inside a body of " + outer.op_type + " '" + outer.name + "'"});
          }
        }
        list_body_values(inner, outer, out);
      }
    }
  }
}

/// One dump from options to report.
class Dumper {
 public:
  Dumper(const DumpOptions& options, DumpStore store, std::uint64_t time_us)
      : options_(options), store_(std::move(store)) {
    content_.time_us = time_us;
    report_.folder = store_.folder();
    session_.provider = options.provider;
    session_.threads = options.threads;
    session_.optimization = options.session_optimization;
  }

  Result<DumpReport> run() {
    tell("loading");
    OPDRIFT_CHECK_OK(load());
    OPDRIFT_CHECK_OK(optimise());
    // As soon as possible, so that no two sessions hold the weights longer than needed.
    const bool reduced = options_.precision != Precision::fp32;
    OPDRIFT_CHECK_OK(reduced ? Status(Unit{}) : run_plain());
    OPDRIFT_CHECK_OK(choose());
    OPDRIFT_CHECK_OK(reduced ? reduce_precision() : Status(Unit{}));
    OPDRIFT_CHECK_OK(reduced ? run_plain() : Status(Unit{}));
    OPDRIFT_CHECK_OK(write_inputs());
    OPDRIFT_CHECK_OK(run_values());
    return finish();
  }

 private:
  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->cancelled(); }

  void tell(std::string_view stage) const {
    if (options_.progress) {
      options_.progress({stage, written_, wanted(), store_.bytes()});
    }
  }

  Result<std::string> work_folder() {
    if (!work_) {
      OPDRIFT_TRY(WorkFolder work, WorkFolder::create(store_.folder()));
      work_ = std::make_unique<WorkFolder>(std::move(work));
    }
    return work_->path();
  }

  Status load() {
    OPDRIFT_TRY(given_, onnx::open_model(options_.model));
    OPDRIFT_TRY(const Bytes file, map_file(options_.model));
    content_.content_hash = stable_hash(as_text(file.span));
    OPDRIFT_TRY(runtime_, Runtime::load(options_.library));
    report_.library_version = runtime_->version();
    report_.library_path = runtime_->library_path();
    content_.api_version = runtime_->api_version();
    placed_ = {given_, onnx::folder_of_model(options_.model)};
    nameless_ = name_nodes(placed_.model);
    named_ = placed_.model;
    OPDRIFT_TRY(inputs_, make_inputs(given_.graph, options_.inputs));
    for (const auto& [name, extent] : inputs_.chosen) {
      note("open extent '" + printable(name) + "' was taken as " + std::to_string(extent) +
           " (--dim sets it)");
    }
    round_inputs(options_.precision, inputs_.tensors);
    return Unit{};
  }

  void note(std::string text) { report_.notes.push_back(std::move(text)); }

  /// Lets ONNX Runtime rewrite the graph and goes on with what it made.
  Status optimise() {
    if (options_.optimization == Optimization::none) {
      return Unit{};
    }
    OPDRIFT_TRY(const std::string work, work_folder());
    SessionOptions options = session_;
    options.optimization = options_.optimization;
    options.disabled_optimizers = options_.disabled_optimizers;
    options.save_optimized = work + "/optimized.onnx";
    OPDRIFT_TRY(plain_, nameless_ == 0 ? runtime_->open_file(options_.model, options)
                                       : open_model(*runtime_, placed_, options));
    if (options_.precision != Precision::fp32) {
      plain_.reset();  // it will be the rounded model that is compared
    }
    OPDRIFT_TRY(placed_.model, open_optimised_model(options.save_optimized));
    placed_.folder = work;
    name_nodes(placed_.model);
    originals_ = originals_of(placed_.model.graph, named_.graph);
    rename_added(placed_.model.graph, named_.graph, originals_);
    if (options_.optimization == Optimization::all) {
      note("optimisation 'all' may block channels: values named reorder* are in that layout");
    }
    return Unit{};
  }

  /// Describes what runs and picks the values to write.
  Status choose() {
    fix_input_shapes(placed_.model, inputs_.tensors);
    for (const onnx::Node& node : placed_.model.graph.nodes) {
      list_body_values(node, node, report_.skipped);
    }
    bodies_ = report_.skipped.size();
    describe_operators();
    // Learning types costs a session, so it is left out where all values are tensors.
    if (options_.precision != Precision::fp32 || may_hold_other_kinds(placed_.model)) {
      OPDRIFT_CHECK_OK(learn_types());
    }
    return pick();
  }

  Status learn_types() {
    std::vector<std::string> names;
    for (const NodeOutput& output : node_outputs(placed_.model.graph)) {
      names.push_back(output.tensor);
    }
    PlacedModel exposed = placed_;
    expose(exposed.model, names);
    OPDRIFT_TRY(const auto session, open_model(*runtime_, exposed, session_));
    for (const ValueInfo& info : session->outputs()) {
      types_.emplace(info.name, info);
      if (info.kind == ValueKind::tensor && info.element_type == 1) {
        wide_outputs_.insert(info.name);
      }
    }
    return Unit{};
  }

  Status pick() {
    std::optional<Pattern> only;
    if (!options_.only.empty()) {
      OPDRIFT_TRY(only, Pattern::compile("--only", options_.only));
    }
    tapped_.clear();
    fetched_.clear();
    report_.skipped.resize(bodies_);
    for (const NodeOutput& output : node_outputs(placed_.model.graph)) {
      consider(output, only);
    }
    if (tapped_.empty() && fetched_.empty() && only) {
      return Error{ErrorCode::invalid_argument,
                   "--only '" + printable(options_.only) + "' matches no operator and no value"};
    }
    return Unit{};
  }

  void consider(const NodeOutput& output, const std::optional<Pattern>& only) {
    const onnx::Node& node = placed_.model.graph.nodes[output.node];
    DumpedValue& value = content_.operators[output.node].outputs[output.index];
    value.skipped.clear();
    if (only && !only->found_in(node.name) && !only->found_in(output.tensor)) {
      value.skipped = "not asked for (--only)";
      return;
    }
    const auto type = types_.find(output.tensor);
    if (type == types_.end()) {
      tapped_.push_back(output);
    } else if (std::string reason = unwritable_reason(type->second); !reason.empty()) {
      skip(output, std::move(reason));
    } else {
      const bool seen =
          type->second.kind == ValueKind::tensor && tappable(type->second.element_type);
      (seen ? tapped_ : fetched_).push_back(output);
    }
  }

  void skip(const NodeOutput& output, std::string reason) {
    content_.operators[output.node].outputs[output.index].skipped = reason;
    report_.skipped.push_back(
        {placed_.model.graph.nodes[output.node].name, output.tensor, std::move(reason)});
  }

  void describe_operators() {
    const onnx::Graph& graph = placed_.model.graph;
    const bool rewritten = options_.optimization != Optimization::none;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      ManifestOperator op;
      for (const std::string& output : graph.nodes[i].outputs) {
        op.outputs.emplace_back().tensor = output;
      }
      if (rewritten) {
        for (const std::size_t original : originals_[i]) {
          op.originals.push_back(named_.graph.nodes[original].name);
        }
      } else {
        op.originals = {graph.nodes[i].name};
      }
      content_.operators.push_back(std::move(op));
      stems_.push_back(store_.names().claim_stem(graph.nodes[i].name));
    }
    report_.operators = graph.nodes.size();
    shown_ = placed_.model;
    for (std::size_t i = 0; i < shown_.graph.nodes.size(); ++i) {
      content_.operators[i].node = &shown_.graph.nodes[i];
    }
  }

  Status reduce_precision() {
    OPDRIFT_TRY(const std::string work, work_folder());
    OPDRIFT_TRY(const KeptOperators kept, kept_nodes());
    OPDRIFT_CHECK_OK(round_constants(placed_, options_.precision, work, kept));
    round_borders(placed_.model, options_.precision, wide_outputs_, kept);
    const bool bodies =
        std::any_of(report_.skipped.begin(), report_.skipped.end(),
                    [](const SkippedOutput& s) { return s.reason.starts_with("inside a body"); });
    if (bodies) {
      note("inside bodies of If, Loop and Scan values were not rounded");
    }
    return Unit{};
  }

  /// Nodes of the graph that runs which the keep list names. Fails with not_found for an entry that
  /// names none.
  Result<KeptOperators> kept_nodes() const {
    KeptOperators kept;
    for (const std::string& entry : options_.keep) {
      const std::size_t before = kept.size();
      for (const ManifestOperator& op : content_.operators) {
        if (entry == "OpType::" + op.node->op_type || entry == op.node->name ||
            std::find(op.originals.begin(), op.originals.end(), entry) != op.originals.end()) {
          kept.insert(op.node->name);
        }
      }
      if (kept.size() == before && !is_known(entry)) {
        return Error{ErrorCode::not_found,
                     "the keep list names '" + printable(entry) + "', which the model has not"};
      }
    }
    return kept;
  }

  bool is_known(const std::string& entry) const {
    return std::any_of(named_.graph.nodes.begin(), named_.graph.nodes.end(),
                       [&](const onnx::Node& node) {
                         return entry == node.name || entry == "OpType::" + node.op_type;
                       });
  }

  /// The final outputs of a run in which nothing else is exposed.
  Status run_plain() {
    for (const ValueInfo& output : given_.graph.outputs) {
      final_outputs_.push_back(output.name);
    }
    if (!options_.check_outputs) {
      plain_.reset();
      return Unit{};
    }
    tell("running");
    if (options_.precision != Precision::fp32) {
      OPDRIFT_TRY(plain_, open_model(*runtime_, placed_, session_));
    } else if (!plain_) {
      OPDRIFT_TRY(plain_, runtime_->open_file(options_.model, session_));
    }
    OPDRIFT_TRY(plain_values_,
                io::in_file(plain_->run(inputs_.tensors, final_outputs_), options_.model));
    plain_.reset();
    return Unit{};
  }

  Status write_inputs() {
    for (std::size_t i = 0; i < inputs_.tensors.size(); ++i) {
      const NamedTensor& input = inputs_.tensors[i];
      RunValue value;
      value.kind = ValueKind::tensor;
      value.tensor = input.tensor;
      OPDRIFT_TRY(DumpedValue dumped, store_.write(store_.names().claim_stem(input.name), 0,
                                                   input.name, value, options_.precision));
      content_.inputs.push_back({std::move(dumped), inputs_.sources[i]});
      report_.inputs.push_back({input.name, inputs_.sources[i], input.tensor.desc.shape});
    }
    return Unit{};
  }

  /// Runs the model once. Values are written while it runs but for those that no Tap can read.
  Status run_values() {
    Result<std::unique_ptr<TappedSession>> session = open_shown();
    if (!session && types_.empty()) {
      // Perhaps one of the values is no tensor after all.
      OPDRIFT_CHECK_OK(learn_types());
      OPDRIFT_CHECK_OK(pick());
      session = open_shown();
    }
    if (!session) {
      return io::in_file(session.error(), options_.model);
    }
    RunHooks hooks;
    hooks.show = [&](std::size_t tap, const RunValue& value, const RunValue&) -> Status {
      if (cancelled()) {
        return Error{ErrorCode::cancelled, "interrupted"};
      }
      return write_value(tapped_[tap], value);
    };
    tell("running");
    const auto values = (*session)->run(inputs_.tensors, fetched_names_, hooks);
    if (!values && !cancelled()) {
      return io::in_file(values.error(), options_.model);
    }
    for (std::size_t i = 0; values && i < fetched_.size() && !cancelled(); ++i) {
      OPDRIFT_CHECK_OK(write_value(fetched_[i], (*values)[i]));
    }
    if (values) {
      check_fetched(*values);
    }
    report_.complete = written_ == wanted();
    return Unit{};
  }

  std::size_t wanted() const { return tapped_.size() + fetched_.size(); }

  Result<std::unique_ptr<TappedSession>> open_shown() {
    fetched_names_.clear();
    std::unordered_set<std::string> known;
    std::vector<Tap> taps;
    for (const NodeOutput& output : tapped_) {
      known.insert(output.tensor);
      taps.push_back({output.tensor, ""});
    }
    for (const NodeOutput& output : fetched_) {
      known.insert(output.tensor);
      fetched_names_.push_back(output.tensor);
    }
    add_final_outputs(known);
    PlacedModel shown = placed_;
    expose(shown.model, fetched_names_);
    if (const std::string last = add_taps(shown.model, taps); !last.empty()) {
      fetched_names_.push_back(last);
    }
    return open_tapped(*runtime_, shown, session_);
  }

  Status write_value(const NodeOutput& output, const RunValue& value) {
    check_final_output(output.tensor, value);
    const std::uint64_t bytes = value.tensor ? value.tensor->bytes.size() : 0;
    OPDRIFT_CHECK_OK(check_space(bytes));
    OPDRIFT_TRY(DumpedValue dumped, store_.write(stems_[output.node], output.index, output.tensor,
                                                 value, options_.precision));
    ++written_;
    report_.estimated_bytes += bytes;
    if (dumped.file.empty()) {
      skip(output, dumped.skipped);
    } else {
      content_.operators[output.node].outputs[output.index] = std::move(dumped);
    }
    tell("writing");
    return Unit{};
  }

  /// Says what to do before a large value meets a full disk.
  Status check_space(std::uint64_t bytes) const {
    constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;  // asking costs a system call
    const std::uint64_t needed = options_.precision == Precision::fp32 ? bytes : bytes / 2;
    const std::uint64_t available = needed < kLarge ? needed : free_space(store_.folder());
    if (needed > available) {
      return Error{ErrorCode::write_failed,
                   "the next value has " + human_bytes(needed) + ", the disk " +
                       human_bytes(available) + " left; --only limits what is written",
                   store_.folder()};
    }
    return Unit{};
  }

  /// Fetches the final outputs that a node makes and that are not shown anyway.
  void add_final_outputs(std::unordered_set<std::string>& known) {
    if (!options_.check_outputs) {
      return;
    }
    std::unordered_set<std::string> made;
    for (const NodeOutput& output : node_outputs(shown_.graph)) {
      made.insert(output.tensor);
    }
    for (const std::string& name : final_outputs_) {
      if (made.contains(name) && known.insert(name).second) {
        fetched_names_.push_back(name);
      }
    }
  }

  void check_final_output(const std::string& name, const RunValue& value) {
    for (std::size_t i = 0; i < plain_values_.size(); ++i) {
      if (final_outputs_[i] == name) {
        checks_.emplace(i, check_output(name, plain_values_[i], value));
      }
    }
  }

  /// Checks the outputs that were fetched for that alone, and sums up.
  void check_fetched(const std::vector<RunValue>& values) {
    for (std::size_t i = fetched_.size(); i < fetched_names_.size(); ++i) {
      check_final_output(fetched_names_[i], values[i]);
    }
    for (auto& [position, check] : checks_) {
      report_.checks.push_back(std::move(check));
    }
    plain_values_.clear();
    if (!report_.outputs_equal()) {
      note("the final outputs of this run differ from those of a run without exposed values");
    }
  }

  Result<DumpReport> finish() {
    for (ManifestOperator& op : content_.operators) {
      for (DumpedValue& value : op.outputs) {
        if (value.file.empty() && value.skipped.empty()) {
          value.skipped = "the run was interrupted";
        }
      }
    }
    report_.files = store_.files();
    report_.bytes = store_.bytes();
    report_.manifest = store_.folder() + "/manifest.json";
    content_.given = &given_;
    content_.run = &shown_;
    content_.model_folder = options_.optimization == Optimization::none
                                ? onnx::folder_of_model(options_.model)
                                : (work_ ? work_->path() : store_.folder());
    OPDRIFT_CHECK_OK(store_.finish());
    OPDRIFT_CHECK_OK(
        io::write_file(report_.manifest, render_manifest(options_, report_, content_)));
    return std::move(report_);
  }

  const DumpOptions& options_;
  DumpStore store_;
  SessionOptions session_;
  std::shared_ptr<Runtime> runtime_;
  std::unique_ptr<WorkFolder> work_;
  onnx::Model given_;   // as in the file
  onnx::Model named_;   // the same, every node named
  onnx::Model shown_;   // the graph that is dumped, before rounding is added
  PlacedModel placed_;  // the model that runs
  std::size_t nameless_ = 0;
  ModelInputs inputs_;
  std::unique_ptr<Session> plain_;  // exposes the final outputs only
  std::vector<std::string> final_outputs_;
  std::vector<RunValue> plain_values_;         // empty when they are not checked
  std::map<std::size_t, OutputCheck> checks_;  // by position in final_outputs_
  ValueTypes types_;                           // empty while all values are taken for tensors
  std::unordered_set<std::string> wide_outputs_;
  std::vector<std::vector<std::size_t>> originals_;  // per node, positions in named_
  std::vector<std::string> stems_;                   // per node
  std::vector<NodeOutput> tapped_;                   // written while the model runs
  std::vector<NodeOutput> fetched_;                  // written afterwards
  std::vector<std::string> fetched_names_;  // and final outputs to check, and the last token
  std::size_t bodies_ = 0;                  // of the skipped values, those in bodies
  std::size_t written_ = 0;
  ManifestContent content_;
  DumpReport report_;
};

}  // namespace

bool DumpReport::outputs_equal() const {
  return std::all_of(checks.begin(), checks.end(),
                     [](const OutputCheck& check) { return check.equal; });
}

Result<DumpReport> dump_model(const DumpOptions& options) {
  const std::uint64_t time_us = options.time_us.value_or(now_us());
  OPDRIFT_TRY(DumpStore store, DumpStore::open(options.output_folder, options.overwrite, time_us));
  return Dumper(options, std::move(store), time_us).run();
}

}  // namespace opdrift::engine
