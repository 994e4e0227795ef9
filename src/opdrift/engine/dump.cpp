#include "opdrift/engine/dump.hpp"

#include <algorithm>
#include <chrono>
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
#include "opdrift/engine/output_check.hpp"
#include "opdrift/engine/wanted_values.hpp"
#include "opdrift/io/file_writer.hpp"
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
    OPDRIFT_CHECK_OK(measure());
    OPDRIFT_CHECK_OK(check_space());
    OPDRIFT_CHECK_OK(write_inputs());
    OPDRIFT_CHECK_OK(run_groups());
    return finish();
  }

 private:
  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->cancelled(); }

  void tell(std::string_view stage) const {
    if (options_.progress) {
      options_.progress({stage, written_, wanted_.size(), store_.bytes()});
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
    OPDRIFT_TRY(placed_.model, onnx::open_model(options.save_optimized));
    placed_.folder = work;
    name_nodes(placed_.model);
    originals_ = originals_of(placed_.model.graph, named_.graph);
    rename_added(placed_.model.graph, named_.graph, originals_);
    if (options_.optimization == Optimization::all) {
      note("optimisation 'all' may block channels: values named reorder* are in that layout");
    }
    return Unit{};
  }

  /// Learns the type of every value and picks those to write.
  Status choose() {
    fix_input_shapes(placed_.model, inputs_.tensors);
    const std::vector<NodeOutput> outputs = node_outputs(placed_.model.graph);
    std::vector<std::string> names;
    names.reserve(outputs.size());
    for (const NodeOutput& output : outputs) {
      names.push_back(output.tensor);
    }
    PlacedModel exposed = placed_;
    expose(exposed.model, names);
    OPDRIFT_TRY(all_, open_model(*runtime_, exposed, session_));
    for (const onnx::Node& node : placed_.model.graph.nodes) {
      list_body_values(node, node, report_.skipped);
    }
    describe_operators();
    OPDRIFT_CHECK_OK(apply_filter(outputs));
    // This session can serve the run itself when that fetches all of its outputs at once.
    if (wanted_.size() != outputs.size() || end_of_group(0) != wanted_.size()) {
      all_.reset();
    }
    return Unit{};
  }

  Status apply_filter(const std::vector<NodeOutput>& outputs) {
    std::optional<Pattern> only;
    if (!options_.only.empty()) {
      OPDRIFT_TRY(only, Pattern::compile("--only", options_.only));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      consider(outputs[i], all_->outputs()[i], only);
    }
    if (wanted_.empty() && only) {
      return Error{ErrorCode::invalid_argument,
                   "--only '" + printable(options_.only) + "' matches no operator and no value"};
    }
    return Unit{};
  }

  void consider(const NodeOutput& output, const ValueInfo& info,
                const std::optional<Pattern>& only) {
    const onnx::Node& node = placed_.model.graph.nodes[output.node];
    DumpedValue& value = content_.operators[output.node].outputs[output.index];
    if (info.kind == ValueKind::tensor && info.element_type == 1) {
      wide_outputs_.insert(output.tensor);
    }
    if (only && !only->found_in(node.name) && !only->found_in(output.tensor)) {
      value.skipped = "not asked for (--only)";
      return;
    }
    if (std::string reason = unwritable_reason(info); !reason.empty()) {
      skip(output, std::move(reason));
      return;
    }
    types_.emplace(output.tensor, info);
    wanted_.push_back({output, inferred_bytes(info)});
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
    all_.reset();
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
    OPDRIFT_TRY(plain_values_, plain_->run(inputs_.tensors, final_outputs_));
    plain_.reset();
    return Unit{};
  }

  Status measure() {
    OPDRIFT_CHECK_OK(measure_sizes(wanted_, types_, placed_, *runtime_, session_, inputs_.tensors));
    for (const WantedValue& wanted : wanted_) {
      report_.estimated_bytes += wanted.bytes == kUnknownSize ? 0 : wanted.bytes;
    }
    return Unit{};
  }

  Status check_space() const {
    const bool narrow = options_.precision != Precision::fp32;
    const std::uint64_t needed = report_.estimated_bytes / (narrow ? 2 : 1);
    const std::uint64_t available = free_space(store_.folder());
    if (needed > available) {
      return Error{ErrorCode::write_failed,
                   "the dump needs about " + human_bytes(needed) + ", the disk has " +
                       human_bytes(available) + " left; --only limits what is written",
                   store_.folder()};
    }
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

  std::size_t end_of_group(std::size_t first) const {
    return group_end(wanted_, first, options_.memory_budget);
  }

  Status run_groups() {
    if (end_of_group(0) != wanted_.size()) {
      all_.reset();
    }
    for (std::size_t first = 0; first < wanted_.size() && !cancelled();) {
      const std::size_t end = end_of_group(first);
      OPDRIFT_CHECK_OK(run_group(first, end));
      first = end;
    }
    report_.complete = written_ == wanted_.size();
    return Unit{};
  }

  Status run_group(std::size_t first, std::size_t end) {
    std::vector<std::string> names;
    for (std::size_t i = first; i < end; ++i) {
      names.push_back(wanted_[i].output.tensor);
    }
    const std::size_t own = names.size();
    if (first == 0 && options_.check_outputs) {
      add_final_outputs(names);
    }
    std::unique_ptr<Session> session = std::move(all_);
    if (!session) {
      PlacedModel group = placed_;
      expose(group.model, names);
      OPDRIFT_TRY(session, open_model(*runtime_, group, session_));
    }
    tell("running");
    OPDRIFT_TRY(std::vector<RunValue> values, session->run(inputs_.tensors, names));
    ++report_.groups;
    if (first == 0 && options_.check_outputs) {
      check_final_outputs(names, values);
    }
    for (std::size_t i = 0; i < own && !cancelled(); ++i) {
      OPDRIFT_CHECK_OK(write_value(wanted_[first + i].output, values[i]));
      values[i] = {};
    }
    return Unit{};
  }

  Status write_value(const NodeOutput& output, const RunValue& value) {
    OPDRIFT_TRY(DumpedValue dumped, store_.write(stems_[output.node], output.index, output.tensor,
                                                 value, options_.precision));
    ++written_;
    if (dumped.file.empty()) {
      skip(output, dumped.skipped);
    } else {
      content_.operators[output.node].outputs[output.index] = std::move(dumped);
    }
    tell("writing");
    return Unit{};
  }

  /// Appends the final outputs that a node makes and that are not in the list yet.
  void add_final_outputs(std::vector<std::string>& names) const {
    std::unordered_set<std::string> known(names.begin(), names.end());
    std::unordered_set<std::string> made;
    for (const NodeOutput& output : node_outputs(shown_.graph)) {
      made.insert(output.tensor);
    }
    for (const std::string& name : final_outputs_) {
      if (made.contains(name) && known.insert(name).second) {
        names.push_back(name);
      }
    }
  }

  void check_final_outputs(const std::vector<std::string>& names,
                           const std::vector<RunValue>& values) {
    for (std::size_t i = 0; i < final_outputs_.size(); ++i) {
      const auto found = std::find(names.begin(), names.end(), final_outputs_[i]);
      if (found != names.end()) {
        const auto position = static_cast<std::size_t>(found - names.begin());
        report_.checks.push_back(
            check_output(final_outputs_[i], plain_values_[i], values[position]));
      }
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
    if (report_.groups > 1) {
      note("the model ran " + std::to_string(report_.groups) + " times to keep values within " +
           human_bytes(options_.memory_budget) + " of memory");
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
  std::unique_ptr<Session> all_;    // exposes every value of the dumped graph
  std::vector<std::string> final_outputs_;
  std::vector<RunValue> plain_values_;
  ValueTypes types_;
  std::unordered_set<std::string> wide_outputs_;
  std::vector<std::vector<std::size_t>> originals_;  // per node, positions in named_
  std::vector<std::string> stems_;                   // per node
  std::vector<WantedValue> wanted_;
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
