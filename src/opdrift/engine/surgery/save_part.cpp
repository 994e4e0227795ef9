#include "opdrift/engine/surgery/save_part.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::engine {

namespace {

namespace fs = std::filesystem;
namespace onnx = io::onnx;

constexpr std::uint64_t kMinSpooledBytes = 1024;

/// What is done with a constant: true when it was changed.
using Visit = std::function<Result<bool>(onnx::Tensor&)>;

Result<bool> for_each_constant(onnx::Graph& graph, const Visit& visit);

Result<bool> visit_attribute(onnx::Attribute& attribute, const Visit& visit) {
  bool changed = false;
  if (attribute.tensor) {
    OPDRIFT_TRY(changed, visit(*attribute.tensor));
  }
  for (auto& body : attribute.graphs) {
    auto copy = std::make_shared<onnx::Graph>(*body);
    OPDRIFT_TRY(const bool changed_body, for_each_constant(*copy, visit));
    if (changed_body) {
      body = std::move(copy);
      changed = true;
    }
  }
  if (changed) {
    attribute.message = {};
  }
  return changed;
}

/// Visits initializers and tensor attributes, those of bodies included; messages of what changed
/// are dropped.
Result<bool> for_each_constant(onnx::Graph& graph, const Visit& visit) {
  bool changed = false;
  for (onnx::Tensor& tensor : graph.initializers) {
    OPDRIFT_TRY(const bool changed_tensor, visit(tensor));
    changed = changed || changed_tensor;
  }
  for (onnx::Node& node : graph.nodes) {
    bool changed_node = false;
    for (onnx::Attribute& attribute : node.attributes) {
      OPDRIFT_TRY(const bool changed_attribute, visit_attribute(attribute, visit));
      changed_node = changed_node || changed_attribute;
    }
    if (changed_node) {
      node.message = {};
      changed = true;
    }
  }
  return changed;
}

bool same_file(const std::string& one, const std::string& two) {
  std::error_code failed;
  return fs::equivalent(one, two, failed) && !failed;
}

class Saver {
 public:
  Saver(const std::string& path, PlacedModel placed, const SaveOptions& options)
      : path_(path), data_path_(path + ".data"), placed_(std::move(placed)), options_(options) {}

  Result<SavedPart> run() {
    OPDRIFT_CHECK_OK(for_each_constant(graph(), [&](onnx::Tensor& t) { return measure(t); }));
    if (saved_.weight_bytes > options_.max_inline_bytes) {
      OPDRIFT_CHECK_OK(spool_all());
    } else {
      OPDRIFT_CHECK_OK(for_each_constant(graph(), [&](onnx::Tensor& t) { return take_in(t); }));
    }
    OPDRIFT_CHECK_OK(onnx::write_model(path_, placed_.model));
    if (saved_.data_file.empty()) {
      std::error_code ignored;
      fs::remove(data_path_, ignored);
    }
    return saved_;
  }

 private:
  onnx::Graph& graph() { return placed_.model.graph; }

  Result<bool> measure(const onnx::Tensor& tensor) {
    saved_.weight_bytes += tensor.stored_bytes();
    if (!tensor.external) {
      return false;
    }
    OPDRIFT_TRY(const tensor::Tensor loaded, onnx::load(tensor, placed_.folder));
    saved_.weight_bytes += loaded.bytes.size();
    OPDRIFT_TRY(const std::string source, onnx::external_path(tensor.location, placed_.folder));
    for (const std::string& written : {path_, data_path_}) {
      if (same_file(source, written)) {
        return Error{ErrorCode::invalid_argument,
                     "the model's weights lie in '" + printable(written) +
                         "', which would be replaced; give the new model another name"};
      }
    }
    return false;
  }

  Result<bool> take_in(onnx::Tensor& tensor) const {
    if (!tensor.external) {
      return false;
    }
    OPDRIFT_TRY(tensor::Tensor loaded, onnx::load(tensor, placed_.folder));
    tensor = onnx::make_inner_tensor(tensor, tensor.name, std::move(loaded.bytes));
    return true;
  }

  Status spool_all() {
    OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(data_path_));
    OPDRIFT_CHECK_OK(for_each_constant(graph(), [&](onnx::Tensor& t) { return spool(t, file); }));
    OPDRIFT_CHECK_OK(file.commit());
    saved_.data_file = data_path_;
    return Unit{};
  }

  Result<bool> spool(onnx::Tensor& tensor, io::FileWriter& file) const {
    if (!tensor.external && tensor.stored_bytes() < kMinSpooledBytes) {
      return false;
    }
    const Result<tensor::Tensor> loaded = onnx::load(tensor, placed_.folder);
    if (!loaded) {
      return tensor.external ? Result<bool>(loaded.error()) : Result<bool>(false);  // text stays
    }
    const std::uint64_t offset = file.position();
    OPDRIFT_CHECK_OK(onnx::write_bytes(file, loaded->bytes));
    tensor = onnx::make_external_tensor(tensor, std::string(io::base_name(data_path_)), offset,
                                        loaded->bytes.size());
    return true;
  }

  const std::string& path_;
  std::string data_path_;
  PlacedModel placed_;
  const SaveOptions& options_;
  SavedPart saved_;
};

}  // namespace

Result<SavedPart> save_part(const std::string& path, PlacedModel placed,
                            const SaveOptions& options) {
  return Saver(path, std::move(placed), options).run();
}

}  // namespace opdrift::engine
