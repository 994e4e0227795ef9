#include "opdrift/diagnose/offline/output_sets.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::diagnose::offline {

namespace {

constexpr double kLeastCosine = 0.99;
constexpr double kMostRelative = 0.01;
constexpr double kClose = 1e-3;

/// Names with the number they are ordered by.
Result<std::vector<std::string>> files_of(const std::string& folder) {
  OPDRIFT_TRY(const std::vector<std::string> names, io::list_files(folder));
  std::vector<std::pair<std::uint64_t, std::string>> ordered;
  for (const std::string& name : names) {
    if (name.ends_with(".npy") || name.ends_with(".bin")) {
      const std::size_t digit = std::min(name.find_first_of("0123456789"), name.size());
      const std::size_t end = std::min(name.find_first_not_of("0123456789", digit), name.size());
      ordered.emplace_back(parse_u64(name.substr(digit, end - digit)).value_or(0), name);
    }
  }
  std::sort(ordered.begin(), ordered.end());
  std::vector<std::string> sorted;
  for (auto& [number, name] : ordered) {
    sorted.push_back(std::move(name));
  }
  if (sorted.empty()) {
    return Error{ErrorCode::invalid_argument, "expected .npy or .bin files, found none", folder};
  }
  return sorted;
}

std::string stem(const std::string& name) {
  return name.substr(0, name.rfind('.'));
}

using NamePair = std::pair<std::string, std::string>;

/// Pairs, and the files that are left over.
std::vector<NamePair> pair_files(const std::vector<std::string>& golden,
                                 const std::vector<std::string>& target,
                                 std::vector<std::string>& lonely) {
  std::map<std::string, std::string> by_stem;
  for (const std::string& name : target) {
    by_stem.emplace(stem(name), name);
  }
  std::vector<NamePair> named;
  for (const std::string& name : golden) {
    const auto found = by_stem.find(stem(name));
    if (found != by_stem.end()) {
      named.emplace_back(name, found->second);
    }
  }
  const std::size_t least = std::min(golden.size(), target.size());
  if (named.size() != least) {
    named.clear();
    for (std::size_t i = 0; i < least; ++i) {
      named.emplace_back(golden[i], target[i]);
    }
  }
  const auto paired = [&](const std::string& name, bool first) {
    return std::any_of(named.begin(), named.end(), [&](const NamePair& pair) {
      return (first ? pair.first : pair.second) == name;
    });
  };
  for (const std::string& name : golden) {
    if (!paired(name, true)) {
      lonely.push_back(name);
    }
  }
  for (const std::string& name : target) {
    if (!paired(name, false)) {
      lonely.push_back(name);
    }
  }
  return named;
}

/// An array, or bytes that wait for a type.
struct Side {
  std::string path;
  Bytes raw;
  std::optional<tensor::Tensor> tensor;
};

Result<Side> open_side(const std::string& path) {
  Side side;
  side.path = path;
  if (path.ends_with(".bin")) {
    OPDRIFT_TRY(side.raw, map_file(path));
    return side;
  }
  OPDRIFT_TRY(const io::FileDump dump, io::open_npy(path));
  OPDRIFT_TRY(side.tensor, io::load_tensor(dump.tensors.front()));
  return side;
}

/// Gives bytes the type of the partner, or a type of the partner's count, or float32.
Status settle(Side& side, const Side& partner) {
  if (side.tensor) {
    return Unit{};
  }
  using tensor::DType;
  std::vector<DType> candidates = {DType::f32, DType::f16, DType::f64};
  std::optional<std::uint64_t> count;
  if (partner.tensor) {
    OPDRIFT_TRY(count, tensor::element_count(partner.tensor->desc.shape));
    candidates.insert(candidates.begin(), partner.tensor->desc.dtype);
  }
  for (const DType dtype : candidates) {
    const unsigned bits = tensor::info(dtype).bits;
    const std::uint64_t found = bits == 0 ? 0 : side.raw.size() * 8 / bits;
    if (bits != 0 && found * bits == side.raw.size() * 8 && found == count.value_or(found)) {
      tensor::Tensor tensor;
      tensor.desc.dtype = dtype;
      tensor.desc.shape = {found};
      tensor.bytes = side.raw;
      side.tensor = tensor;
      return Unit{};
    }
  }
  return Error{ErrorCode::mismatch,
               std::to_string(side.raw.size()) + " bytes fit no type of " +
                   std::to_string(count.value_or(0)) + " elements",
               side.path};
}

Result<metrics::Measurement> measure_files(const std::string& golden, const std::string& target) {
  OPDRIFT_TRY(Side first, open_side(golden));
  OPDRIFT_TRY(Side second, open_side(target));
  OPDRIFT_CHECK_OK(settle(first, second));
  OPDRIFT_CHECK_OK(settle(second, first));
  OPDRIFT_TRY(const tensor::View left, io::in_file(tensor::stored_view(*first.tensor), golden));
  OPDRIFT_TRY(const tensor::View right, io::in_file(tensor::stored_view(*second.tensor), target));
  return metrics::measure(left, right,
                          {.ulp_histogram = false, .cpu_level = {}, .cancel = nullptr});
}

Nearness nearness_of(const metrics::Measurement& measured) {
  if (measured.count == measured.equal_bits) {
    return Nearness::identical;
  }
  const bool same_classes = measured.class_mismatches == 0;
  if (same_classes && measured.relative_l2() <= kClose) {
    return Nearness::close;
  }
  const bool constant = measured.count <= 1 || measured.golden.standard_deviation() == 0;
  const bool agrees =
      constant ? measured.relative_l2() < kMostRelative : measured.cosine() > kLeastCosine;
  return same_classes && agrees ? Nearness::near : Nearness::different;
}

ArrayPair compare_pair(const std::string& golden_folder, const std::string& target_folder,
                       const NamePair& names) {
  ArrayPair pair;
  pair.golden = names.first;
  pair.target = names.second;
  const auto measured =
      measure_files(golden_folder + "/" + names.first, target_folder + "/" + names.second);
  if (!measured) {
    pair.reason = measured.error().to_string();
    return pair;
  }
  pair.nearness = nearness_of(*measured);
  pair.cosine = measured->cosine();
  pair.max_abs = measured->max_abs.value;
  pair.relative_l2 = measured->relative_l2();
  return pair;
}

Result<SetComparison> compare_sets(const std::string& title, const std::string& golden,
                                   const std::string& target) {
  SetComparison comparison;
  comparison.title = title;
  OPDRIFT_TRY(const std::vector<std::string> golden_files, files_of(golden));
  OPDRIFT_TRY(const std::vector<std::string> target_files, files_of(target));
  for (const NamePair& names : pair_files(golden_files, target_files, comparison.lonely)) {
    comparison.pairs.push_back(compare_pair(golden, target, names));
  }
  return comparison;
}

/// Every pair of sets that are there.
struct NamedSet {
  const char* name;
  const std::string* folder;
};

Result<std::vector<SetComparison>> compare_all(const char* what, std::array<NamedSet, 3> sets) {
  std::vector<SetComparison> comparisons;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (std::size_t k = i + 1; k < sets.size(); ++k) {
      if (!sets[i].folder->empty() && !sets[k].folder->empty()) {
        const std::string title =
            std::string(what) + ", " + sets[k].name + " against " + sets[i].name;
        OPDRIFT_TRY(SetComparison comparison,
                    compare_sets(title, *sets[i].folder, *sets[k].folder));
        comparisons.push_back(std::move(comparison));
      }
    }
  }
  return comparisons;
}

/// The first comparison that does not agree; nullptr for none.
const SetComparison* first_bad(const std::vector<SetComparison>& comparisons) {
  const auto found = std::find_if(comparisons.begin(), comparisons.end(),
                                  [](const SetComparison& one) { return !one.agrees(); });
  return found == comparisons.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(Boundary boundary) {
  switch (boundary) {
    case Boundary::preprocess: return "preprocess";
    case Boundary::export_model: return "export";
    case Boundary::model: return "model";
    case Boundary::postprocess: break;
  }
  return "postprocess";
}

std::string_view to_string(Nearness nearness) {
  switch (nearness) {
    case Nearness::identical: return "identical";
    case Nearness::close: return "close";
    case Nearness::near: return "near";
    case Nearness::different: return "DIFFERENT";
    case Nearness::unreadable: break;
  }
  return "UNREADABLE";
}

bool SetComparison::agrees() const {
  return lonely.empty() && std::all_of(pairs.begin(), pairs.end(), [](const ArrayPair& pair) {
           return pair.nearness != Nearness::different && pair.nearness != Nearness::unreadable;
         });
}

Result<BoundaryReport> compare_output_sets(const OutputSets& sets) {
  BoundaryReport report;
  OPDRIFT_TRY(report.inputs, compare_all("inputs", {{{"framework", &sets.framework_inputs},
                                                     {"onnx", &sets.onnx_inputs},
                                                     {"om", &sets.offline_inputs}}}));
  OPDRIFT_TRY(
      report.outputs,
      compare_all("outputs",
                  {{{"framework", &sets.framework}, {"onnx", &sets.onnx}, {"om", &sets.offline}}}));
  if (report.outputs.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "expected outputs of two runs at least: two of --framework, --onnx and --om"};
  }
  if (const SetComparison* bad = first_bad(report.inputs)) {
    report.verdict = Boundary::preprocess;
    report.culprit = bad->title;
  } else if (const SetComparison* wrong = first_bad(report.outputs)) {
    const bool exported = wrong->title == "outputs, onnx against framework";
    report.verdict = exported ? Boundary::export_model : Boundary::model;
    report.culprit = wrong->title;
  }
  return report;
}

}  // namespace opdrift::diagnose::offline
