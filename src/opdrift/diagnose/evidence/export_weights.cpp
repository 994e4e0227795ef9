#include "opdrift/diagnose/evidence/export_weights.hpp"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "opdrift/diagnose/evidence/cosines.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/match/name_match.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/align_pair.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/verdict/explain/refit.hpp"

namespace opdrift::diagnose::evidence {

namespace {

using pipeline::IndexedTensor;

constexpr double kRounded = 0x1p-7;
constexpr std::size_t kMostFaults = 8;
constexpr std::string_view kModule = "module_";

std::string key_of(const std::string& name) {
  std::string key = match::normalise(name);
  return key.starts_with(kModule) ? key.substr(kModule.size()) : key;
}

const std::string& name_of(const IndexedTensor& weight) {
  return weight.name.tensor_name.empty() ? weight.name.operator_name : weight.name.tensor_name;
}

bool is_floating(const tensor::TensorDesc& desc) {
  return tensor::info(desc.dtype).kind == tensor::DTypeKind::floating;
}

std::string range_text(const metrics::SideStats& side) {
  return verdict::refit::number(side.min) + " to " + verdict::refit::number(side.max);
}

class WeightComparison {
 public:
  explicit WeightComparison(const pipeline::DumpIndex& weights) : weights_(weights.tensors) {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      by_key_.try_emplace(key_of(name_of(weights_[i])), i);
      by_key_.try_emplace(key_of(weights_[i].name.operator_name), i);
    }
  }

  void look_at(const io::onnx::Tensor& constant, const std::string& folder) {
    const auto partner = by_key_.find(key_of(constant.name));
    if (partner == by_key_.end()) {
      return;
    }
    met_.insert(partner->second);
    const auto made = io::onnx::load(constant, folder);
    const auto given = pipeline::load(weights_[partner->second]);
    if (!made || !given) {
      found_.findings.push_back(constant.name + ": cannot be compared, " +
                                (made ? given : made).error().message);
      return;
    }
    compare(constant.name, *given, *made);
  }

  WeightFindings take() {
    if (found_.faults.size() > kMostFaults) {
      const std::size_t more = found_.faults.size() - kMostFaults;
      found_.faults.resize(kMostFaults);
      found_.faults.push_back("and " + std::to_string(more) + " weights more differ");
    }
    add_unmet();
    return std::move(found_);
  }

 private:
  void compare(const std::string& name, const tensor::Tensor& given, const tensor::Tensor& made) {
    const auto pair = pipeline::align_pair(given, made);
    if (!pair) {
      found_.faults.push_back(name + " has the shape [" + tensor::to_string(made.desc.shape) +
                              "], the weight given [" + tensor::to_string(given.desc.shape) + "]");
      return;
    }
    note_types(name, given.desc, made.desc);
    const auto measured = metrics::measure(pair->golden, pair->target);
    if (!measured) {
      found_.findings.push_back(name + ": cannot be compared, " + measured.error().message);
      return;
    }
    // Sums leave out what is NaN or infinite on either side: the classes have to agree as well.
    const bool same_classes = measured->class_mismatches == 0;
    const bool same_numbers = same_classes && measured->max_abs.value == 0.0;
    const bool rounded =
        is_floating(given.desc) && same_classes && measured->relative_l2() <= kRounded;
    if (measured->count > 0 && !same_numbers && !rounded) {
      found_.faults.push_back(name + " is not the weight given: relative L2 " +
                              verdict::refit::number(measured->relative_l2()) + ", values from " +
                              range_text(measured->target) + ", those given from " +
                              range_text(measured->golden));
    }
  }

  void note_types(const std::string& name, const tensor::TensorDesc& given,
                  const tensor::TensorDesc& made) {
    if (tensor::info(made.dtype).bits < tensor::info(given.dtype).bits &&
        tensor::info(given.dtype).bits == 64) {
      found_.findings.push_back(name + " is " + std::string(tensor::name_of(given.dtype)) +
                                " in the weights and " + std::string(tensor::name_of(made.dtype)) +
                                " in the model");
    }
  }

  void add_unmet() {
    if (met_.empty()) {
      found_.findings.push_back("none of the " + std::to_string(weights_.size()) +
                                " weights given has the name of a constant of the model: they "
                                "were not compared");
      return;
    }
    std::size_t unmet = 0;
    std::string first;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (met_.count(i) == 0 && unmet++ == 0) {
        first = name_of(weights_[i]);
      }
    }
    if (unmet > 0) {
      found_.findings.push_back(std::to_string(unmet) + " of " + std::to_string(weights_.size()) +
                                " weights given are no constants of the model (" + first +
                                " is the first): folded into others, or left out");
    }
  }

  const std::vector<IndexedTensor>& weights_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::unordered_set<std::size_t> met_;
  WeightFindings found_;
};

}  // namespace

Result<WeightFindings> compare_weights(const io::onnx::Model& model, const std::string& folder,
                                       const std::string& weights) {
  OPDRIFT_TRY(const pipeline::DumpIndex index,
              pipeline::index_dump(weights, verdict::RunSide::golden, 0));
  if (index.tensors.empty()) {
    const std::string reason = index.ledger.empty() ? "" : ": " + index.ledger.front().reason;
    return Error{ErrorCode::not_found,
                 "expected weights as npz, npy, safetensors or pt, found none" + reason, weights};
  }
  WeightComparison comparison(index);
  for (const io::onnx::Tensor& constant : model.graph.initializers) {
    comparison.look_at(constant, folder);
  }
  return comparison.take();
}

}  // namespace opdrift::diagnose::evidence
