#include "opdrift/diagnose/bisect/value_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/dump_manifest.hpp"
#include "opdrift/io/registry.hpp"

namespace opdrift::diagnose {

namespace {

constexpr std::string_view kEndings[] = {".npy", ".bin"};

std::string with_underscores(std::string text, std::string_view replaced) {
  std::replace_if(
      text.begin(), text.end(), [&](char c) { return replaced.find(c) != std::string_view::npos; },
      '_');
  return text;
}

/// The name without a known ending; "" for other files.
std::string bare_name(const std::string& name) {
  for (const std::string_view ending : kEndings) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      return name.substr(0, name.size() - ending.size());
    }
  }
  return "";
}

/// The digits a name ends with.
std::optional<std::uint64_t> last_number(const std::string& name) {
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') {
    --begin;
  }
  return parse_u64(std::string_view(name).substr(begin));
}

}  // namespace

Result<ValueFolder> ValueFolder::open(const std::string& path) {
  ValueFolder folder;
  folder.path_ = path;
  OPDRIFT_TRY(const std::vector<std::string> files, io::list_files(path));
  OPDRIFT_TRY(const io::NameMapping mapping, io::read_name_mapping(path));
  const std::string manifest_path = path + "/" + std::string(io::kManifestFileName);
  std::error_code ignored;
  if (std::filesystem::exists(manifest_path, ignored)) {
    OPDRIFT_TRY(const io::DumpManifest manifest, io::read_dump_manifest(manifest_path));
    for (const auto& [file, tensor] : manifest.by_file) {
      folder.by_tensor_.emplace(tensor.tensor_name, file);
    }
  }
  for (const std::string& file : files) {
    const std::string_view real = mapping.lookup(file);
    const std::string name = bare_name(real.empty() ? file : std::string(real));
    if (name.empty()) {
      continue;
    }
    folder.by_name_.emplace(name, file);
    const std::vector<std::string_view> parts = split(name, '.');
    if (parts.size() >= 2 && is_digits(parts[1])) {
      const std::string key = std::string(parts[0]) + "." + std::string(parts[1]);
      const std::uint64_t time = parts.size() > 2 ? parse_u64(parts[2]).value_or(0) : 0;
      if (!folder.by_output_.contains(key) || folder.times_[key] <= time) {
        folder.by_output_[key] = file;
        folder.times_[key] = time;
      }
    }
    if (const auto number = last_number(name)) {
      folder.by_number_.emplace(*number, file);
    }
  }
  return folder;
}

std::string ValueFolder::file_of(const Wanted& wanted) const {
  const auto look_up = [](const std::map<std::string, std::string>& table,
                          const std::string& key) -> std::string {
    const auto found = table.find(key);
    return found == table.end() ? "" : found->second;
  };
  const bool input = wanted.node.empty();
  const std::string stem = with_underscores(input ? wanted.tensor : wanted.node, "./");
  const std::string key = stem + "." + std::to_string(wanted.index);
  std::string file = look_up(by_tensor_, wanted.tensor);
  if (file.empty() && input) {
    file = look_up(by_output_, "input_" + key);
  }
  if (file.empty()) {
    file = look_up(by_output_, key);
  }
  if (file.empty()) {
    file = look_up(by_name_, with_underscores(wanted.tensor, "/:"));
  }
  if (file.empty() && wanted.by_position) {
    const auto numbered = by_number_.find(wanted.position);
    file = numbered == by_number_.end() ? "" : numbered->second;
  }
  return file;
}

Result<tensor::Tensor> ValueFolder::find(const Wanted& wanted) const {
  const std::string file = file_of(wanted);
  if (file.empty()) {
    const std::string what =
        wanted.node.empty() ? "network input '" + printable(wanted.tensor) + "'"
                            : "output " + std::to_string(wanted.index) + " of operator '" +
                                  printable(wanted.node) + "' (" + printable(wanted.tensor) + ")";
    return Error{ErrorCode::not_found, "no file for " + what, path_};
  }
  return read_value(path_ + "/" + file, wanted.like);
}

Result<tensor::Tensor> read_value(const std::string& path, const tensor::TensorDesc* like) {
  if (!path.ends_with(".bin")) {
    OPDRIFT_TRY(const io::FileDump dump, io::open_file(path));
    if (dump.tensors.size() != 1) {
      return Error{ErrorCode::unsupported,
                   "expected one tensor, found " + std::to_string(dump.tensors.size()), path};
    }
    if (dump.tensors.front().problem) {
      return *dump.tensors.front().problem;
    }
    return io::load_tensor(dump.tensors.front());
  }
  if (like == nullptr) {
    return Error{ErrorCode::invalid_argument,
                 "a bin file says nothing of its type and shape; give npy", path};
  }
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  tensor::Tensor value;
  value.desc.dtype = like->dtype;
  value.desc.shape = like->shape;
  value.bytes = bytes;
  OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(like->shape));
  const std::optional<std::uint64_t> needed = tensor::storage_bytes(like->dtype, count);
  if (needed && *needed != bytes.size() && like->dtype == tensor::DType::f32 &&
      bytes.size() == *needed / 2) {
    value.desc.dtype = tensor::DType::f16;
    return value;
  }
  if (!needed || *needed != bytes.size()) {
    return Error{ErrorCode::data_mismatch,
                 "expected " + std::to_string(needed.value_or(0)) + " bytes for shape (" +
                     tensor::to_string(like->shape) + "), found " + std::to_string(bytes.size()),
                 path};
  }
  return value;
}

}  // namespace opdrift::diagnose
