#include "opdrift/diagnose/bisect/keep_set.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "opdrift/diagnose/fixes/customize_dtypes.hpp"
#include "opdrift/diagnose/fixes/keep_dtype.hpp"
#include "opdrift/engine/surgery/extract_file.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::diagnose {

namespace {

using Set = std::vector<std::size_t>;

class Minimiser {
 public:
  Minimiser(const SetTest& passes, std::size_t max_tests)
      : passes_(passes), max_tests_(max_tests) {}

  Result<MinimalSet> run(std::size_t count) {
    Set current(count);
    std::iota(current.begin(), current.end(), std::size_t{0});
    std::size_t parts = 2;
    while (current.size() > 1 && result_.minimal) {
      OPDRIFT_TRY(Set part, passing(current, parts, false));
      if (!part.empty()) {
        current = std::move(part);
        parts = 2;
        continue;
      }
      OPDRIFT_TRY(Set rest, passing(current, parts, true));
      if (!rest.empty()) {
        current = std::move(rest);
        parts = std::max<std::size_t>(parts - 1, 2);
      } else if (parts >= current.size()) {
        break;
      } else {
        parts = std::min(2 * parts, current.size());
      }
    }
    result_.members = std::move(current);
    return std::move(result_);
  }

 private:
  /// The first part of `set` that passes, or the first set without a part; empty when none does.
  Result<Set> passing(const Set& set, std::size_t parts, bool without) {
    if (without && parts == 2) {
      return Set{};  // the same two sets as the parts
    }
    for (std::size_t i = 0; i < parts; ++i) {
      const auto begin = static_cast<std::ptrdiff_t>(set.size() * i / parts);
      const auto end = static_cast<std::ptrdiff_t>(set.size() * (i + 1) / parts);
      Set candidate;
      if (without) {
        candidate.assign(set.begin(), set.begin() + begin);
        candidate.insert(candidate.end(), set.begin() + end, set.end());
      } else {
        candidate.assign(set.begin() + begin, set.begin() + end);
      }
      OPDRIFT_TRY(const bool good, test(candidate));
      if (good) {
        return candidate;
      }
    }
    return Set{};
  }

  Result<bool> test(const Set& set) {
    const auto known = tested_.find(set);
    if (known != tested_.end()) {
      return known->second;
    }
    if (result_.tests >= max_tests_) {
      result_.minimal = false;
      return false;
    }
    ++result_.tests;
    OPDRIFT_TRY(const bool good, passes_(set));
    tested_.emplace(set, good);
    return good;
  }

  const SetTest& passes_;
  std::size_t max_tests_;
  std::map<Set, bool> tested_;
  MinimalSet result_;
};

/// Type names of values as atc's files have them.
std::vector<std::string> types_of(const std::vector<std::string>& values,
                                  const engine::ValueTypes& types) {
  std::vector<std::string> names;
  for (const std::string& value : values) {
    if (value.empty()) {
      continue;
    }
    const auto known = types.find(value);
    const auto dtype =
        known == types.end() ? std::nullopt : io::onnx::dtype_of(known->second.element_type);
    names.emplace_back(dtype ? tensor::name_of(*dtype) : std::string_view("float32"));
  }
  return names;
}

class KeptSearch {
 public:
  KeptSearch(const KeepOptions& options, LocalProbes& probes)
      : options_(options), probes_(probes) {}

  Result<KeepReport> run() {
    for (const std::size_t node : probes_.plan().order()) {
      if (probes_.piece().node(node).op_type != "Constant") {
        nodes_.push_back(node);
      }
    }
    report_.operators = nodes_.size();
    OPDRIFT_TRY(report_.none, probe({}));
    Set all(nodes_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (report_.none.outcome != Outcome::good) {
      OPDRIFT_TRY(report_.all, probe(all));
    }
    if (report_.all.outcome != Outcome::good) {
      return std::move(report_);
    }
    const SetTest passes = [&](const Set& set) -> Result<bool> {
      OPDRIFT_TRY(const ProbeResult result, probe(set));
      return result.outcome == Outcome::good;
    };
    OPDRIFT_TRY(const MinimalSet found, minimise_set(nodes_.size(), passes, options_.max_tests));
    report_.tests = found.tests;
    report_.minimal = found.minimal;
    for (const std::size_t member : found.members) {
      report_.kept.push_back(suspect(probes_.piece(), nodes_[member]));
    }
    OPDRIFT_CHECK_OK(write(found.members));
    return std::move(report_);
  }

 private:
  Result<ProbeResult> probe(const Set& set) {
    engine::KeptOperators keep;
    for (const std::size_t member : set) {
      keep.insert(probes_.piece().graph.name(nodes_[member]));
    }
    OPDRIFT_TRY(const ProbeResult result, probes_.probe_kept(keep));
    if (options_.progress) {
      options_.progress(set.size(), result);
    }
    return result;
  }

  Status write(const Set& members) {
    if (options_.output_folder.empty()) {
      return Unit{};
    }
    std::error_code failed;
    std::filesystem::create_directories(options_.output_folder, failed);
    OPDRIFT_TRY(const engine::ValueTypes types, value_types());
    fixes::KeepList keep;
    std::vector<fixes::CustomDtypes> customize;
    for (const std::size_t member : members) {
      const io::onnx::Node& node = probes_.piece().node(nodes_[member]);
      keep.add_name(node.name);
      fixes::CustomDtypes& entry = customize.emplace_back();
      entry.name = node.name;
      entry.inputs = types_of(node.inputs, types);
      entry.outputs = types_of(node.outputs, types);
    }
    for (const auto& [name, text] :
         {std::pair(std::string("keep_dtype.cfg"), fixes::write_keep_dtype(keep)),
          std::pair(std::string("customize_dtypes.cfg"),
                    fixes::write_customize_dtypes(customize))}) {
      report_.files.push_back(options_.output_folder + "/" + name);
      OPDRIFT_CHECK_OK(io::write_file(report_.files.back(), text));
    }
    return Unit{};
  }

  Result<engine::ValueTypes> value_types() const {
    const engine::PlacedModel& placed = probes_.piece().placed;
    OPDRIFT_TRY(const auto runtime, engine::Runtime::load(options_.local.library));
    OPDRIFT_TRY(engine::ValueTypes types, engine::infer_types(*runtime, placed));
    for (const io::onnx::ValueInfo& input : placed.model.graph.inputs) {
      types.emplace(input.name, input);
    }
    for (const io::onnx::Tensor& tensor : placed.model.graph.initializers) {
      io::onnx::ValueInfo info;
      info.element_type = tensor.data_type;
      types.emplace(tensor.name, info);
    }
    return types;
  }

  const KeepOptions& options_;
  LocalProbes& probes_;
  Set nodes_;  // of the piece
  KeepReport report_;
};

}  // namespace

Result<MinimalSet> minimise_set(std::size_t count, const SetTest& passes, std::size_t max_tests) {
  return Minimiser(passes, max_tests).run(count);
}

Result<KeepReport> find_kept(const KeepOptions& options) {
  OPDRIFT_TRY(const std::unique_ptr<LocalProbes> probes, LocalProbes::create(options.local));
  return KeptSearch(options, *probes).run();
}

}  // namespace opdrift::diagnose
