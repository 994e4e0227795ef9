#include "opdrift/diagnose/bisect/probe_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/engine/surgery/part.hpp"
#include "opdrift/engine/surgery/save_part.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"
#include "opdrift/io/plain_writers.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::diagnose {

namespace {

using engine::NamedTensor;

Result<NamedTensor> value_of(const std::string& name, std::span<const NamedTensor> inputs,
                             const KnownValues& known) {
  const auto found = known.find(name);
  if (found != known.end()) {
    if (!found->second.tensor) {
      return Error{ErrorCode::unsupported,
                   "value '" + printable(name) + "' cannot be handed over: " +
                       (found->second.reason.empty() ? std::string(to_string(found->second.kind))
                                                     : found->second.reason)};
    }
    return NamedTensor{name, *found->second.tensor};
  }
  for (const NamedTensor& input : inputs) {
    if (input.name == name) {
      return input;
    }
  }
  return Error{ErrorCode::unsupported, "no value of '" + printable(name) + "' is at hand"};
}

std::vector<io::onnx::Dim> dims_of(const tensor::Tensor& tensor) {
  std::vector<io::onnx::Dim> dims;
  for (const std::uint64_t extent : tensor.desc.shape) {
    dims.push_back({extent, ""});
  }
  return dims;
}

io::onnx::ValueInfo type_of(const std::string& name, const tensor::Tensor& tensor) {
  return io::onnx::make_value_info(name, io::onnx::data_type_of(tensor.desc.dtype),
                                   dims_of(tensor));
}

std::string file_name_of(std::size_t position, const std::string& name) {
  std::string plain = name.substr(0, 100);
  std::replace_if(
      plain.begin(), plain.end(),
      [](char c) { return std::string_view("/\\:*?\"<>|, ").find(c) != std::string_view::npos; },
      '_');
  return std::to_string(position) + "_" + (is_utf8(plain) ? plain : "input") + ".bin";
}

}  // namespace

Result<PartRun> prepare_part(const engine::Workpiece& piece, const engine::NodeSet& nodes,
                             const std::vector<std::string>& outputs,
                             std::span<const NamedTensor> inputs, const KnownValues& known,
                             bool typed_outputs) {
  engine::PartRequest request;
  request.nodes = nodes;
  request.outputs = outputs;
  request.bare_outputs = !typed_outputs;
  for (const std::string& name : outputs) {
    const auto value = known.find(name);
    if (typed_outputs && value != known.end() && value->second.tensor) {
      request.known.emplace(name, type_of(name, *value->second.tensor));
    }
  }
  PartRun run;
  const engine::Part untyped = make_part(piece, request);
  for (const std::string& name : untyped.inputs) {
    OPDRIFT_TRY(NamedTensor value, value_of(name, inputs, known));
    request.input_shapes[name] = dims_of(value.tensor);
    request.input_types[name] = io::onnx::data_type_of(value.tensor.desc.dtype);
    run.inputs.push_back(std::move(value));
  }
  run.placed = make_part(piece, request).placed;
  run.outputs = outputs;
  return run;
}

Result<std::vector<std::string>> write_inputs(const std::string& folder, const PartRun& part) {
  std::error_code failed;
  std::filesystem::create_directories(folder + "/inputs", failed);
  if (failed) {
    return Error{ErrorCode::write_failed, "cannot make the folder: " + failed.message(), folder};
  }
  std::vector<std::string> paths;
  for (const NamedTensor& input : part.inputs) {
    paths.push_back(folder + "/inputs/" + file_name_of(paths.size(), input.name));
    OPDRIFT_TRY(const tensor::View view, tensor::stored_view(input.tensor));
    OPDRIFT_CHECK_OK(io::write_bin(paths.back(), view));
  }
  return paths;
}

Result<std::vector<std::string>> write_part(const std::string& folder,
                                            const std::string& model_file, const PartRun& part) {
  OPDRIFT_TRY(std::vector<std::string> paths, write_inputs(folder, part));
  OPDRIFT_CHECK_OK(engine::save_part(folder + "/" + model_file, part.placed));
  return paths;
}

}  // namespace opdrift::diagnose
