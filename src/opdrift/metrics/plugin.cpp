#include "opdrift/metrics/plugin.hpp"

#include <algorithm>
#include <array>

#include "opdrift/base/text.hpp"
#include "opdrift/metrics/block_source.hpp"
#include "opdrift/metrics/measure.hpp"

namespace opdrift::metrics {

namespace {

constexpr std::size_t kTextBytes = 4096;

Error refused(const std::string& path, const std::string& message) {
  return Error{ErrorCode::unsupported, message, path};
}

bool is_column_title(const char* name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const std::string_view text = name == nullptr ? "" : name;
  return !text.empty() && text.size() < 128 && std::all_of(text.begin(), text.end(), fits);
}

Status check_table(const opdrift_plugin* table, const std::string& path) {
  if (table == nullptr) {
    return refused(path, "expected a table from opdrift_plugin_entry, found none");
  }
  if (table->abi != OPDRIFT_PLUGIN_ABI) {
    return refused(path, "expected a plugin of version " + std::to_string(OPDRIFT_PLUGIN_ABI) +
                             ", found version " + std::to_string(table->abi));
  }
  if (!is_column_title(table->name)) {
    return refused(path, "expected a plugin name of letters, digits and _");
  }
  if (table->summary == nullptr || table->create == nullptr || table->add == nullptr ||
      table->finish == nullptr || table->destroy == nullptr) {
    return refused(path, "expected a summary and four functions, found a null pointer");
  }
  return Unit{};
}

/// The state of one pair, destroyed with this object.
class State {
 public:
  State(const opdrift_plugin& table, const opdrift_pair_info& info)
      : table_(&table), state_(table.create(&info)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (state_ != nullptr) {
      table_->destroy(state_);
    }
  }
  void* get() const { return state_; }

 private:
  const opdrift_plugin* table_;
  void* state_;
};

/// Hands the runs of blocks to a plugin until it refuses one.
class PluginSink final : public BlockSink {
 public:
  PluginSink(const opdrift_plugin& table, void* state) : table_(&table), state_(state) {}

  void take(const Block& block) override {
    const auto& runs = block.where.runs;
    for (std::size_t i = 0; i < runs.size() && !failed_; ++i) {
      const std::size_t begin = runs[i].position;
      const std::size_t end = i + 1 < runs.size() ? runs[i + 1].position : block.count;
      failed_ = table_->add(state_, block.golden.f64 + begin, block.target.f64 + begin, end - begin,
                            runs[i].first) != 0;
    }
  }
  bool failed() const { return failed_; }

 private:
  const opdrift_plugin* table_;
  void* state_;
  bool failed_ = false;
};

AlgorithmValue failure(const std::string& message) {
  AlgorithmValue value;
  value.text = "NaN";
  value.note = AlgorithmNote::plugin;
  value.note_text = message;
  return value;
}

AlgorithmValue finish(const opdrift_plugin& table, void* state) {
  std::array<char, kTextBytes> text{};
  std::array<char, kTextBytes> message{};
  const int code = table.finish(state, text.data(), text.size(), message.data(), message.size());
  text.back() = '\0';
  message.back() = '\0';
  const std::string note = printable(message.data());
  if (code != 0) {
    return failure(note.empty() ? "plugin failed with code " + std::to_string(code) : note);
  }
  AlgorithmValue value;
  value.text = printable(text.data());
  value.value = parse_double(value.text).value_or(kNan);
  value.note = note.empty() ? AlgorithmNote::none : AlgorithmNote::plugin;
  value.note_text = note;
  return value;
}

}  // namespace

Result<Plugin> Plugin::load(const std::string& path) {
  OPDRIFT_TRY(SharedObject library, SharedObject::open(path));
  using Entry = const opdrift_plugin* (*)();
  OPDRIFT_TRY(void* const entry, library.function("opdrift_plugin_entry"));
  const opdrift_plugin* const table = reinterpret_cast<Entry>(entry)();
  OPDRIFT_CHECK_OK(check_table(table, path));
  return Plugin(std::move(library), table);
}

Result<AlgorithmValue> Plugin::run(const tensor::View& golden, const tensor::View& target,
                                   const PluginOptions& options) const {
  OPDRIFT_CHECK_OK(check_pair(golden, target));
  const tensor::View* const only = &target;
  const BlockSource source(golden, {&only, 1}, Precision{}, options.max_elements);
  const tensor::Shape shape = target.shape();
  const std::string golden_dtype(tensor::name_of(golden.tensor.desc.dtype));
  const std::string target_dtype(tensor::name_of(target.tensor.desc.dtype));
  const opdrift_pair_info info = {source.count(),       shape.data(),
                                  shape.size(),         golden_dtype.c_str(),
                                  target_dtype.c_str(), options.options.c_str()};
  const State state(*table_, info);
  if (state.get() == nullptr) {
    return Error{ErrorCode::out_of_memory, "plugin " + std::string(name()) + " has no memory"};
  }
  PluginSink sink(*table_, state.get());
  BlockSink* const sinks[] = {&sink};
  for (std::size_t shard = 0; shard < source.shard_count() && !sink.failed(); ++shard) {
    if (options.cancel != nullptr && options.cancel->cancelled()) {
      return Error{ErrorCode::cancelled, "comparison interrupted"};
    }
    source.walk(shard, sinks);
  }
  return sink.failed() ? failure("plugin refused the data") : finish(*table_, state.get());
}

}  // namespace opdrift::metrics
