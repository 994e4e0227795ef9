#include "opdrift/diagnose/evidence/export_inputs.hpp"

#include <algorithm>
#include <unordered_set>

#include "opdrift/base/text.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/match/name_match.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/dump_index.hpp"

namespace opdrift::diagnose::evidence {

namespace {

constexpr double kRounded = 0x1p-7;

/// A constant of the model and its name.
struct NamedConstant {
  std::string name;
  const io::onnx::Tensor* tensor = nullptr;
};

std::vector<NamedConstant> constants_of(const io::onnx::Graph& graph) {
  std::vector<NamedConstant> found;
  for (const io::onnx::Tensor& constant : graph.initializers) {
    found.push_back({constant.name, &constant});
  }
  for (const io::onnx::Node& node : graph.nodes) {
    const io::onnx::Attribute* const value =
        node.op_type == "Constant" ? node.attribute("value") : nullptr;
    if (value != nullptr && value->tensor && !node.outputs.empty()) {
      found.push_back({node.outputs.front(), &*value->tensor});
    }
  }
  return found;
}

std::vector<std::string> inputs_of(const io::onnx::Graph& graph) {
  std::unordered_set<std::string_view> constants;
  for (const std::string_view name : io::onnx::initializer_names(graph)) {
    constants.insert(name);
  }
  std::vector<std::string> names;
  for (const io::onnx::ValueInfo& input : graph.inputs) {
    if (constants.count(input.name) == 0) {
      names.push_back(input.name);
    }
  }
  return names;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  const std::string key = match::normalise(name);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& one) { return match::normalise(one) == key; });
}

std::string inputs_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " input" : " inputs");
}

class BakedInputs {
 public:
  BakedInputs(const io::onnx::Model& model, const std::string& folder)
      : folder_(folder), inputs_(inputs_of(model.graph)), constants_(constants_of(model.graph)) {}

  void look_for(const std::vector<std::string>& names) {
    std::vector<std::string> missing;
    std::copy_if(names.begin(), names.end(), std::back_inserter(missing),
                 [&](const std::string& name) { return !holds(inputs_, name); });
    if (names.size() > inputs_.size() || (!missing.empty() && names.size() == inputs_.size())) {
      found_.push_back("the model takes " + inputs_text(inputs_.size()) + " (" +
                       join(inputs_, ", ") + "), " + std::to_string(names.size()) +
                       " were listed; not among them: " + join(missing, ", "));
    }
    for (const std::string& name : missing) {
      for (const NamedConstant& constant : constants_) {
        if (match::normalise(constant.name) == match::normalise(name)) {
          found_.push_back("the input " + name + " was baked in as a constant of that name");
        }
      }
    }
  }

  Status look_at(const std::string& online) {
    OPDRIFT_TRY(const pipeline::DumpIndex index,
                pipeline::index_dump(online, verdict::RunSide::golden, 0));
    std::size_t count = 0;
    for (const pipeline::IndexedTensor& tensor : index.tensors) {
      if (to_lower(tensor.name.operator_name).starts_with("input")) {
        ++count;
        compare(tensor);
      }
    }
    if (count > inputs_.size()) {
      found_.push_back("the online run has " + inputs_text(count) + ", the model takes " +
                       std::to_string(inputs_.size()) + " (" + join(inputs_, ", ") + ")");
    }
    return Unit{};
  }

  std::vector<std::string> take() { return std::move(found_); }

 private:
  void compare(const pipeline::IndexedTensor& input) {
    const auto given = pipeline::load(input);
    const auto view = given ? tensor::stored_view(*given) : Result<tensor::View>(given.error());
    if (!view) {
      found_.push_back("the online input " + input.name.operator_name +
                       " cannot be read: " + view.error().message);
      return;
    }
    if (view->count() < 2) {
      return;  // one number may be anywhere
    }
    for (const NamedConstant& constant : constants_) {
      const auto count = tensor::element_count(constant.tensor->dims);
      if (count && *count == view->count() && equals(*constant.tensor, *view)) {
        found_.push_back("the constant " + constant.name + " holds the values of " +
                         input.name.operator_name + ": this input was baked in");
      }
    }
  }

  bool equals(const io::onnx::Tensor& constant, const tensor::View& input) const {
    const auto loaded = io::onnx::load(constant, folder_);
    const auto view =
        loaded ? tensor::flat_view(*loaded, input.count()) : Result<tensor::View>(loaded.error());
    const auto flat = tensor::flat_view(input.tensor, input.count());
    const auto measured =
        view && flat ? metrics::measure(*flat, *view) : Result<metrics::Measurement>(Error{});
    return measured && measured->class_mismatches == 0 && measured->sum_golden2 > 0.0 &&
           measured->relative_l2() <= kRounded;
  }

  const std::string& folder_;
  std::vector<std::string> inputs_;
  std::vector<NamedConstant> constants_;
  std::vector<std::string> found_;
};

}  // namespace

Result<std::vector<std::string>> find_baked_inputs(const io::onnx::Model& model,
                                                   const std::string& folder,
                                                   const InputsToFind& wanted) {
  BakedInputs search(model, folder);
  if (!wanted.names.empty()) {
    search.look_for(wanted.names);
  }
  if (!wanted.online.empty()) {
    OPDRIFT_CHECK_OK(search.look_at(wanted.online));
  }
  return search.take();
}

}  // namespace opdrift::diagnose::evidence
