#include "opdrift/pipeline/torch_compare.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/hdf5_reader.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/match/torch_match.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/network/algorithm_values.hpp"
#include "opdrift/pipeline/network/report.hpp"

namespace opdrift::pipeline {

namespace {

constexpr std::int64_t kTypeTensor = 0;
constexpr std::int64_t kDeviceCpu = 0;
constexpr std::int64_t kDeviceGpu = 1;
constexpr std::int64_t kDeviceNpu = 10;
constexpr double kGoodCosine = 0.95;

/// The comparable tensors of one file.
struct Side {
  std::unique_ptr<const io::FileDump> dump;
  std::vector<match::TorchTensor> tensors;
  std::vector<const io::FileTensor*> files;
};

Result<Side> open_side(const std::string& path) {
  auto dump = io::open_hdf5(path);
  if (!dump.has_value()) {
    Error error = dump.error();
    error.code = ErrorCode::io;
    return error;
  }
  Side side;
  side.dump = std::make_unique<const io::FileDump>(std::move(*dump));
  for (const io::FileTensor& tensor : side.dump->tensors) {
    const auto name = io::parse_torch_tensor_name(tensor.name);
    if (!name || io::attribute_number(tensor, "Type") != kTypeTensor) {
      continue;
    }
    const bool input = name->role == io::TensorRole::input;
    side.tensors.push_back(
        {name->op, name->order, (input ? "input/" : "output/") + name->name, input});
    side.files.push_back(&tensor);
  }
  return side;
}

/// The first device that is no CPU; CPU when there is none.
std::int64_t device_of(const Side& side) {
  for (const io::FileTensor* tensor : side.files) {
    const std::int64_t device = io::attribute_number(*tensor, "DeviceType").value_or(kDeviceCpu);
    if (device != kDeviceCpu) {
      return device;
    }
  }
  return kDeviceCpu;
}

match::TorchDevice match_device(std::int64_t device) {
  if (device == kDeviceGpu) {
    return match::TorchDevice::gpu;
  }
  return device == kDeviceCpu ? match::TorchDevice::cpu : match::TorchDevice::other;
}

const char* type_name(std::int64_t type) {
  switch (type) {
    case 1: return "Float";
    case 2: return "Byte";
    case 3: return "Char";
    case 5: return "Short";
    case 6: return "Int";
    case 7: return "Long";
    case 9: return "Bool";
    case 10: return "Half";
    case 11: return "Double";
    default: return "unknown";
  }
}

bool types_fit(std::int64_t one, std::int64_t other) {
  const auto both_in = [one, other](std::int64_t a, std::int64_t b) {
    return (one == a || one == b) && (other == a || other == b);
  };
  return one == other || both_in(6, 7) || both_in(1, 10);
}

Result<tensor::View> flat(const io::FileTensor& file_tensor) {
  if (file_tensor.problem) {
    return *file_tensor.problem;
  }
  OPDRIFT_TRY(const tensor::Tensor tensor, io::load_tensor(file_tensor));
  return tensor::stored_view(tensor);
}

Result<metrics::Measurement> measure_pair(const io::FileTensor& target,
                                          const io::FileTensor& golden,
                                          const TorchOptions& options) {
  const std::int64_t target_type = io::attribute_number(target, "DataType").value_or(-1);
  const std::int64_t golden_type = io::attribute_number(golden, "DataType").value_or(-1);
  if (!types_fit(target_type, golden_type)) {
    return Error{ErrorCode::mismatch, std::string("data types differ: target ") +
                                          type_name(target_type) + ", golden " +
                                          type_name(golden_type)};
  }
  OPDRIFT_TRY(const tensor::View target_view, flat(target));
  OPDRIFT_TRY(const tensor::View golden_view, flat(golden));
  if (target_view.count() != golden_view.count()) {
    return Error{ErrorCode::mismatch, "shapes differ: target [" +
                                          tensor::to_string(target.desc.shape) + "], golden [" +
                                          tensor::to_string(golden.desc.shape) + "]"};
  }
  metrics::MeasureOptions measure;
  measure.kl_divergence = needs_divergence(options.algorithms);
  measure.max_elements = options.max_elements;
  measure.round_to_float32 = options.reference;
  measure.cancel = options.cancel;
  return metrics::measure(golden_view, target_view, measure);
}

void compare_row(TorchRow& row, const TorchOptions& options) {
  if (row.target == nullptr || row.golden == nullptr) {
    return;
  }
  const auto measurement = measure_pair(*row.target, *row.golden, options);
  if (!measurement.has_value()) {
    row.reason =
        "[" + row.operator_name + "] " + row.target->name + ": " + measurement.error().message;
    return;
  }
  row.measurement = *measurement;
  AlgorithmContext context;
  context.target_path = row.target->name;
  context.golden_path = row.golden->name;
  context.scalar = std::all_of(row.target->desc.shape.begin(), row.target->desc.shape.end(),
                               [](std::uint64_t extent) { return extent == 1; });
  context.reference = options.reference;
  row.values = algorithm_values(options.algorithms, *measurement, context);
}

using OpOrder = std::pair<std::string, std::uint64_t>;

TorchRow row_of(const match::TorchPair& pair, const Side& target, const Side& golden,
                std::uint64_t last_index) {
  TorchRow row;
  row.rule = match::to_string(pair.rule);
  if (!pair.target) {
    const match::TorchTensor& tensor = golden.tensors[*pair.golden];
    row.index = last_index;
    row.golden_name = "/" + tensor.op + "/" + std::to_string(tensor.order);
    row.reason = "no target data for " + row.golden_name;
    return row;
  }
  const match::TorchTensor& tensor = target.tensors[*pair.target];
  row.index = tensor.order;
  row.operator_name = tensor.op;
  row.target = target.files[*pair.target];
  if (pair.golden) {
    row.golden = golden.files[*pair.golden];
    row.golden_name = row.golden->name;
  } else {
    row.reason = "[" + tensor.op + "] no golden data for " + row.target->name;
  }
  return row;
}

/// An operator none of whose tensors has a golden gives one row, without paths.
TorchRow lone_row(const match::TorchTensor& tensor) {
  TorchRow row;
  row.index = tensor.order;
  row.operator_name = tensor.op;
  row.rule = match::to_string(match::TorchRule::none);
  row.reason = "[" + tensor.op + "] no golden data for this operator";
  return row;
}

std::vector<TorchRow> rows_of(const Side& target, const Side& golden) {
  std::uint64_t last_index = 0;
  for (const match::TorchTensor& tensor : target.tensors) {
    last_index = std::max(last_index, tensor.order + 1);
  }
  const std::vector<match::TorchPair> pairs =
      match::pair_torch(target.tensors, golden.tensors, match_device(device_of(golden)));
  std::set<OpOrder> paired;
  for (const match::TorchPair& pair : pairs) {
    if (pair.target && pair.golden) {
      paired.insert({target.tensors[*pair.target].op, target.tensors[*pair.target].order});
    }
  }
  std::vector<TorchRow> rows;
  std::set<OpOrder> told;
  for (const match::TorchPair& pair : pairs) {
    const match::TorchTensor* tensor = pair.target ? &target.tensors[*pair.target] : nullptr;
    if (tensor == nullptr || paired.contains({tensor->op, tensor->order})) {
      rows.push_back(row_of(pair, target, golden, last_index));
    } else if (told.insert({tensor->op, tensor->order}).second) {
      rows.push_back(lone_row(*tensor));
    }
  }
  return rows;
}

bool is_bad(const TorchRow& row) {
  if (row.target == nullptr || row.golden == nullptr) {
    return false;
  }
  return !row.measurement || !(row.measurement->cosine() > kGoodCosine);
}

std::string path_in(const std::string& folder, std::string_view side, const std::string& number) {
  std::string path = folder;
  path.append("/").append(side).append("_").append(number).append(".npy");
  return path;
}

Status write_side(const io::FileTensor& tensor, const std::string& path) {
  OPDRIFT_TRY(const tensor::View view, flat(tensor));
  return io::write_npy(path, view);
}

}  // namespace

Result<TorchResult> compare_torch(const TorchOptions& options) {
  OPDRIFT_TRY(Side target, open_side(options.target_path));
  OPDRIFT_TRY(Side golden, open_side(options.golden_path));
  if (target.tensors.empty() || device_of(target) != kDeviceNpu) {
    return Error{ErrorCode::malformed,
                 target.tensors.empty() ? "expected tensors, found none"
                                        : "expected tensors of an NPU, found another device",
                 options.target_path};
  }
  TorchResult result;
  result.algorithms = options.algorithms;
  result.rows = rows_of(target, golden);
  parallel_for(
      result.rows.size(), worker_count(options.jobs),
      [&](std::size_t i) { compare_row(result.rows[i], options); }, options.cancel);
  result.target = std::move(target.dump);
  result.golden = std::move(golden.dump);
  return result;
}

std::vector<report::MsaccucmpTorchRow> torch_table(const TorchResult& result) {
  std::vector<report::MsaccucmpTorchRow> rows;
  for (const TorchRow& row : result.rows) {
    report::MsaccucmpTorchRow cells;
    cells.index = row.index;
    cells.target = row.operator_name.empty() ? cells.target : row.operator_name;
    cells.target_path = row.target == nullptr ? cells.target_path : row.target->name;
    cells.golden_path = row.golden_name.empty() ? cells.golden_path : row.golden_name;
    cells.reason = row.reason;
    if (row.measurement) {
      cells.dtype = type_after_reading(row.target->desc);
      cells.shape = bracketed(row.target->desc.shape);
    }
    for (const AlgorithmValue& value : row.values) {
      cells.values.push_back(value.text);
      if (!value.message.empty()) {
        cells.reason += (cells.reason.empty() ? "" : ",") + value.message;
      }
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

Status write_bad_torch_rows(const TorchResult& result, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return system_error(error.value(), "make folder", folder);
  }
  const std::vector<report::MsaccucmpTorchRow> all = torch_table(result);
  std::vector<report::MsaccucmpTorchRow> bad;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TorchRow& row = result.rows[i];
    if (!row.measurement || is_bad(row)) {
      bad.push_back(all[i]);
    }
    if (is_bad(row)) {
      const std::string number = std::to_string(i);
      OPDRIFT_CHECK_OK(write_side(*row.target, path_in(folder, "target", number)));
      OPDRIFT_CHECK_OK(write_side(*row.golden, path_in(folder, "golden", number)));
    }
  }
  OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(folder + "/filtered_result.csv"));
  OPDRIFT_CHECK_OK(file.write(report::render_msaccucmp_torch(result.algorithms, bad)));
  return file.commit();
}

}  // namespace opdrift::pipeline
