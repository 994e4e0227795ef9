#include "opdrift/shell/workspace/dump_files.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/framework_names.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/folder_walk.hpp"

namespace opdrift::shell {

namespace {

/// Endings of files that were made from dumps.
constexpr std::array<std::string_view, 6> kDerived = {".npy", ".npz",  ".txt",
                                                      ".bin", ".json", ".pt"};

bool is_derived(std::string_view name) {
  return std::any_of(kDerived.begin(), kDerived.end(),
                     [name](std::string_view ending) { return name.ends_with(ending); });
}

/// Real names of the files of one folder after another.
class RealNames {
 public:
  std::string of(const pipeline::WalkedFile& file) {
    const std::string folder(io::folder_of(file.path));
    const auto [entry, fresh] = mappings_.try_emplace(folder);
    if (fresh) {
      auto mapping = io::read_name_mapping(folder.empty() ? "." : folder);
      if (mapping.has_value()) {
        entry->second = std::move(*mapping);
      }
    }
    const std::string_view real = entry->second.lookup(file.name);
    return real.empty() ? file.name : std::string(real);
  }

 private:
  std::map<std::string, io::NameMapping> mappings_;
};

std::vector<pipeline::WalkedFile> files_below(const std::string& folder) {
  auto walk = pipeline::walk_folder(folder);
  return walk.has_value() ? std::move(walk->files) : std::vector<pipeline::WalkedFile>();
}

}  // namespace

bool is_before(std::string_view x, std::string_view y) {
  const auto trimmed = [](std::string_view digits) {
    const std::size_t first = digits.find_first_not_of('0');
    return first == std::string_view::npos ? std::string_view() : digits.substr(first);
  };
  const std::string_view left = trimmed(x);
  const std::string_view right = trimmed(y);
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

std::optional<DeviceFile> parse_device_name(std::string_view name) {
  DeviceFile file;
  file.name = std::string(name);
  constexpr std::string_view kStatistics = ".csv";
  if (name.ends_with(kStatistics)) {
    file.statistics = true;
    name.remove_suffix(kStatistics.size());
  }
  const std::optional<io::DumpName> parsed = io::parse_dump_name(name);
  if (!parsed || is_derived(name)) {
    return std::nullopt;
  }
  file.type = std::string(parsed->op_type);
  file.op_name = std::string(parsed->op_name);
  file.task = parsed->task_id;
  file.stream = parsed->stream_id;
  file.time = std::string(parsed->time);
  return file;
}

std::vector<DeviceFile> device_files(const std::string& folder) {
  std::vector<DeviceFile> found;
  RealNames names;
  for (const pipeline::WalkedFile& file : files_below(folder)) {
    if (std::optional<DeviceFile> parsed = parse_device_name(names.of(file))) {
      parsed->path = file.path;
      found.push_back(std::move(*parsed));
    }
  }
  return found;
}

std::vector<GoldenFile> golden_files(const std::string& folder) {
  std::vector<GoldenFile> found;
  RealNames names;
  for (const pipeline::WalkedFile& file : files_below(folder)) {
    const std::string name = names.of(file);
    const auto parsed = io::parse_framework_name(name);
    if (parsed && name != io::kMappingFileName) {
      found.push_back({file.path, name, parsed->op, parsed->index, parsed->time});
    }
  }
  return found;
}

std::vector<DeviceFile> device_files_of(const Workspace& workspace, int id) {
  const std::optional<std::string> folder = newest_folder(workspace.debug(id, "dump"));
  return folder ? device_files(*folder) : std::vector<DeviceFile>();
}

std::vector<DeviceFile> files_of(const std::vector<DeviceFile>& files, std::string_view type,
                                 std::string_view name, std::string_view part_of_path) {
  const std::string type_key = io::file_key(type);
  const std::string name_key = io::file_key(name);
  std::vector<DeviceFile> found;
  for (const DeviceFile& file : files) {
    if (file.op_name == name_key && file.type == type_key &&
        file.path.find(part_of_path) != std::string::npos) {
      found.push_back(file);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const DeviceFile& x, const DeviceFile& y) {
    return is_before(x.time, y.time);
  });
  return found;
}

std::vector<GoldenFile> files_of(const std::vector<GoldenFile>& files, std::string_view name) {
  const std::string key = io::file_key(name);
  const std::string dotted = replace_all(name, "/", "_");
  std::vector<GoldenFile> found;
  for (const GoldenFile& file : files) {
    if (file.op_name == key || file.op_name == dotted) {
      found.push_back(file);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const GoldenFile& x, const GoldenFile& y) {
    return x.index != y.index ? x.index < y.index : is_before(x.time, y.time);
  });
  return found;
}

}  // namespace opdrift::shell
