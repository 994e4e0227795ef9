#include "opdrift/pipeline/msprobe/api_index.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "opdrift/base/file_kind.hpp"
#include "opdrift/base/parallel.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/pipeline/folder_walk.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;
using graph::ApiLeaf;
using graph::ApiRun;
using graph::ApiValue;
using verdict::LedgerState;

constexpr std::array<std::string_view, 2> kJsonNames = {"dump.json", "debug.json"};
constexpr int kDeepest = 4;  // graph/step0/rank0

/// A run and not some other file of that name.
bool is_api_json(const std::string& path) {
  const std::string text = file_head(path, 4096);
  return text.find("\"task\"") != std::string_view::npos ||
         text.find("\"dump_data_dir\"") != std::string_view::npos;
}

bool may_hold_runs(std::string_view folder) {
  if (folder == "graph" || folder == "pynative" || folder == "rank") {
    return true;
  }
  for (const std::string_view start : {"step", "rank", "proc"}) {
    if (folder.starts_with(start) && is_digits(folder.substr(start.size()))) {
      return true;
    }
  }
  return false;
}

void find_below(const std::string& folder, const std::string& label, int depth,
                std::vector<ApiJson>& found) {
  std::error_code error;
  for (const std::string_view name : kJsonNames) {
    const std::string path = folder + "/" + std::string(name);
    if (fs::is_regular_file(path, error) && is_api_json(path)) {
      found.push_back({label, path});
      return;
    }
  }
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (may_hold_runs(name) && entry.is_directory(ignored)) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);  // step9 before step10
  });
  for (const std::string& name : names) {
    if (depth < kDeepest) {
      find_below(folder + "/" + name, label.empty() ? name : label + "/" + name, depth + 1, found);
    }
  }
}

std::optional<tensor::DType> tensor_dtype(std::string_view name) {
  constexpr std::string_view kTorch = "torch.";
  return tensor::dtype_by_name(name.starts_with(kTorch) ? name.substr(kTorch.size()) : name);
}

/// "[2, 3]"; nothing for other texts.
std::optional<tensor::Shape> parse_shape(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return std::nullopt;
  }
  tensor::Shape shape;
  text = trim(text.substr(1, text.size() - 2));
  for (const std::string_view part : split(text, ',')) {
    const auto extent = parse_u64(trim(part));
    if (!extent && !text.empty()) {
      return std::nullopt;
    }
    if (extent) {
      shape.push_back(*extent);
    }
  }
  return tensor::element_count(shape) ? std::optional(shape) : std::nullopt;
}

std::optional<double> number_of(const ApiValue& value) {
  switch (value.kind) {
    case ApiValue::Kind::integer:
    case ApiValue::Kind::real: return graph::python_number(value.text());
    case ApiValue::Kind::text:
      return value.text() == "True"    ? std::optional(1.0)
             : value.text() == "False" ? std::optional(0.0)
                                       : std::nullopt;
    case ApiValue::Kind::none: return std::nullopt;
  }
  return std::nullopt;
}

std::shared_ptr<const TensorSummary> summary_of_leaf(const ApiLeaf& leaf,
                                                     const tensor::TensorDesc& desc) {
  auto summary = std::make_shared<TensorSummary>();
  summary->dtype = desc.dtype;
  summary->shape = desc.shape;
  summary->count = tensor::element_count(desc.shape).value_or(0U);
  summary->count_known = desc.has_shape;
  summary->max = number_of(leaf.statistics[0]);
  summary->min = number_of(leaf.statistics[1]);
  summary->mean = number_of(leaf.statistics[2]);
  summary->l2 = number_of(leaf.statistics[3]);
  summary->checksum = leaf.checksum;
  return summary;
}

/// A number or bool as a tensor of one element.
bool make_scalar(std::string_view dtype, const ApiValue& value, IndexedTensor& tensor) {
  std::array<std::byte, 8> bytes{};
  if (dtype == "<class 'bool'>") {
    bytes[0] = value.text() == "True" ? std::byte{1} : std::byte{0};
    tensor.desc.dtype = tensor::DType::boolean;
  } else if (dtype == "<class 'float'>") {
    const auto real = number_of(value);
    if (!real) {
      return false;
    }
    std::memcpy(bytes.data(), &*real, sizeof(double));
    tensor.desc.dtype = tensor::DType::f64;
  } else if (dtype == "<class 'int'>") {
    const auto whole = parse_i64(value.text());
    if (!whole) {
      return false;
    }
    const auto number = static_cast<std::int64_t>(*whole);
    std::memcpy(bytes.data(), &number, sizeof(number));
    tensor.desc.dtype = tensor::DType::i64;
  } else {
    return false;
  }
  const std::size_t size = tensor.desc.dtype == tensor::DType::boolean ? 1 : 8;
  auto dump = std::make_shared<io::FileDump>();
  io::FileTensor held;
  held.desc = tensor.desc;
  held.size_bytes = size;
  held.bytes = own_bytes({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
  dump->tensors.push_back(std::move(held));
  tensor.container = std::move(dump);
  tensor.size_bytes = size;
  return true;
}

/// "Linear" for modules, "Functional.conv2d" for calls.
std::string type_of(std::string_view prefix) {
  if (prefix.starts_with("Module.") || prefix.starts_with("Cell.")) {
    return std::string(prefix.substr(prefix.rfind('.') + 1));
  }
  return std::string(prefix);
}

std::optional<Error> check_data_name(const std::string& path, std::string_view name) {
  if (name.find("..") != std::string_view::npos || name.find('/') != std::string_view::npos) {
    return Error{ErrorCode::bad_name, "expected a file of the dump folder", path};
  }
  return std::nullopt;
}

std::string tensor_file(const std::string& folder, const ApiLeaf& leaf) {
  return folder + "dump_tensor_data/" + std::string(leaf.data_name);
}

void read_header(IndexedTensor& tensor) {
  Result<io::FileDump> dump = io::open_file(tensor.path);
  if (!dump) {
    tensor.problem = dump.error();
    return;
  }
  if (dump->tensors.size() != 1) {
    tensor.problem = Error{ErrorCode::unsupported, "expected one tensor", tensor.path};
    return;
  }
  const io::FileTensor& file_tensor = dump->tensors.front();
  tensor.desc = file_tensor.desc;
  tensor.size_bytes = file_tensor.size_bytes;
  tensor.problem = file_tensor.problem;
}

}  // namespace

std::vector<ApiJson> find_api_jsons(const std::string& path) {
  std::vector<ApiJson> found;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    std::string root = path;
    while (root.size() > 1 && root.back() == '/') {
      root.pop_back();
    }
    find_below(root, "", 0, found);
  } else if (path.ends_with(".json") && fs::is_regular_file(path, error) && is_api_json(path)) {
    found.push_back({"", path});
  }
  return found;
}

ApiIndexBuilder::ApiIndexBuilder(std::string root, verdict::RunSide side) : side_(side) {
  index_.path = std::move(root);
  index_.kind = "msprobe run";
  index_.has_order = true;
}

IndexedTensor ApiIndexBuilder::describe(const ApiRun& run, const ApiLeaf& leaf,
                                        const std::string& folder) const {
  IndexedTensor tensor;
  const std::string_view dtype_name = run.dtype_of(leaf);
  const auto dtype = tensor_dtype(dtype_name);
  const auto shape = parse_shape(leaf.shape);
  tensor.desc.dtype = dtype.value_or(tensor::DType::raw);
  tensor.desc.has_shape = shape.has_value();
  tensor.desc.shape = shape.value_or(tensor::Shape{});
  tensor.path = run.path;
  const bool saved = run.kind == graph::RunTask::tensor && leaf.data_name != "-1";
  if (saved) {
    tensor.path = tensor_file(folder, leaf);
    tensor.problem = check_data_name(tensor.path, leaf.data_name);
    return tensor;
  }
  if (!dtype && make_scalar(dtype_name, leaf.statistics[0], tensor)) {
    return tensor;
  }
  if (dtype) {
    tensor.summary = summary_of_leaf(leaf, tensor.desc);
    return tensor;
  }
  auto text = std::make_shared<TensorSummary>();
  text->count_known = false;
  text->checksum = leaf.has_value ? std::string(leaf.value)
                                  : std::string(dtype_name) + " " + std::string(leaf.shape);
  tensor.summary = std::move(text);
  return tensor;
}

std::vector<std::size_t> ApiIndexBuilder::add(const ApiJson& json, const ApiRun& run) {
  std::vector<std::size_t> positions(run.leaves.size(), kNotIndexed);
  index_.tensors.reserve(index_.tensors.size() + run.leaves.size());
  const std::string folder(io::folder_of(json.path));
  index_.ledger.push_back({side_, json.path, "", LedgerState::ignored,
                           "the list of calls: " + std::to_string(run.entries.size())});
  for (const graph::ApiEntry& entry : run.entries) {
    std::array<std::uint32_t, 2> next{};
    const std::string type = type_of(entry.prefix);
    for (std::uint32_t i = entry.first_leaf; i < entry.first_leaf + entry.leaf_count; ++i) {
      const ApiLeaf& leaf = run.leaves[i];
      if (leaf.missing_argument) {
        index_.ledger.push_back({side_, json.path, std::string(leaf.name), LedgerState::ignored,
                                 "None: an argument without a value"});
        continue;
      }
      IndexedTensor tensor = describe(run, leaf, folder);
      const bool output = leaf.role == graph::LeafRole::output;
      tensor.name = {.operator_name = std::string(entry.name),
                     .tensor_name = std::string(leaf.name),
                     .step = json.label,
                     .output = output,
                     .index = next[output ? 1 : 0]++};
      tensor.operator_type = type;
      tensor.order = calls_;
      positions[i] = index_.tensors.size();
      index_.tensors.push_back(std::move(tensor));
    }
    ++calls_;
  }
  return positions;
}

Result<tensor::Tensor> ApiIndexBuilder::load_leaf(const ApiJson& json, const graph::ApiLeaf& leaf) {
  const std::string path = tensor_file(std::string(io::folder_of(json.path)), leaf);
  if (const auto problem = check_data_name(path, leaf.data_name)) {
    return *problem;
  }
  OPDRIFT_TRY(const io::FileDump dump, io::open_file(path));
  if (dump.tensors.size() != 1) {
    return Error{ErrorCode::unsupported, "expected one tensor", path};
  }
  return io::load_tensor(dump.tensors.front());
}

void ApiIndexBuilder::add_unreadable(const ApiJson& json, const Error& error) {
  index_.ledger.push_back({side_, json.path, "", LedgerState::unreadable, error.to_string()});
}

DumpIndex ApiIndexBuilder::finish(std::size_t jobs) {
  std::vector<IndexedTensor*> saved;
  std::unordered_set<std::string> known;
  for (IndexedTensor& tensor : index_.tensors) {
    known.insert(tensor.path);
    if (!tensor.summary && !tensor.container && !tensor.problem) {
      saved.push_back(&tensor);
    }
  }
  parallel_for(saved.size(), jobs, [&](std::size_t i) { read_header(*saved[i]); });
  for (const verdict::LedgerEntry& entry : index_.ledger) {
    known.insert(entry.path);
  }
  std::error_code error;
  const bool folder = fs::is_directory(index_.path, error);
  const std::string root = folder ? index_.path : std::string(io::folder_of(index_.path));
  const auto walk = walk_folder(root.empty() ? "." : root);
  if (!walk) {
    return std::move(index_);
  }
  for (const WalkedFile& file : walk->files) {
    const std::string path = root.empty() ? file.path.substr(2) : file.path;
    if (known.contains(path)) {
      continue;
    }
    const bool tensor = path.find("dump_tensor_data/") != std::string::npos;
    index_.ledger.push_back({side_, path, "",
                             tensor ? LedgerState::unmatched : LedgerState::ignored,
                             tensor ? "no call names this file" : "holds no tensor"});
  }
  return std::move(index_);
}

}  // namespace opdrift::pipeline
