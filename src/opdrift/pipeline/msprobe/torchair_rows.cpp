#include "opdrift/pipeline/msprobe/torchair_rows.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/io/archive/inflate.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/io/numpy/npz_reader.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/layout.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {

namespace {

using match::TensorKind;
using tensor::DType;
using tensor::Format;
using tensor::View;

/// Element types as torch names them once the dump is loaded; the device's own small floats are
/// widened.
std::string torch_dtype(DType dtype) {
  switch (dtype) {
    case DType::f64: return "torch.float64";
    case DType::f16: return "torch.float16";
    case DType::f32:
    case DType::bf16:
    case DType::hif8:
    case DType::e5m2:
    case DType::e4m3fn: return "torch.float32";
    case DType::boolean: return "torch.bool";
    case DType::c64: return "torch.complex64";
    case DType::c128: return "torch.complex128";
    case DType::undefined: return "torch.int8";
    case DType::resource: return "torch.int64";
    case DType::u1: return "torch.uint8";
    default: return "torch." + std::string(tensor::name_of(dtype));
  }
}

/// GE has unsigned types that torch lacks; they are read as the next wider signed one.
std::string ge_dtype(DType dtype) {
  if (dtype == DType::u16) {
    return "torch.int32";
  }
  return dtype == DType::u32 ? "torch.int64" : torch_dtype(dtype);
}

std::string shape_text(const tensor::Shape& shape) {
  return "[" + tensor::to_string(shape, ", ") + "]";
}

bool is_plane_format(Format format) {
  return format == Format::hwcn || format == Format::nchw || format == Format::nhwc;
}

/// A tensor ready to be measured.
struct Ready {
  View view;
  tensor::Shape shape;
  std::string dtype;
};

/// Format a tensor is compared in, by the rank of its shape before the device's layout.
Format wanted_format(const tensor::TensorDesc& desc) {
  const std::size_t rank = desc.original_shape.size();
  if (rank == 4) {
    return Format::nchw;
  }
  return rank == 2 || rank == 3 ? Format::nd : desc.format;
}

/// The shape before the layout where it has as many elements, else the dumped one.
Result<Ready> as_dumped(const tensor::Tensor& tensor) {
  Ready ready;
  OPDRIFT_TRY(ready.view, tensor::stored_view(tensor));
  ready.shape = tensor.desc.shape;
  const auto original = tensor::element_count(tensor.desc.original_shape);
  if (!tensor.desc.original_shape.empty() && original && *original == ready.view.count()) {
    ready.shape = tensor.desc.original_shape;
  }
  ready.dtype = ge_dtype(tensor.desc.dtype);
  return ready;
}

Result<Ready> prepare_ge(const tensor::Tensor& tensor) {
  const tensor::TensorDesc& desc = tensor.desc;
  if (std::find(desc.shape.begin(), desc.shape.end(), 0U) != desc.shape.end()) {
    Ready empty;
    OPDRIFT_TRY(empty.view, tensor::stored_view(tensor));
    empty.shape = desc.shape;
    empty.dtype = "torch.float64";  // what the vendor's tool makes of an empty tensor
    return empty;
  }
  const std::uint64_t item = std::max<std::uint64_t>(tensor::info(desc.dtype).bits / 8, 1);
  if (desc.shape.empty() && tensor.bytes.size() >= item) {
    Ready flat;
    const std::uint64_t count = tensor.bytes.size() / item;
    OPDRIFT_TRY(flat.view, tensor::flat_view(tensor, count));
    flat.shape = {count};
    flat.dtype = ge_dtype(desc.dtype);
    return flat;
  }
  const Format wanted = wanted_format(desc);
  const bool flat = is_plane_format(desc.format) && desc.shape.size() != 4;
  const Format current = flat ? Format::nd : desc.format;
  if (current == wanted) {
    return as_dumped(tensor);
  }
  Result<View> converted = tensor::convert_layout(tensor, wanted, desc.original_shape);
  if (!converted) {
    return as_dumped(tensor);
  }
  Result<View> cropped = tensor::crop(*converted, desc.original_shape);
  Ready ready;
  ready.view = cropped ? std::move(cropped).value() : std::move(converted).value();
  ready.shape = ready.view.shape();
  ready.dtype = ge_dtype(desc.dtype);
  return ready;
}

/// Smallest and largest values of a reduced tensor: row `index` of an n x 2 array.
Result<std::array<double, 2>> reduced_row(const tensor::Tensor& tensor, std::size_t index) {
  OPDRIFT_TRY(const View view, tensor::stored_view(tensor));
  if (view.count() < 2 * (index + 1)) {
    return Error{ErrorCode::data_mismatch, "expected [smallest, largest] number " +
                                               std::to_string(index) + ", found " +
                                               std::to_string(view.count()) + " values"};
  }
  if (!tensor::info(tensor.desc.dtype).decodable) {
    return Error{ErrorCode::unsupported_dtype, "expected numbers in a reduced tensor"};
  }
  std::array<std::byte, 64> bytes{};
  tensor::gather(view, 2 * index, 2, bytes.data());
  std::array<double, 2> values{};
  tensor::decode_to_double(tensor.desc.dtype, bytes.data(), 0, 2, values.data());
  return values;
}

std::uint32_t checksum(const Ready& ready) {
  const std::uint64_t count = ready.view.count();
  const auto bytes = tensor::storage_bytes(ready.view.tensor.desc.dtype, count);
  if (!bytes || ready.view.tensor.bytes.size() < *bytes) {
    return 0;
  }
  return io::crc32_of(ready.view.tensor.bytes.span.first(static_cast<std::size_t>(*bytes)));
}

double as_float(double value) {
  return static_cast<double>(static_cast<float>(value));
}

}  // namespace

/// A dump file with its tensors in order.
struct TorchairMeter::OpenFile {
  std::string path;
  io::FileDump dump;
  std::vector<const io::FileTensor*> inputs;
  std::vector<const io::FileTensor*> outputs;
  bool reduced = false;
  std::optional<Error> error;

  match::TensorCounts counts() const {
    if (!reduced) {
      return {inputs.size(), outputs.size()};
    }
    const auto rows = [](const std::vector<const io::FileTensor*>& tensors) -> std::size_t {
      return tensors.empty() || tensors.front()->desc.shape.empty()
                 ? 0
                 : static_cast<std::size_t>(tensors.front()->desc.shape.front());
    };
    return {rows(inputs), rows(outputs)};
  }
};

/// A tensor that was looked for.
struct TorchairMeter::Found {
  std::string path;  ///< as the table shows it
  std::optional<Ready> tensor;
  std::optional<std::array<double, 2>> extremes;
  std::string problem;

  TorchairSide side(bool checksums) const {
    TorchairSide side;
    side.path = path;
    if (extremes) {
      side.reduced = true;
      side.min = as_float((*extremes)[0]);
      side.max = as_float((*extremes)[1]);
    }
    if (tensor) {
      side.dtype = tensor->dtype;
      side.shape = shape_text(tensor->shape);
      side.elements = tensor->view.count();
      side.is_int8 = tensor->dtype == "torch.int8";
      side.crc = checksums ? checksum(*tensor) : 0;
    }
    return side;
  }
};

namespace {

std::string tensor_path(const std::string& file, TensorKind kind, std::size_t index) {
  return file + (kind == TensorKind::input ? ",inputs," : ",outputs,") + std::to_string(index);
}

void set_golden(const metrics::TorchPairSums& sums, TorchairSide& side) {
  side.max = sums.golden_max;
  side.min = sums.golden_min;
  side.mean = as_float(sums.golden_sum / static_cast<double>(sums.count));
}

void set_target(const metrics::TorchPairSums& sums, TorchairSide& side) {
  side.max = sums.target_max;
  side.min = sums.target_min;
  side.mean = as_float(sums.target_sum / static_cast<double>(sums.count));
}

}  // namespace

std::string TorchairRow::reference_reason() const {
  std::string reason;
  const auto add = [&](std::string_view text) {
    reason += reason.empty() ? "" : " ";
    reason += text;
  };
  if (counts_differ) {
    add("data shape doesn't match.");
  }
  if (sums && sums->golden_nonfinite > 0) {
    add("golden_data includes NAN or inf.");
  }
  if (sums && sums->target_nonfinite > 0) {
    add("my_data includes NAN or inf.");
  }
  return reason;
}

TorchairMeter::TorchairMeter(const match::FusedNames& names, const GeToken* golden_ge,
                             const FxToken* golden_fx, const TorchairOptions& options)
    : names_(names), fx_(golden_fx), options_(options) {
  if (golden_ge != nullptr) {
    for (const GeFile& file : golden_ge->files) {
      ge_.emplace(file.name, &file);
    }
  }
}

namespace {

template <typename OpenFile>
OpenFile open_ge(const GeFile& file) {
  OpenFile open;
  open.path = file.path;
  open.reduced = file.reduced;
  Result<io::FileDump> dump = file.reduced ? io::open_npz(file.path) : io::open_file(file.path);
  if (!dump) {
    open.error = dump.error();
    return open;
  }
  open.dump = std::move(dump).value();
  for (const io::FileTensor& tensor : open.dump.tensors) {
    if (file.reduced) {
      (tensor.name == "inputs" ? open.inputs : open.outputs).push_back(&tensor);
    } else if (tensor.role == io::TensorRole::input) {
      open.inputs.push_back(&tensor);
    } else if (tensor.role == io::TensorRole::output) {
      open.outputs.push_back(&tensor);
    }
  }
  return open;
}

template <typename Found, typename OpenFile>
Found take(const OpenFile& open, TensorKind kind, std::size_t index) {
  Found found;
  found.path = tensor_path(open.path, kind, index);
  if (open.error) {
    found.problem = open.error->to_string();
    return found;
  }
  const auto& list = kind == TensorKind::input ? open.inputs : open.outputs;
  const std::size_t place = open.reduced ? 0 : index;
  if (place >= list.size()) {
    found.problem = "the file has no such tensor";
    return found;
  }
  if (list[place]->problem) {
    found.problem = list[place]->problem->to_string();
    return found;
  }
  const Result<tensor::Tensor> tensor = io::load_tensor(*list[place]);
  if (!tensor) {
    found.problem = tensor.error().to_string();
    return found;
  }
  if (open.reduced) {
    const auto extremes = reduced_row(*tensor, index);
    if (extremes) {
      found.extremes = *extremes;
    } else {
      found.problem = extremes.error().to_string();
    }
    return found;
  }
  Result<Ready> ready = prepare_ge(*tensor);
  if (ready) {
    found.tensor = std::move(ready).value();
  } else {
    found.problem = ready.error().to_string();
  }
  return found;
}

template <typename Found>
Found take_fx(const std::string& path) {
  Found found;
  found.path = path;
  const Result<io::FileDump> dump = io::open_npy(path);
  if (!dump || dump->tensors.size() != 1) {
    found.problem = dump ? "expected one array" : dump.error().to_string();
    return found;
  }
  const io::FileTensor& file_tensor = dump->tensors.front();
  const Result<tensor::Tensor> tensor = file_tensor.problem
                                            ? Result<tensor::Tensor>(*file_tensor.problem)
                                            : io::load_tensor(file_tensor);
  if (!tensor) {
    found.problem = tensor.error().to_string();
    return found;
  }
  if (path.ends_with("_min_max.npy")) {
    const auto extremes = reduced_row(*tensor, 0);
    if (extremes) {
      found.extremes = *extremes;
    } else {
      found.problem = extremes.error().to_string();
    }
    return found;
  }
  Result<View> view = tensor::stored_view(*tensor);
  if (!view) {
    found.problem = view.error().to_string();
    return found;
  }
  found.tensor =
      Ready{std::move(view).value(), tensor->desc.shape, torch_dtype(tensor->desc.dtype)};
  return found;
}

}  // namespace

TorchairMeter::Found TorchairMeter::find_golden(const match::GoldenRef& ref, const GeFile& file,
                                                const OpenFile& own) const {
  using Source = match::GoldenRef::Source;
  if (ref.source == Source::target) {
    return take<Found>(own, ref.kind, ref.index);
  }
  Found found;
  if (ref.source == Source::fx) {
    const auto node = fx_->nodes.find(ref.name);
    const auto& paths = ref.kind == TensorKind::input ? node->second.inputs : node->second.outputs;
    return take_fx<Found>(std::next(paths.begin(), static_cast<std::ptrdiff_t>(ref.index))->second);
  }
  const auto golden = ge_.find(ref.name);
  if (ref.source == Source::missing || golden == ge_.end()) {
    found.path = ref.name + " was not dumped";
    Ready empty;
    empty.dtype = "torch.float32";
    empty.shape = {0};
    empty.view.tensor.desc.dtype = DType::f32;
    empty.view.axes.push_back({0, 1, 1, 0});
    found.tensor = std::move(empty);
    return found;
  }
  static_cast<void>(file);
  return take<Found>(open_ge<OpenFile>(*golden->second), ref.kind, ref.index);
}

TorchairRow TorchairMeter::measure(const match::TensorPair& pair, const GeFile& file,
                                   const OpenFile& own) const {
  TorchairRow row;
  row.op = file.name;
  row.time = file.time;
  row.kind = pair.target_kind;
  row.index = pair.target_index;
  const Found golden = find_golden(pair.golden, file, own);
  const Found target = take<Found>(own, pair.target_kind, pair.target_index);
  row.golden = golden.side(options_.checksums);
  row.target = target.side(options_.checksums);
  row.problem = golden.problem.empty() ? target.problem : golden.problem;
  metrics::TorchPairOptions measuring;
  measuring.float32 = true;
  measuring.real_part = true;
  measuring.cancel = options_.cancel;
  const auto run = [&](const View& g, const View& t) -> std::optional<metrics::TorchPairSums> {
    const auto sums = metrics::measure_torch_pair(g, t, measuring);
    if (!sums) {
      row.problem = row.problem.empty() ? sums.error().to_string() : row.problem;
      return std::nullopt;
    }
    return *sums;
  };
  row.counts_differ = golden.tensor && target.tensor && row.golden.elements != row.target.elements;
  if (golden.tensor && target.tensor && !row.counts_differ) {
    row.sums = run(golden.tensor->view, target.tensor->view);
    if (row.sums && row.sums->count > 0) {
      set_golden(*row.sums, row.golden);
      set_target(*row.sums, row.target);
    }
    return row;
  }
  if (golden.tensor && row.golden.elements > 0) {
    if (const auto sums = run(golden.tensor->view, golden.tensor->view)) {
      set_golden(*sums, row.golden);
    }
  }
  if (target.tensor && row.target.elements > 0) {
    if (const auto sums = run(target.tensor->view, target.tensor->view)) {
      set_target(*sums, row.target);
    }
  }
  return row;
}

TorchairOperator TorchairMeter::compare(const GeFile& file) const {
  TorchairOperator result;
  const OpenFile own = open_ge<OpenFile>(file);
  if (own.error) {
    TorchairRow row;
    row.op = file.name;
    row.time = file.time;
    row.target.path = file.path;
    row.problem = own.error->to_string();
    result.rows.push_back(std::move(row));
    return result;
  }
  match::TensorPairs pairs;
  if (fx_ != nullptr) {
    pairs = match::pair_with_fx(names_, file.name, file.type, own.counts(),
                                [&](std::string_view node) -> match::TensorCounts {
                                  const auto found = fx_->nodes.find(node);
                                  return found == fx_->nodes.end()
                                             ? match::TensorCounts{}
                                             : match::TensorCounts{found->second.inputs.size(),
                                                                   found->second.outputs.size()};
                                });
    for (const std::string& node : pairs.missing) {
      result.warnings.push_back("FX data missing, GE tensor name: " + file.name +
                                ", FX tensor name: " + node);
    }
  } else {
    pairs = match::pair_with_ge(names_, file.name, file.type.starts_with("AutomaticBufferFusionOp"),
                                own.counts(), [&](std::string_view name) -> match::TensorCounts {
                                  const auto found = ge_.find(name);
                                  return found == ge_.end()
                                             ? match::TensorCounts{}
                                             : open_ge<OpenFile>(*found->second).counts();
                                });
    for (const std::string& name : pairs.missing) {
      result.warnings.push_back("Golden data missing, My tensor name: " + name);
    }
    if (pairs.unexplained) {
      result.warnings.push_back("Failed parsing fused op name: " + file.name + ".");
    }
  }
  for (const match::TensorPair& pair : pairs.pairs) {
    if (pair.superseded) {
      result.rows.emplace_back();
      result.rows.back().superseded = true;
    } else {
      result.rows.push_back(measure(pair, file, own));
    }
  }
  if (pairs.pairs.empty() && !options_.reference_tables) {
    TorchairRow row;
    row.op = file.name;
    row.time = file.time;
    row.target.path = file.path;
    row.problem = result.warnings.empty() ? "no counterpart: the graph does not explain this name"
                                          : result.warnings.front();
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace opdrift::pipeline
