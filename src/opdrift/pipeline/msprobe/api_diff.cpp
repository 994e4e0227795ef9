#include "opdrift/pipeline/msprobe/api_diff.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/pipeline/msprobe/comm_graph.hpp"
#include "opdrift/verdict/api_statistics.hpp"

namespace opdrift::pipeline {

namespace {

using graph::ApiLeaf;
using graph::ApiValue;
using verdict::RowMode;

constexpr std::string_view kNotAvailable = "N/A";
constexpr double kDiffersBeyond = 0.5;

void log(const ApiCompareOptions& options, RunLogLevel level, const std::string& text) {
  if (options.log) {
    options.log(level, text);
  }
}

/// Writes one JSON object member after the other.
class JsonWriter {
 public:
  explicit JsonWriter(std::size_t indent) : indent_(indent) {}

  void open(char bracket) {
    out_ += bracket;
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!first_) {
      new_line();
    }
    out_ += bracket;
    first_ = false;
  }
  void item() {
    out_ += first_ ? "" : ",";
    new_line();
    first_ = false;
  }
  void key(std::string_view name) {
    item();
    graph::append_json_text(name, out_);
    out_ += ": ";
  }
  void text(std::string_view value) { graph::append_json_text(value, out_); }
  void raw(std::string_view value) { out_ += value; }
  void member(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  std::string take() { return std::move(out_); }

 private:
  void new_line() {
    out_ += '\n';
    out_.append(depth_ * indent_, ' ');
  }

  std::size_t indent_;
  std::size_t depth_ = 0;
  bool first_ = true;
  std::string out_;
};

/// A number stays a number, everything else is a text.
void write_value(const ApiValue& value, JsonWriter& json) {
  const std::string_view text = value.text();
  if (value.kind == ApiValue::Kind::real && text == "nan") {
    json.text("Nan");
  } else if (value.kind == ApiValue::Kind::real && text.ends_with("inf")) {
    json.raw(text.front() == '-' ? "-Infinity" : "Infinity");
  } else if (value.kind == ApiValue::Kind::real || value.kind == ApiValue::Kind::integer) {
    json.raw(text);
  } else {
    json.text(text);
  }
}

std::string_view grad_text(const ApiLeaf* leaf) {
  if (leaf == nullptr || leaf->requires_grad == graph::GradFlag::absent) {
    return kNotAvailable;
  }
  return leaf->requires_grad == graph::GradFlag::yes ? "True" : "False";
}

/// One call: pairs [first, first + count) of the match.
struct CallRows {
  std::string name;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// One rank, compared.
class RankAnalysis {
 public:
  RankAnalysis(const AnalyzedRank& rank, ApiSides sides, const ApiCompareOptions& options)
      : sides_(std::move(sides)), options_(options) {
    calls_.number = rank.number;
    if (sides_.mode == RowMode::real_data) {
      sides_.mode = RowMode::statistics;
    }
    collect_calls();
  }

  const RankCalls& calls() const { return calls_; }

  std::string rows_as_json() const {
    JsonWriter json(4);
    json.open('{');
    for (const CallRows& call : all_calls_) {
      json.key(call.name);
      json.open('{');
      json.key("is_same");
      json.raw(differs(call) ? "false" : "true");
      json.key("op_items");
      json.open('[');
      for (std::size_t i = call.first; i < call.first + call.count; ++i) {
        json.item();
        write_row(call, i, json);
      }
      json.close(']');
      json.close('}');
    }
    json.close('}');
    return json.take();
  }

  void write_hit(std::size_t index, JsonWriter& json) const {
    const CallRows& call = all_calls_[kept_[index]];
    json.open('{');
    json.member("op_name", call.name);
    json.key("data_info");
    json.open('{');
    json.key("input");
    write_leaves(call, graph::LeafRole::input, json);
    json.key("output");
    write_leaves(call, graph::LeafRole::output, json);
    json.close('}');
    json.key("stack_info");
    write_stack(call, json, "[]");
    json.close('}');
  }

 private:
  const match::ApiPair& pair(std::size_t index) const { return sides_.match.pairs[index]; }
  const ApiLeaf& target(std::size_t index) const {
    return sides_.target.leaves[pair(index).target];
  }
  const ApiLeaf* golden(std::size_t index) const {
    const std::uint32_t leaf = pair(index).golden;
    return leaf == match::kNoLeaf ? nullptr : &sides_.golden.leaves[leaf];
  }
  const graph::ApiEntry& entry(std::size_t index) const {
    return sides_.target.entries[target(index).entry];
  }

  /// Gradients of a module's parameters belong to the module's call in front of them.
  bool joins(const graph::ApiEntry& entry) const {
    return !all_calls_.empty() && entry.direction == graph::CallDirection::parameters_grad &&
           all_calls_.back().name.find(entry.prefix) != std::string::npos;
  }

  void collect_calls() {
    std::optional<std::uint32_t> current;
    for (std::size_t i = 0; i < sides_.match.pairs.size(); ++i) {
      const bool same_entry = current && *current == target(i).entry;
      current = target(i).entry;
      if (!same_entry) {
        const graph::ApiEntry& own = entry(i);
        keeps_ = joins(own) || split(own.name, '.').size() >= 4;
        if (keeps_ && !joins(own)) {
          all_calls_.push_back({std::string(own.name), i, 0});
        }
      }
      if (keeps_) {
        ++all_calls_.back().count;
      }
    }
    for (std::size_t i = 0; i < all_calls_.size(); ++i) {
      if (!is_ignored_call(all_calls_[i].name)) {
        kept_.push_back(i);
        calls_.calls.push_back(rank_call(all_calls_[i]));
      }
    }
  }

  bool differs(const CallRows& call) const {
    for (std::size_t i = call.first; i < call.first + call.count; ++i) {
      if (target(i).role == graph::LeafRole::output && !is_scratch_output(call, i) &&
          row_differs(i)) {
        return true;
      }
    }
    return false;
  }

  /// Random state that fused attention returns beside its results.
  bool is_scratch_output(const CallRows& call, std::size_t index) const {
    const std::string_view name = target(index).name;
    return call.name.find("npu_fusion_attention") != std::string::npos &&
           (name.ends_with(".output.4") || name.ends_with(".output.5"));
  }

  bool row_differs(std::size_t index) const {
    const ApiLeaf* other = golden(index);
    if (sides_.mode == RowMode::checksum) {
      const std::string theirs =
          other == nullptr ? std::string(kNotAvailable) : verdict::checksum_text(*other);
      return verdict::checksum_text(target(index)) != theirs;
    }
    if (other == nullptr) {
      return false;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const auto difference =
          verdict::compare_statistic(target(index).statistics[k], other->statistics[k]);
      if (is_large(difference)) {
        return true;
      }
    }
    return false;
  }

  /// The reference looks at percentages alone; infinities and NaN on one side count here too.
  bool is_large(const verdict::StatisticDifference& difference) const {
    if (difference.kind == verdict::StatisticDifference::Kind::word) {
      return !options_.reference_tables && difference.word != kNotAvailable &&
             difference.word != "Diff";
    }
    const double relative = difference.relative();
    return relative > kDiffersBeyond && !(options_.reference_tables && std::isinf(relative));
  }

  RankCall rank_call(const CallRows& rows) const {
    RankCall call;
    call.name = rows.name;
    call.differs = differs(rows);
    if (!is_communication(rows.name)) {
      return call;
    }
    for (std::size_t i = rows.first; i < rows.first + rows.count; ++i) {
      if (target(i).role == graph::LeafRole::input) {
        read_partners(target(i), rows.name, call);
      }
    }
    return call;
  }

  void read_partners(const ApiLeaf& leaf, std::string_view api, RankCall& call) const {
    const std::string_view end = leaf.name.substr(std::min(api.size(), leaf.name.size()));
    const std::string_view value = leaf.statistics[0].text();
    const auto number = parse_i64(value);
    const bool source = end.find("src") != std::string_view::npos;
    const bool destination = end.find("dst") != std::string_view::npos;
    if (number && (source || destination)) {
      add_partner(*number, call);
      if (!call.has_source) {
        call.has_source = true;
        const bool own = *number == calls_.number;
        call.is_source = source ? own : !own;
      }
    } else if (end.ends_with(".group")) {
      for (const std::string_view part : split(value.substr(value.empty() ? 0 : 1), ',')) {
        const std::string_view digits = trim(part.substr(0, part.find(']')));
        if (const auto member = parse_i64(digits)) {
          add_member(*member, call);
        }
      }
    }
    if (leaf.peer >= 0) {
      const auto peer = parse_i64(sides_.target.peers[static_cast<std::size_t>(leaf.peer)].peer);
      if (peer) {
        add_partner(*peer, call);
      }
    }
  }

  /// The reference loses rank 0 here.
  void add_partner(long long rank, RankCall& call) const {
    if (rank != 0 || !options_.reference_tables) {
      call.partners.push_back(rank);
    }
  }
  static void add_member(long long rank, RankCall& call) { call.partners.push_back(rank); }

  void write_row(const CallRows& call, std::size_t index, JsonWriter& json) const {
    const ApiLeaf& n = target(index);
    const ApiLeaf* b = golden(index);
    json.open('{');
    json.member("NPU Name", n.name);
    json.member("Bench Name", b == nullptr ? kNotAvailable : b->name);
    json.member("NPU Dtype", sides_.target.dtype_of(n));
    json.member("Bench Dtype", b == nullptr ? kNotAvailable : sides_.golden.dtype_of(*b));
    json.member("NPU Tensor Shape", n.shape);
    json.member("Bench Tensor Shape", b == nullptr ? kNotAvailable : b->shape);
    json.member("NPU Requires_grad", grad_text(&n));
    json.member("Bench Requires_grad", grad_text(b));
    std::string result;
    if (sides_.mode == RowMode::checksum) {
      json.member("NPU MD5", verdict::checksum_text(n));
      json.member("BENCH MD5",
                  b == nullptr ? std::string(kNotAvailable) : verdict::checksum_text(*b));
      result = row_differs(index) ? "Different" : "pass";
    } else {
      write_statistics(n, b, json);
    }
    json.key("Requires_grad Consistent");
    json.raw(grad_text(&n) == grad_text(b) ? "true" : "false");
    json.member("Result", result);
    json.member("Err_message", "");
    if (sides_.stacks) {
      json.key("NPU_Stack_Info");
      if (index == call.first) {
        write_stack(call, json, "\"N/A\"");
      } else {
        json.text(kNotAvailable);
      }
    }
    json.member("state", graph::to_string(n.role));
    json.member("api_origin_name", entry(index).name);
    write_peers(n, b, json);
    json.close('}');
  }

  void write_statistics(const ApiLeaf& n, const ApiLeaf* b, JsonWriter& json) const {
    constexpr std::array<std::string_view, 4> kDiff = {"Max diff", "Min diff", "Mean diff",
                                                       "L2norm diff"};
    constexpr std::array<std::string_view, 4> kRelative = {"MaxRelativeErr", "MinRelativeErr",
                                                           "MeanRelativeErr", "NormRelativeErr"};
    std::array<std::string, 4> relative;
    for (std::size_t k = 0; k < 4; ++k) {
      std::string text(kNotAvailable);
      relative[k] = text;
      if (b != nullptr) {
        const auto difference = verdict::compare_statistic(n.statistics[k], b->statistics[k]);
        relative[k].clear();
        verdict::append_relative(difference, relative[k]);
        text = difference.kind == verdict::StatisticDifference::Kind::number
                   ? graph::python_float(difference.difference)
               : difference.kind == verdict::StatisticDifference::Kind::word
                   ? std::string(difference.word)
                   : "0";
      }
      json.member(kDiff[k], text);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      json.member(kRelative[k], relative[k]);
    }
    write_side("NPU", &n, json);
    write_side("Bench", b, json);
  }

  static void write_side(std::string_view side, const ApiLeaf* leaf, JsonWriter& json) {
    constexpr std::array<std::string_view, 4> kNames = {" max", " min", " mean", " l2norm"};
    for (std::size_t k = 0; k < 4; ++k) {
      json.key(std::string(side) + std::string(kNames[k]));
      if (leaf == nullptr) {
        json.text(kNotAvailable);
      } else {
        write_value(leaf->statistics[k], json);
      }
    }
  }

  void write_peers(const ApiLeaf& n, const ApiLeaf* b, JsonWriter& json) const {
    const auto of = [](const graph::ApiRun& run, const ApiLeaf* leaf) {
      return leaf == nullptr || leaf->peer < 0 ? graph::PeerOperation{"None", "None"}
                                               : run.peers[static_cast<std::size_t>(leaf->peer)];
    };
    const graph::PeerOperation npu = of(sides_.target, &n);
    const graph::PeerOperation bench = of(sides_.golden, b);
    json.member("NPU P2POp op", npu.operation);
    json.member("Bench P2POp op", bench.operation);
    json.member("NPU P2POp peer", npu.peer);
    json.member("Bench P2POp peer", bench.peer);
  }

  void write_leaves(const CallRows& call, graph::LeafRole role, JsonWriter& json) const {
    json.open('{');
    for (std::size_t i = call.first; i < call.first + call.count; ++i) {
      const ApiLeaf& leaf = target(i);
      if (leaf.role != role) {
        continue;
      }
      json.key(leaf.name);
      json.open('{');
      if (sides_.mode == RowMode::checksum) {
        json.member("NPU MD5", verdict::checksum_text(leaf));
      } else {
        write_side("NPU", &leaf, json);
      }
      const bool has_peer = leaf.peer >= 0;
      json.member("NPU P2POp peer",
                  has_peer ? sides_.target.peers[static_cast<std::size_t>(leaf.peer)].peer
                           : std::string_view("None"));
      json.close('}');
    }
    json.close('}');
  }

  void write_stack(const CallRows& call, JsonWriter& json, std::string_view absent) const {
    const auto* lines = sides_.stacks ? sides_.stacks->find(call.name) : nullptr;
    if (lines == nullptr) {
      json.raw(absent);
      return;
    }
    json.open('[');
    for (const std::string_view line : *lines) {
      json.item();
      json.text(line);
    }
    json.close(']');
  }

  ApiSides sides_;
  const ApiCompareOptions& options_;
  std::vector<CallRows> all_calls_;
  std::vector<std::size_t> kept_;  // positions in all_calls_ of calls_.calls
  RankCalls calls_;
  bool keeps_ = false;
};

std::string nanoseconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::string report_text(const std::vector<RankAnalysis>& ranks, const std::vector<CallHit>& hits) {
  JsonWriter json(2);
  json.open('{');
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    bool opened = false;
    for (const CallHit& hit : hits) {
      if (hit.rank != rank) {
        continue;
      }
      if (!opened) {
        json.key("rank_" + std::to_string(ranks[rank].calls().number));
        json.open('[');
        opened = true;
      }
      json.item();
      ranks[rank].write_hit(hit.call, json);
    }
    if (opened) {
      json.close(']');
    }
  }
  json.close('}');
  return json.take();
}

void log_rank(const RankCalls& rank, const ApiCompareOptions& options) {
  const auto differs = [](const RankCall& call) { return call.differs; };
  const auto count = std::count_if(rank.calls.begin(), rank.calls.end(), differs);
  const auto first = std::find_if(rank.calls.begin(), rank.calls.end(), differs);
  log(options, RunLogLevel::info,
      "rank " + std::to_string(rank.number) + ": " + std::to_string(count) + " of " +
          std::to_string(rank.calls.size()) + " calls differ" +
          (first == rank.calls.end() ? "." : ", the first is " + first->name + "."));
}

/// Goes through the stages and says which one is running.
std::vector<CallHit> search(const std::vector<RankCalls>& ranks, const ApiCompareOptions& options) {
  struct Stage {
    DiffStage stage;
    const char* text;
  };
  constexpr Stage kStages[] = {
      {DiffStage::before, "Start searching diff node before communication."},
      {DiffStage::between, "Start searching diff node during communication."},
      {DiffStage::after, "Start searching diff node after communication."}};
  for (const Stage& stage : kStages) {
    log(options, RunLogLevel::info, stage.text);
    std::vector<CallHit> hits = find_differences(ranks, stage.stage);
    if (!hits.empty()) {
      return hits;
    }
  }
  return {};
}

}  // namespace

Result<ApiOutcome> analyze_first_difference(const std::vector<AnalyzedRank>& ranks,
                                            const ApiCompareOptions& options) {
  ApiOutcome outcome;
  log(options, RunLogLevel::info, "Start finding first diff node......");
  log(options, RunLogLevel::info, "Start comparing data ......");
  std::vector<RankAnalysis> analyses;
  std::vector<RankCalls> calls;
  for (const AnalyzedRank& rank : ranks) {
    OPDRIFT_TRY(ApiSides sides, open_api_sides(rank.target_json, rank.golden_json, options));
    analyses.emplace_back(rank, std::move(sides), options);
    const std::string path = options.output_folder + "/compare_result_rank" +
                             std::to_string(rank.number) + "_" + time_stamp(false) + ".json";
    log(options, RunLogLevel::info, "Saving json file to disk: " + path);
    OPDRIFT_CHECK_OK(io::write_file(path, analyses.back().rows_as_json()));
    outcome.files.push_back(path);
    calls.push_back(analyses.back().calls());
    outcome.compared = outcome.compared || !calls.back().calls.empty();
    if (!options.reference_tables) {
      log_rank(calls.back(), options);
    }
  }
  log(options, RunLogLevel::info, "Pre Process completed.");
  const std::vector<CallHit> hits = search(calls, options);
  if (hits.empty()) {
    log(options, RunLogLevel::info, "Cannot find any diff node, no need to generate analyze file.");
    return outcome;
  }
  const std::string path = options.output_folder + "/diff_analyze_" + nanoseconds_now() + ".json";
  OPDRIFT_CHECK_OK(io::write_file(path, report_text(analyses, hits)));
  outcome.files.push_back(path);
  outcome.totals.errors = hits.size();
  outcome.totals.first_error = calls[hits.front().rank].calls[hits.front().call].name;
  log(options, RunLogLevel::info, "The analyze result is saved in: " + path);
  return outcome;
}

}  // namespace opdrift::pipeline
