#include "opdrift/diagnose/offline/device_dumps.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/dump.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/tensor/align.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;

/// A run leaves a handful of levels; links are not followed.
constexpr int kMaxDepth = 12;

/// Calls `visit` for every regular file below `folder`.
template <typename Visit>
void for_each_file(const std::string& folder, const Visit& visit) {
  std::error_code problem;
  fs::recursive_directory_iterator entry(folder, problem);
  for (const fs::recursive_directory_iterator end; !problem && entry != end;
       entry.increment(problem)) {
    std::error_code ignored;
    if (entry.depth() >= kMaxDepth) {
      entry.disable_recursion_pending();
    }
    if (entry->is_regular_file(ignored)) {
      visit(entry->path());
    }
  }
}

/// Names that end in a time, or digits that stand for one (mapping.csv); x.1.2.3 only looks alike.
bool is_dump_name(const std::string& name) {
  constexpr std::size_t kLeastTime = 10;
  if (is_digits(name)) {
    return name.size() >= kLeastTime;
  }
  const auto parsed = io::parse_dump_name(name);
  const bool plain = !name.ends_with(".npy") && !name.ends_with(".bin");
  return plain && parsed && parsed->time.size() >= kLeastTime;
}

/// The digits at the end of a name, its ending left out: 2 of "output_2.bin".
std::uint64_t output_number(const std::string& name) {
  const std::string_view stem = std::string_view(name).substr(0, name.rfind('.'));
  const std::size_t last = stem.find_last_not_of("0123456789");
  return parse_u64(stem.substr(last == std::string_view::npos ? 0 : last + 1)).value_or(0);
}

}  // namespace

std::string find_dump_folder(const std::string& folder) {
  std::map<std::string, std::size_t> counts;
  for_each_file(folder, [&](const fs::path& path) {
    if (is_dump_name(path.filename().string())) {
      ++counts[path.parent_path().string()];
    }
  });
  std::string best;
  std::size_t most = 0;
  for (const auto& [path, count] : counts) {
    if (count >= most) {
      best = path;
      most = count;
    }
  }
  return best;
}

std::vector<std::string> find_output_files(const std::string& folder) {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for_each_file(folder, [&](const fs::path& path) {
    if (path.extension() == ".bin") {
      found.emplace_back(output_number(path.filename().string()), path.string());
    }
  });
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [number, path] : found) {
    paths.push_back(std::move(path));
  }
  return paths;
}

Outcome<std::vector<DumpedOperator>> list_dumped(const std::string& folder) {
  OPDRIFT_TRY(const io::DumpFolder scanned, io::scan_folder(folder));
  std::vector<DumpedOperator> operators;
  for (const io::FolderEntry& entry : scanned.entries) {
    const io::ScannedFile& last = entry.files.back();
    const auto name = io::parse_dump_name(last.real_name);
    operators.push_back(
        {name ? std::string(name->op_type) : std::string(), entry.op_key, last.path});
  }
  return operators;
}

Outcome<tensor::Tensor> load_output(const std::string& path, std::size_t index) {
  OPDRIFT_TRY(const io::FileDump dump, io::open_ascend_dump(path));
  const std::vector<const io::FileTensor*> outputs = dump.of(io::TensorRole::output);
  if (index >= outputs.size()) {
    return failed(Number::out_of_bounds,
                  "expected output " + std::to_string(index) + ", found " +
                      std::to_string(outputs.size()) + " output(s)",
                  path);
  }
  OPDRIFT_TRY(const tensor::Tensor tensor, io::load_tensor(*outputs[index]));
  const bool blocked = tensor.desc.format == tensor::Format::nc1hwc0;
  if (!blocked) {
    OPDRIFT_TRY(const tensor::View view, tensor::stored_view(tensor));
    return Outcome<tensor::Tensor>(tensor::materialise(view, tensor.desc.format));
  }
  OPDRIFT_TRY(const tensor::ConvertedTensor converted,
              tensor::convert_for_output(
                  tensor, {.format = tensor::Format::nchw, .target_shape = {}, .rules = {}}));
  return Outcome<tensor::Tensor>(tensor::materialise(converted.view, tensor::Format::nchw));
}

tensor::Tensor to_f32(const tensor::Tensor& tensor) {
  const unsigned bits = tensor::info(tensor.desc.dtype).bits;
  std::vector<float> values(bits == 0 ? 0 : tensor.bytes.size() * 8 / bits);
  tensor::decode_to_float(tensor.desc.dtype, tensor.bytes.span.data(), 0, values.size(),
                          values.data());
  const ByteSpan bytes = std::as_bytes(std::span(values));
  tensor::Tensor wide = tensor;
  wide.desc.dtype = tensor::DType::f32;
  wide.desc.ascend_dtype = -1;
  wide.bytes = own_bytes({bytes.begin(), bytes.end()});
  return wide;
}

Done write_tensor(const std::string& path, const tensor::Tensor& tensor) {
  OPDRIFT_TRY(const tensor::View view, tensor::stored_view(tensor));
  return Done(
      io::write_npy(path, view, {.fortran_order = false, .raw_extension_types = true, .file = {}}));
}

}  // namespace opdrift::diagnose::offline
