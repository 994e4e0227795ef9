#include "opdrift/diagnose/offline/input_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <system_error>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/model_facts.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/plain_writers.hpp"
#include "opdrift/tensor/encode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;
using tensor::DType;

constexpr std::int64_t kUnknownRank = -2;  // as the only dim
constexpr std::uint64_t kMaxInputBytes = std::uint64_t{16} << 30;

std::string about(std::size_t position, const WantedInput& input) {
  return "input " + std::to_string(position) + " '" + printable(input.name) + "': ";
}

/// An extent list with every number known.
std::optional<tensor::Shape> fixed(const std::vector<std::int64_t>& dims) {
  tensor::Shape shape;
  for (const std::int64_t dim : dims) {
    if (dim < 0) {
      return std::nullopt;
    }
    shape.push_back(static_cast<std::uint64_t>(dim));
  }
  return shape;
}

std::vector<std::int64_t> dims_of(const io::onnx::ValueInfo& input) {
  std::vector<std::int64_t> dims;
  for (const io::onnx::Dim& dim : input.shape.value_or(std::vector<io::onnx::Dim>{})) {
    dims.push_back(dim.value ? static_cast<std::int64_t>(*dim.value) : -1);
  }
  return dims;
}

/// The shape the user wants where the model leaves it open or has the same.
Outcome<std::optional<tensor::Shape>> settle(const std::string& name, bool has_shape,
                                             const std::vector<std::int64_t>& dims,
                                             const std::vector<InputShape>& shapes) {
  const InputShape* const wish = find_shape(shapes, name);
  if (wish == nullptr) {
    return has_shape ? fixed(dims) : std::nullopt;
  }
  bool fits = !has_shape || wish->dims.size() == dims.size();
  for (std::size_t i = 0; has_shape && fits && i < dims.size(); ++i) {
    fits = dims[i] < 0 || static_cast<std::uint64_t>(dims[i]) == wish->dims[i];
  }
  if (!fits) {
    return failed(Number::bad_parameter, "--input-shape of '" + printable(name) + "' (" +
                                             tensor::to_string(wish->dims) +
                                             ") does not fit the model");
  }
  return std::optional<tensor::Shape>(wish->dims);
}

Done check_names(const std::vector<WantedInput>& inputs, const std::vector<InputShape>& shapes) {
  for (const InputShape& shape : shapes) {
    const auto same = [&](const WantedInput& input) { return input.name == shape.name; };
    if (std::none_of(inputs.begin(), inputs.end(), same)) {
      std::vector<std::string> names;
      for (const WantedInput& input : inputs) {
        names.push_back(printable(input.name));
      }
      return failed(Number::bad_parameter, "the model has no input '" + printable(shape.name) +
                                               "'; its inputs are " + join(names, ", "));
    }
  }
  return Unit{};
}

std::uint64_t bytes_for(DType dtype, std::uint64_t count) {
  return tensor::storage_bytes(dtype, count).value_or(0);
}

/// Dense bytes and description of one input, as the golden model gets it.
tensor::Tensor dense_tensor(DType dtype, tensor::Shape shape, Bytes bytes) {
  tensor::Tensor tensor;
  tensor.desc.dtype = dtype;
  tensor.desc.shape = std::move(shape);
  tensor.bytes = std::move(bytes);
  return tensor;
}

std::size_t first_number(const std::string& name) {
  const std::size_t start = name.find_first_of("0123456789");
  if (start == std::string::npos) {
    return 0;
  }
  const std::size_t end = name.find_first_not_of("0123456789", start);
  return parse_u64(name.substr(start, end - start)).value_or(0);
}

/// Makes the files of one request.
class Maker {
 public:
  explicit Maker(const InputRequest& request) : request_(request) {}

  Outcome<InputFiles> run() {
    OPDRIFT_CHECK_OK(make_folder(request_.folder));
    OPDRIFT_TRY(const std::vector<std::string> known, io::list_files(request_.folder));
    if (!request_.files.empty()) {
      OPDRIFT_CHECK_OK(take_given());
    } else if (!known.empty()) {
      OPDRIFT_CHECK_OK(take_known(known));
    } else {
      OPDRIFT_CHECK_OK(take_random());
    }
    OPDRIFT_CHECK_OK(check_sizes());
    if (!request_.image) {
      OPDRIFT_CHECK_OK(make_golden());
    }
    return std::move(made_);
  }

 private:
  static Done make_folder(const std::string& folder) {
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem) {
      return failed(Number::write_file, "cannot make the folder: " + problem.message(), folder);
    }
    return Unit{};
  }

  std::string bin_path(std::size_t position) const {
    return request_.folder + "/input_" + std::to_string(position) + ".bin";
  }

  Done check_count(std::size_t found) const {
    if (found != request_.wanted.size()) {
      return failed(Number::bad_data, "expected " + std::to_string(request_.wanted.size()) +
                                          " input file(s), one per input of the model, found " +
                                          std::to_string(found));
    }
    return Unit{};
  }

  Done take_given() {
    OPDRIFT_CHECK_OK(check_count(request_.files.size()));
    for (std::size_t i = 0; i < request_.files.size(); ++i) {
      const std::string& path = request_.files[i];
      std::error_code problem;
      if (!fs::is_regular_file(path, problem)) {
        return failed(Number::bad_path, "expected an existing file for --input", path);
      }
      if (path.ends_with(".npy")) {
        OPDRIFT_CHECK_OK(take_npy(path, i));
      } else if (path.ends_with(".bin")) {
        OPDRIFT_TRY(const Bytes bytes, map_file(path));
        OPDRIFT_CHECK_OK(io::write_file(bin_path(i), as_text(bytes.span)));
      } else {
        return failed(Number::bad_parameter, "expected a file ending in .npy or .bin", path);
      }
      made_.device.push_back(bin_path(i));
    }
    return Unit{};
  }

  Done take_npy(const std::string& path, std::size_t position) {
    OPDRIFT_TRY(const io::FileDump dump, io::open_npy(path));
    OPDRIFT_TRY(const tensor::Tensor tensor, io::load_tensor(dump.tensors.front()));
    OPDRIFT_TRY(const tensor::View view, tensor::stored_view(tensor));
    OPDRIFT_CHECK_OK(io::write_bin(bin_path(position), view));
    npy_[position] = tensor.desc;
    return Unit{};
  }

  Done take_known(const std::vector<std::string>& names) {
    OPDRIFT_CHECK_OK(check_count(names.size()));
    std::vector<std::string> ordered = names;
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
      return first_number(a) < first_number(b);
    });
    for (const std::string& name : ordered) {
      made_.device.push_back(request_.folder + "/" + name);
    }
    return Unit{};
  }

  Done take_random() {
    for (std::size_t i = 0; i < request_.wanted.size(); ++i) {
      OPDRIFT_TRY(const Bytes bytes, random_bytes(i));
      OPDRIFT_CHECK_OK(io::write_file(bin_path(i), as_text(bytes.span)));
      made_.device.push_back(bin_path(i));
    }
    return Unit{};
  }

  Outcome<Bytes> random_bytes(std::size_t position) const {
    const WantedInput& input = request_.wanted[position];
    std::mt19937_64 numbers(position);
    if (request_.image && input.device_bytes && *input.device_bytes <= kMaxInputBytes) {
      std::vector<std::byte> bytes(*input.device_bytes);
      for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(numbers() >> 56);
      }
      return own_bytes(std::move(bytes));
    }
    if (!input.shape) {
      return failed(
          Number::bad_parameter,
          about(position, input) + "the model leaves its shape open; give --input-shape or a file");
    }
    const DType dtype = input.device_dtype.value_or(input.dtype);
    OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(*input.shape));
    const auto size = tensor::storage_bytes(dtype, count);
    if (!size || *size > kMaxInputBytes) {
      return failed(Number::bad_parameter, about(position, input) + "needs more than 16 GiB");
    }
    std::vector<std::byte> bytes(*size);
    const bool fraction = tensor::is_floating(dtype);
    for (std::uint64_t i = 0; i < count; ++i) {
      const double drawn = static_cast<double>(numbers() >> 40) * 0x1p-24;
      const double value = fraction ? drawn : (dtype == DType::boolean ? 1.0 : 0.0);
      tensor::encode(dtype, &value, 1, bytes.data(), i);
    }
    return own_bytes(std::move(bytes));
  }

  Done check_sizes() const {
    for (std::size_t i = 0; i < made_.device.size(); ++i) {
      const WantedInput& input = request_.wanted[i];
      std::error_code problem;
      const std::uint64_t found = fs::file_size(made_.device[i], problem);
      const bool fits = !input.device_bytes || *input.device_bytes == found ||
                        (input.gears && found < *input.device_bytes);
      if (!problem && !fits) {
        return failed(Number::bin_size,
                      about(i, input) + "the offline model takes " +
                          std::to_string(*input.device_bytes) + " bytes, the file has " +
                          std::to_string(found),
                      request_.files.empty() ? made_.device[i] : request_.files[i]);
      }
    }
    return Unit{};
  }

  Done make_golden() {
    const std::string folder = request_.folder + "/../golden_input";
    OPDRIFT_CHECK_OK(make_folder(folder));
    for (std::size_t i = 0; i < request_.wanted.size(); ++i) {
      OPDRIFT_TRY(const tensor::Tensor tensor, golden_tensor(i));
      const std::string path = folder + "/" + std::to_string(i) + ".npy";
      OPDRIFT_TRY(const tensor::View view, tensor::stored_view(tensor));
      OPDRIFT_CHECK_OK(io::write_npy(
          path, view, {.fortran_order = false, .raw_extension_types = true, .file = {}}));
      made_.golden.push_back({request_.wanted[i].name, fs::path(path).lexically_normal()});
    }
    return Unit{};
  }

  /// The numbers of a device file in a type the golden model can be given.
  Outcome<tensor::Tensor> golden_tensor(std::size_t position) const {
    const WantedInput& input = request_.wanted[position];
    OPDRIFT_TRY(const Bytes bytes, map_file(made_.device[position]));
    const auto npy = npy_.find(position);
    DType dtype = npy == npy_.end() ? input.dtype : npy->second.dtype;
    const unsigned bits = tensor::info(dtype).bits;
    std::uint64_t count = bits == 0 ? 0 : bytes.size() * 8 / bits;
    std::uint64_t wanted = count;
    if (input.shape) {
      OPDRIFT_TRY(wanted, tensor::element_count(*input.shape));
    }
    const bool half = npy == npy_.end() && dtype == DType::f32 && input.shape &&
                      bytes.size() == wanted * 2 && wanted != 0;
    if (half) {
      dtype = DType::f16;
      count = wanted;
    }
    if (count != wanted || bytes.size() != bytes_for(dtype, count)) {
      return failed(Number::bad_data,
                    about(position, input) + "expected " + std::to_string(wanted) +
                        " elements of " + std::string(tensor::name_of(dtype)) + ", found " +
                        std::to_string(bytes.size()) + " bytes",
                    request_.files.empty() ? made_.device[position] : request_.files[position]);
    }
    const tensor::Shape own = npy == npy_.end() ? tensor::Shape{count} : npy->second.shape;
    return dense_tensor(dtype, input.shape.value_or(own), bytes);
  }

  const InputRequest& request_;
  std::map<std::size_t, tensor::TensorDesc> npy_;  // of given files, by position
  InputFiles made_;
};

}  // namespace

Outcome<std::vector<WantedInput>> wanted_inputs(const io::onnx::Graph& golden,
                                                const std::vector<InputShape>& shapes) {
  std::vector<WantedInput> inputs;
  for (const io::onnx::ValueInfo* info : engine::required_inputs(golden)) {
    const auto dtype = io::onnx::dtype_of(info->element_type);
    if (info->kind != io::onnx::ValueKind::tensor || !dtype || tensor::info(*dtype).bits == 0) {
      return failed(Number::tensor_type, "input '" + printable(info->name) +
                                             "' of the golden model is no tensor of numbers");
    }
    WantedInput input;
    input.name = info->name;
    input.dtype = *dtype;
    OPDRIFT_TRY(input.shape, settle(info->name, info->shape.has_value(), dims_of(*info), shapes));
    inputs.push_back(std::move(input));
  }
  OPDRIFT_CHECK_OK(check_names(inputs, shapes));
  return inputs;
}

Outcome<std::vector<WantedInput>> wanted_inputs(const graph::Graph& model,
                                                const std::vector<InputShape>& shapes) {
  std::vector<WantedInput> inputs;
  for (const graph::NetTensor& net : graph::net_inputs(model)) {
    if (tensor::info(net.dtype).bits == 0) {
      return failed(Number::bad_key,
                    "input '" + printable(net.name) + "' has the type " +
                        printable(net.desc.dtype) + ", which has no size",
                    model.source_path);
    }
    WantedInput input;
    input.name = net.name;
    input.dtype = net.dtype;
    const bool known_rank = net.desc.dims != std::vector<std::int64_t>{kUnknownRank};
    OPDRIFT_TRY(input.shape, settle(net.name, known_rank, net.desc.dims, shapes));
    inputs.push_back(std::move(input));
  }
  OPDRIFT_CHECK_OK(check_names(inputs, shapes));
  OPDRIFT_CHECK_OK(add_device_sizes(inputs, model));
  return inputs;
}

Done add_device_sizes(std::vector<WantedInput>& inputs, const graph::Graph& model) {
  const std::vector<graph::NetTensor> device = graph::net_inputs(model);
  if (device.size() != inputs.size()) {
    return failed(Number::bad_data,
                  "expected as many inputs as the golden model has (" +
                      std::to_string(inputs.size()) + "), found " + std::to_string(device.size()),
                  model.source_path);
  }
  const bool gears = graph::dynamic_inputs(graph::build_options(model)).has_gears();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].device_bytes = device[i].bytes;
    inputs[i].gears = gears;
    if (tensor::info(device[i].dtype).bits != 0) {
      inputs[i].device_dtype = device[i].dtype;
    }
  }
  return Unit{};
}

Outcome<InputFiles> make_input_files(const InputRequest& request) {
  return Maker(request).run();
}

}  // namespace opdrift::diagnose::offline
