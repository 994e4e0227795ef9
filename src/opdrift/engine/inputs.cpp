#include "opdrift/engine/inputs.hpp"

#include <cstring>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "opdrift/base/stable_hash.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/engine/dump_names.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/encode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::engine {

namespace {

using io::onnx::Dim;
using io::onnx::ValueInfo;
using tensor::DType;

constexpr std::uint64_t kMaxInputBytes = std::uint64_t{16} << 30;
constexpr std::uint64_t kDefaultBatch = 1;
constexpr std::uint64_t kDefaultSide = 224;
constexpr std::uint64_t kDefaultLength = 16;

/// Sebastiano Vigna's generator (public domain), 64 bits of state.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t state) : state_(state) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

double made_up(DType dtype, std::uint64_t z) {
  switch (dtype) {
    case DType::f64: return static_cast<double>(z >> 11) * 0x1p-53;
    case DType::u8: return static_cast<double>(z & 0xff);
    case DType::i8: return static_cast<double>(static_cast<std::int8_t>(z & 0xff));
    default: return tensor::is_floating(dtype) ? static_cast<double>(z >> 40) * 0x1p-24 : 1.0;
  }
}

std::vector<std::byte> made_up_bytes(DType dtype, std::uint64_t count, std::uint64_t size,
                                     std::string_view name, std::uint64_t seed) {
  std::vector<std::byte> bytes(size);
  SplitMix64 numbers(SplitMix64(seed).next() ^ stable_hash(name));
  for (std::uint64_t i = 0; i < count; ++i) {
    const double value = made_up(dtype, numbers.next());
    tensor::encode(dtype, &value, 1, bytes.data(), i);
  }
  return bytes;
}

Error about(const ValueInfo& input, ErrorCode code, const std::string& message) {
  return Error{code, "input '" + printable(input.name) + "': " + message};
}

std::string shape_text(const std::vector<Dim>& shape) {
  std::vector<std::string> parts;
  parts.reserve(shape.size());
  for (const Dim& dim : shape) {
    parts.push_back(dim.value ? std::to_string(*dim.value)
                              : (dim.symbol.empty() ? "?" : printable(dim.symbol)));
  }
  return "(" + join(parts, ",") + ")";
}

/// Whether a file's shape is one the model takes.
bool fits(const tensor::Shape& found, const std::vector<Dim>& wanted) {
  if (found.size() != wanted.size()) {
    return false;
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (wanted[i].value && *wanted[i].value != found[i]) {
      return false;
    }
  }
  return true;
}

/// Dense bytes of `view` in the element type the model wants.
Result<Bytes> convert(const ValueInfo& input, const tensor::View& view, DType wanted) {
  const DType found = view.tensor.desc.dtype;
  const bool convertible =
      wanted == DType::f32 && (found == DType::f16 || found == DType::bf16 || found == DType::f64);
  if (found != wanted && !convertible) {
    return about(input, ErrorCode::invalid_argument,
                 "expected " + std::string(tensor::name_of(wanted)) + ", found " +
                     std::string(tensor::name_of(found)));
  }
  const std::uint64_t count = view.count();
  const std::uint64_t bytes = tensor::storage_bytes(found, count).value_or(0);
  if (tensor::info(found).bits < 8) {
    const Bytes& packed = view.tensor.bytes;
    return packed.part(0, bytes);
  }
  std::vector<std::byte> dense(bytes);
  tensor::gather(view, 0, count, dense.data());
  if (found == wanted) {
    return own_bytes(std::move(dense));
  }
  std::vector<std::byte> floats(count * sizeof(float));
  for (std::uint64_t i = 0; i < count; ++i) {
    float value = 0;
    tensor::decode_to_float(found, dense.data(), i, 1, &value);
    std::memcpy(floats.data() + i * sizeof(float), &value, sizeof(float));
  }
  return own_bytes(std::move(floats));
}

/// Makes the inputs of one model.
class Maker {
 public:
  Maker(const io::onnx::Graph& graph, const InputOptions& options)
      : options_(options), inputs_(required_inputs(graph)) {}

  Result<ModelInputs> run() {
    OPDRIFT_CHECK_OK(assign_files());
    OPDRIFT_CHECK_OK(check_dims());
    made_.tensors.resize(inputs_.size());
    made_.sources.resize(inputs_.size());
    // Files first: they tell what the symbols stand for.
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      OPDRIFT_CHECK_OK(check_kind(*inputs_[i]));
      if (!paths_[i].empty()) {
        OPDRIFT_CHECK_OK(from_file(i));
      } else if (const InputTensor* given = tensor_for(inputs_[i]->name)) {
        OPDRIFT_CHECK_OK(from_view(i, given->view, given->path, given->source));
      }
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (made_.sources[i].empty()) {
        OPDRIFT_CHECK_OK(from_seed(i));
      }
    }
    return std::move(made_);
  }

 private:
  std::string known_names() const {
    std::vector<std::string> names;
    for (const ValueInfo* input : inputs_) {
      names.push_back(printable(input->name));
    }
    return join(names, ", ");
  }

  Status assign_files() {
    paths_.assign(inputs_.size(), "");
    for (const InputFile& file : options_.files) {
      std::size_t found = 0;
      while (found < inputs_.size() && inputs_[found]->name != file.name) {
        ++found;
      }
      if (file.name.empty() && inputs_.size() == 1) {
        found = 0;
      }
      if (found == inputs_.size()) {
        return Error{ErrorCode::invalid_argument, "the model has no input '" +
                                                      printable(file.name) + "'; its inputs are " +
                                                      known_names()};
      }
      paths_[found] = file.path;
    }
    return Unit{};
  }

  const InputTensor* tensor_for(const std::string& name) const {
    for (const InputTensor& given : options_.tensors) {
      if (given.name == name) {
        return &given;
      }
    }
    return nullptr;
  }

  Status check_dims() {
    std::set<std::string> open;
    for (const ValueInfo* input : inputs_) {
      const std::vector<Dim> shape = input->shape.value_or(std::vector<Dim>{});
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (!shape[axis].value) {
          open.insert(input->name + ":" + std::to_string(axis));
          if (!shape[axis].symbol.empty()) {
            open.insert(shape[axis].symbol);
          }
        }
      }
    }
    for (const auto& [name, value] : options_.dims) {
      if (!open.contains(name)) {
        const std::vector<std::string> names(open.begin(), open.end());
        return Error{ErrorCode::invalid_argument,
                     "the model has no open extent '" + printable(name) + "'; it has " +
                         (names.empty() ? "none" : printable(join(names, ", ")))};
      }
    }
    symbols_ = options_.dims;
    return Unit{};
  }

  static Status check_kind(const ValueInfo& input) {
    if (input.kind != io::onnx::ValueKind::tensor) {
      return about(input, ErrorCode::unsupported,
                   "a " + std::string(to_string(input.kind)) + "; only tensors can be given");
    }
    const auto dtype = io::onnx::dtype_of(input.element_type);
    if (!dtype || *dtype == DType::string) {
      return about(input, ErrorCode::unsupported,
                   "elements of type " + std::to_string(input.element_type) + " cannot be given");
    }
    return Unit{};
  }

  std::uint64_t extent(const ValueInfo& input, std::size_t axis, std::size_t rank) {
    const Dim& dim = (*input.shape)[axis];
    if (dim.value) {
      return *dim.value;
    }
    const std::string place = input.name + ":" + std::to_string(axis);
    for (const std::string& name : {place, dim.symbol}) {
      const auto known = symbols_.find(name);
      if (!name.empty() && known != symbols_.end()) {
        return known->second;
      }
    }
    const DType dtype = io::onnx::dtype_of(input.element_type).value_or(DType::raw);
    const bool side = axis >= 2 && rank >= 3 && tensor::is_floating(dtype);
    const std::uint64_t value = axis == 0 ? kDefaultBatch : (side ? kDefaultSide : kDefaultLength);
    const std::string& name = dim.symbol.empty() ? place : dim.symbol;
    symbols_.emplace(name, value);
    made_.chosen.emplace(name, value);
    return value;
  }

  Status from_seed(std::size_t position) {
    const ValueInfo& input = *inputs_[position];
    if (!input.shape) {
      return about(input, ErrorCode::invalid_argument,
                   "the model does not give its rank; name a file for it with --input");
    }
    OPDRIFT_TRY(const tensor::Shape shape, wanted_shape(input));
    OPDRIFT_TRY(const std::uint64_t size, size_of(input, shape));
    const DType dtype = *io::onnx::dtype_of(input.element_type);
    OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(shape));
    put(position, shape, own_bytes(made_up_bytes(dtype, count, size, input.name, options_.seed)),
        "seed " + std::to_string(options_.seed));
    return Unit{};
  }

  Result<tensor::Shape> wanted_shape(const ValueInfo& input) {
    tensor::Shape shape;
    for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
      shape.push_back(extent(input, axis, input.shape->size()));
    }
    return shape;
  }

  static Result<std::uint64_t> size_of(const ValueInfo& input, const tensor::Shape& shape) {
    OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(shape));
    const DType dtype = *io::onnx::dtype_of(input.element_type);
    const auto bytes = tensor::storage_bytes(dtype, count);
    if (!bytes || *bytes > kMaxInputBytes) {
      return about(input, ErrorCode::limit,
                   "shape (" + tensor::to_string(shape) + ") needs more than 16 GiB");
    }
    return *bytes;
  }

  Status from_file(std::size_t position) {
    const ValueInfo& input = *inputs_[position];
    const std::string& path = paths_[position];
    if (path.ends_with(".bin") && input.shape) {
      return from_plain_bytes(position);
    }
    OPDRIFT_TRY(const io::FileDump dump, io::open_file(path));
    if (dump.tensors.size() != 1) {
      return Error{ErrorCode::invalid_argument,
                   "expected one tensor for input '" + printable(input.name) + "', found " +
                       std::to_string(dump.tensors.size()),
                   path};
    }
    OPDRIFT_TRY(const tensor::Tensor tensor, io::load_tensor(dump.tensors.front()));
    OPDRIFT_TRY(const tensor::View view, io::in_file(tensor::stored_view(tensor), path));
    return from_view(position, view, path, path);
  }

  Status from_view(std::size_t position, const tensor::View& view, const std::string& path,
                   const std::string& source) {
    const ValueInfo& input = *inputs_[position];
    const tensor::Shape shape = view.shape();
    if (input.shape && !fits(shape, *input.shape)) {
      return Error{ErrorCode::invalid_argument,
                   "input '" + printable(input.name) + "': expected shape " +
                       shape_text(*input.shape) + ", found (" + tensor::to_string(shape) + ")",
                   path};
    }
    OPDRIFT_TRY(const Bytes bytes,
                io::in_file(convert(input, view, *io::onnx::dtype_of(input.element_type)), path));
    learn(input, shape);
    put(position, shape, bytes, source);
    return Unit{};
  }

  Status from_plain_bytes(std::size_t position) {
    const ValueInfo& input = *inputs_[position];
    OPDRIFT_TRY(const tensor::Shape shape, wanted_shape(input));
    OPDRIFT_TRY(const std::uint64_t size, size_of(input, shape));
    OPDRIFT_TRY(const Bytes bytes, map_file(paths_[position]));
    if (bytes.size() != size) {
      return Error{ErrorCode::invalid_argument,
                   "input '" + printable(input.name) + "': expected " + std::to_string(size) +
                       " bytes for shape (" + tensor::to_string(shape) + "), found " +
                       std::to_string(bytes.size()),
                   paths_[position]};
    }
    put(position, shape, bytes, paths_[position]);
    return Unit{};
  }

  void learn(const ValueInfo& input, const tensor::Shape& shape) {
    const std::vector<Dim> dims = input.shape.value_or(std::vector<Dim>{});
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (!dims[axis].value && !dims[axis].symbol.empty()) {
        symbols_.emplace(dims[axis].symbol, shape[axis]);
      }
    }
  }

  void put(std::size_t position, const tensor::Shape& shape, Bytes bytes, std::string source) {
    NamedTensor& made = made_.tensors[position];
    made.name = inputs_[position]->name;
    made.tensor.desc.dtype = *io::onnx::dtype_of(inputs_[position]->element_type);
    made.tensor.desc.shape = shape;
    made.tensor.bytes = std::move(bytes);
    made_.sources[position] = std::move(source);
  }

  const InputOptions& options_;
  std::vector<const ValueInfo*> inputs_;
  std::vector<std::string> paths_;
  std::map<std::string, std::uint64_t> symbols_;
  ModelInputs made_;
};

}  // namespace

std::vector<const ValueInfo*> required_inputs(const io::onnx::Graph& graph) {
  const std::vector<std::string_view> names = initializer_names(graph);
  const std::unordered_set<std::string_view> constants(names.begin(), names.end());
  std::vector<const ValueInfo*> inputs;
  for (const ValueInfo& input : graph.inputs) {
    if (!constants.contains(input.name)) {
      inputs.push_back(&input);
    }
  }
  return inputs;
}

Result<ModelInputs> make_inputs(const io::onnx::Graph& graph, const InputOptions& options) {
  return Maker(graph, options).run();
}

}  // namespace opdrift::engine
