#include "unit/replay/runtime/twin.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/engine/import_domain.hpp"
#include "opdrift/io/onnx/graph.hpp"
#include "opdrift/tensor/encode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::replay::test {

namespace onnx = io::onnx;

namespace {

Result<tensor::Tensor> stored(const Array& array) {
  tensor::Tensor made;
  made.desc.dtype = array.dtype;
  made.desc.shape = array.shape;
  std::vector<std::byte> bytes((array.size() * tensor::info(array.dtype).bits + 7) / 8);
  tensor::encode(array.dtype, array.values.data(), array.size(), bytes.data());
  made.bytes = own_bytes(std::move(bytes));
  return made;
}

void expect_output_alike(const Array& found, const Array& expected, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(found.shape, expected.shape) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double e = expected.values[i];
    if (std::isfinite(e)) {
      ASSERT_NEAR(found.values[i], e, tolerance * std::max(1.0, std::abs(e)))
          << what << ", element " << i;
    } else {
      ASSERT_TRUE(found.values[i] == e || (std::isnan(found.values[i]) && std::isnan(e)))
          << what << ", element " << i << ": " << found.values[i] << " for " << e;
    }
  }
}

// A target that computes as ONNX Runtime does is not to blame beside a golden that rounds once.
void expect_within_budget(const OperatorKind& kind, const Terms& found, const Array& replayed,
                          const Array& theirs, const std::string& what) {
  if (!tensor::is_floating(theirs.dtype)) {
    return;
  }
  Values golden = replayed.values;
  for (double& value : golden) {
    value = tensor::round_through(theirs.dtype, value);
  }
  Precision precision;
  precision.golden = precision.target = theirs.dtype;
  const Evidence evidence{golden, theirs.values, replayed.values, replayed.values};
  const OwnError error = own_error(evidence, theirs.dtype);
  const Values inner = inner_variance(kind, found, replayed.values, precision);
  const Values sigma2 = variance(evidence, inner, precision);
  const Ratios own = ratios(error.d, sigma2, error.part, replayed.size());
  EXPECT_LE(own.q_own, 4.0) << what;
  EXPECT_LE(own.z_scaled, 4.0) << what << ", element " << own.worst;
}

}  // namespace

Twin::Twin(std::string type, int opset, std::string domain) : opset_(opset) {
  node_ = onnx::make_node(std::move(type), "node", {}, {"y0"});
  node_.domain = std::move(domain);
}

Twin& Twin::in(Array a) {
  for (double& value : a.values) {
    value = tensor::round_through(a.dtype, value);
  }
  node_.inputs.push_back("x" + std::to_string(inputs_.size()));
  inputs_.push_back(std::move(a));
  return *this;
}

Twin& Twin::absent() {
  node_.inputs.emplace_back();
  inputs_.push_back(std::nullopt);
  return *this;
}

onnx::Attribute& Twin::attribute(const std::string& name, onnx::AttributeType type) {
  onnx::Attribute made;
  made.name = name;
  made.type = type;
  node_.attributes.push_back(std::move(made));
  return node_.attributes.back();
}

Twin& Twin::set(const std::string& name, std::int64_t value) {
  attribute(name, onnx::AttributeType::integer).integer = value;
  return *this;
}
Twin& Twin::set(const std::string& name, double value) {
  attribute(name, onnx::AttributeType::real).real = static_cast<float>(value);
  return *this;
}
Twin& Twin::set(const std::string& name, const char* value) {
  attribute(name, onnx::AttributeType::text).text = value;
  return *this;
}
Twin& Twin::set(const std::string& name, Integers values) {
  attribute(name, onnx::AttributeType::integers).integers = std::move(values);
  return *this;
}
Twin& Twin::set(const std::string& name, Values values) {
  attribute(name, onnx::AttributeType::reals).reals.assign(values.begin(), values.end());
  return *this;
}

Twin& Twin::outputs(std::size_t count) {
  node_.outputs.clear();
  for (std::size_t i = 0; i < count; ++i) {
    node_.outputs.push_back("y" + std::to_string(i));
  }
  return *this;
}

Twin& Twin::coarse() {
  budgeted_ = false;
  return *this;
}

onnx::Model Twin::model() const {
  onnx::Model model = io::testing::empty_model(static_cast<std::uint64_t>(opset_));
  if (!node_.domain.empty()) {
    engine::import_domain(model, node_.domain);
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i]) {
      std::vector<onnx::Dim> dims;
      for (const std::uint64_t extent : inputs_[i]->shape) {
        dims.push_back({extent, ""});
      }
      model.graph.inputs.push_back(
          onnx::make_value_info(node_.inputs[i], onnx::data_type_of(inputs_[i]->dtype), dims));
    }
  }
  model.graph.nodes = {node_};
  for (const std::string& name : node_.outputs) {
    model.graph.outputs.push_back(onnx::make_value_info(name));
  }
  return model;
}

Result<Outputs> Twin::run() const {
  OPDRIFT_TRY(const auto runtime, engine::Runtime::load());
  OPDRIFT_TRY(const onnx::EncodedModel encoded, onnx::encode(model()));
  const std::vector<std::byte> bytes = encoded.flatten();
  OPDRIFT_TRY(const auto session, runtime->open({bytes.data(), bytes.size()}, {}));
  std::vector<engine::NamedTensor> fed;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i]) {
      OPDRIFT_TRY(tensor::Tensor tensor, stored(*inputs_[i]));
      fed.push_back({node_.inputs[i], std::move(tensor)});
    }
  }
  OPDRIFT_TRY(const auto values, session->run(fed, node_.outputs));
  Outputs outputs;
  for (const engine::RunValue& value : values) {
    if (!value.tensor) {
      return Error{ErrorCode::unsupported, value.reason};
    }
    OPDRIFT_TRY(const tensor::View view, tensor::stored_view(*value.tensor));
    OPDRIFT_TRY(Array array, load(view));
    outputs.push_back(std::move(array));
  }
  return outputs;
}

void Twin::expect_alike(double tolerance) const {
  const Result<Outputs> theirs = run();
  ASSERT_TRUE(theirs.has_value()) << node_.op_type
                                  << " in ONNX Runtime: " << theirs.error().message;
  const graph::Graph graph = onnx::to_graph(model());
  const OperatorKind* kind = find_kind(node_.op_type, Dialect::onnx);
  ASSERT_NE(kind, nullptr) << node_.op_type;
  std::vector<const Array*> inputs;
  for (const std::optional<Array>& input : inputs_) {
    inputs.push_back(input ? &*input : nullptr);
  }
  const Call call{graph.operators.front(), inputs};
  const Result<Outputs> ours = evaluate(*kind, call);
  ASSERT_TRUE(ours.has_value()) << ours.error().message;
  ASSERT_GE(ours->size(), theirs->size()) << node_.op_type;
  for (std::size_t i = 0; i < theirs->size(); ++i) {
    const std::string what = node_.op_type + " output " + std::to_string(i);
    expect_output_alike((*ours)[i], (*theirs)[i], tolerance, what);
    const Result<Terms> found = terms(*kind, call, i, (*ours)[i]);
    ASSERT_TRUE(found.has_value()) << what << ": " << found.error().message;
    if (budgeted_) {
      expect_within_budget(*kind, *found, (*ours)[i], (*theirs)[i], what);
    }
  }
}

}  // namespace opdrift::replay::test
