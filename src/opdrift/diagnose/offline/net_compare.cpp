#include "opdrift/diagnose/offline/net_compare.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/diagnose/offline/whole_network.hpp"
#include "opdrift/graph/model_facts.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/pipeline/network/file_compare.hpp"
#include "opdrift/pipeline/network/report.hpp"
#include "opdrift/report/msaccucmp_csv.hpp"

namespace opdrift::diagnose::offline {

namespace {

const std::string kNone(report::kNoValue);

/// The device's bytes as a tensor of the golden's shape.
Result<tensor::Tensor> device_tensor(const std::string& path, const graph::NetTensor& output,
                                     const tensor::Shape& golden_shape) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(golden_shape));
  const auto size = tensor::storage_bytes(output.dtype, count);
  if (!size) {
    return Error{ErrorCode::unsupported_dtype,
                 "type " + printable(output.desc.dtype) + " of the output has no size", path};
  }
  if (*size != bytes.size()) {
    return Error{ErrorCode::mismatch,
                 "expected " + std::to_string(*size) + " bytes for shape (" +
                     tensor::to_string(golden_shape) + ") of " +
                     std::string(tensor::name_of(output.dtype)) + ", found " +
                     std::to_string(bytes.size()),
                 path};
  }
  tensor::Tensor tensor;
  tensor.desc.dtype = output.dtype;
  tensor.desc.shape = golden_shape;
  tensor.bytes = bytes;
  return tensor;
}

/// One row as far as it comes.
class Row {
 public:
  Row(std::size_t index, std::string device, std::string golden, std::string folder)
      : index_(index),
        device_(std::move(device)),
        golden_(std::move(golden)),
        folder_(std::move(folder)) {}

  std::vector<std::string> cells(const graph::NetTensor& output) {
    values_.assign(reference_columns().size(), kNone);
    const Outcome<Unit> measured = measure(output);
    const std::string reason = measured ? join(messages_, ",") : measured.error().error.to_string();
    const std::string position = std::to_string(index_);
    std::vector<std::string> cells = {position,      "NetOutput",
                                      "Node_Output", target_type_,
                                      kNone,         std::string(io::base_name(golden_)),
                                      golden_type_,  "Node_Output:output:" + position,
                                      shape_};
    cells.insert(cells.end(), values_.begin(), values_.end());
    cells.push_back(reason);
    return cells;
  }

 private:
  Outcome<Unit> measure(const graph::NetTensor& output) {
    if (golden_.empty()) {
      return failed(Number::no_dump_file, "the golden run made no file for this output");
    }
    OPDRIFT_TRY(const io::FileDump golden, io::open_npy(golden_));
    const tensor::TensorDesc& desc = golden.tensors.front().desc;
    golden_type_ = tensor::name_of(desc.dtype);
    target_type_ = tensor::name_of(output.dtype);
    shape_ = pipeline::bracketed(desc.shape);
    OPDRIFT_TRY(const tensor::Tensor tensor, device_tensor(device_, output, desc.shape));
    const std::string path = folder_ + "/output_" + std::to_string(index_) + ".npy";
    OPDRIFT_CHECK_OK(write_tensor(path, tensor));
    OPDRIFT_TRY(const auto measured,
                pipeline::compare_array_files(
                    path, golden_,
                    {.algorithms = reference_columns(), .max_elements = 0, .reference = true}));
    for (std::size_t i = 0; i < measured.size() && i < values_.size(); ++i) {
      values_[i] = measured[i].text;
      if (!measured[i].message.empty()) {
        messages_.push_back(measured[i].message);
      }
    }
    return Unit{};
  }

  std::size_t index_;
  std::string device_;
  std::string golden_;
  std::string folder_;
  std::string target_type_ = kNone;
  std::string golden_type_ = kNone;
  std::string shape_ = kNone;
  std::vector<std::string> values_;
  std::vector<std::string> messages_;
};

}  // namespace

bool repair_order(std::vector<std::string>& golden, const graph::Graph& model) {
  const std::vector<graph::NetOutputName> names = graph::net_output_names(model);
  if (names.size() != 1 || golden.empty()) {
    return false;
  }
  const std::string start = replace_all(replace_all(names.front().text, "/", "_"), ":", ".");
  const auto found = std::find_if(golden.begin(), golden.end(), [&](const std::string& path) {
    return io::base_name(path).substr(0, start.size()) == start;
  });
  if (found == golden.end()) {
    return false;
  }
  std::iter_swap(golden.begin(), found);
  return true;
}

Outcome<NetCompare> compare_net_outputs(const NetCompareJob& job, const graph::Graph& model) {
  const std::vector<graph::NetTensor> outputs = graph::net_outputs(model);
  if (outputs.empty()) {
    return failed(Number::net_output, "the model has no NetOutput", model.source_path);
  }
  if (job.device.size() != outputs.size() || job.golden.size() != outputs.size()) {
    return failed(Number::net_output,
                  "expected " + std::to_string(outputs.size()) +
                      " output(s) as the model has, found " + std::to_string(job.device.size()) +
                      " of the device and " + std::to_string(job.golden.size()) + " golden",
                  model.source_path);
  }
  NetCompare result;
  std::vector<std::string> golden = job.golden;
  if (!repair_order(golden, model)) {
    result.warnings.emplace_back("outputs were paired by position");
  }
  result.table.header = {"Index",       "OpType",   "NPUDump",     "DataType", "Address",
                         "GroundTruth", "DataType", "TensorIndex", "Shape"};
  const std::vector<std::string> numbers = reference_columns();
  result.table.header.insert(result.table.header.end(), numbers.begin(), numbers.end());
  result.table.header.emplace_back("CompareFailReason");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result.table.rows.push_back(Row(i, job.device[i], golden[i], job.folder).cells(outputs[i]));
  }
  return result;
}

}  // namespace opdrift::diagnose::offline
