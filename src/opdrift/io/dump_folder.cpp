#include "opdrift/io/dump_folder.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/mapping.hpp"

namespace opdrift::io {

namespace {

constexpr std::string_view kFailedListName = "convert_failed_file_list.txt";
constexpr std::string_view kNpySuffix = ".npy";
constexpr std::size_t kTimeDigits = 16;
constexpr std::size_t kShortParts = 5;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool is_regular(const dirent& entry, const std::string& folder) {
  if (entry.d_type != DT_UNKNOWN && entry.d_type != DT_LNK) {
    return entry.d_type == DT_REG;
  }
  struct stat info {};
  const std::string path = folder + "/" + entry.d_name;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool is_number_name(std::string_view name) {
  if (name.ends_with(kNpySuffix)) {
    name.remove_suffix(kNpySuffix.size());
  }
  return is_digits(name);
}

enum class NameKind : std::uint8_t { offline, standard, quant, numpy };

struct Classified {
  NameKind kind = NameKind::offline;
  std::string_view op_key;
};

std::optional<Classified> classify(std::string_view name) {
  NameKind kind = NameKind::offline;
  NamePattern pattern = NamePattern::offline;
  if (name.ends_with(kNpySuffix)) {
    std::tie(kind, pattern) = std::pair(NameKind::numpy, NamePattern::numpy);
  } else if (name.ends_with(".pb")) {
    std::tie(kind, pattern) = std::pair(NameKind::standard, NamePattern::standard);
  } else if (name.ends_with(".quant")) {
    std::tie(kind, pattern) = std::pair(NameKind::quant, NamePattern::quant);
  }
  const std::optional<NameGroups> groups = match_name(pattern, name);
  if (!groups) {
    return std::nullopt;
  }
  return Classified{kind, *(*groups)[0]};
}

FolderKind folder_kind(NameKind kind, bool quantised) {
  switch (kind) {
    case NameKind::offline: return FolderKind::offline;
    case NameKind::standard: return FolderKind::standard;
    case NameKind::quant: return FolderKind::quant;
    case NameKind::numpy: break;
  }
  return quantised ? FolderKind::quant : FolderKind::standard;
}

/// The part of a name that holds its time stamp. Framework names end in TIME.suffix, whatever dots
/// the operator has; long device names keep it in the fifth part, short ones at the end.
std::string_view time_part(std::string_view name, const std::vector<std::string_view>& parts,
                           SliceMode mode) {
  const bool framework =
      name.ends_with(kNpySuffix) || name.ends_with(".pb") || name.ends_with(".quant");
  if (framework) {
    return parts.size() >= 2 ? parts[parts.size() - 2] : std::string_view();
  }
  if (mode == SliceMode::normal && parts.size() <= kShortParts) {
    return parts.back();
  }
  return parts.size() >= kShortParts ? parts[kShortParts - 1] : std::string_view();
}

struct SortKey {
  std::uint64_t position = 0;  ///< thread or slice; the stable second sort, so it leads
  std::uint64_t time = 0;

  bool operator<(const SortKey& other) const {
    return std::tie(position, time) < std::tie(other.position, other.time);
  }
};

SortKey sort_key(const ScannedFile& file, SliceMode mode, std::vector<std::string>& warnings) {
  const std::string_view name = file.real_name;
  const std::vector<std::string_view> parts = split(name, '.');
  SortKey key;
  const std::string_view time = time_part(name, parts, mode);
  if (time.size() == kTimeDigits && is_digits(time)) {
    key.time = parse_u64(time).value_or(0);
  } else {
    warnings.push_back(std::string(name) + ": expected a time stamp of 16 digits, found \"" +
                       std::string(time) + "\"");
  }
  if (mode == SliceMode::automatic) {
    const std::string_view thread = parts.size() >= 2 ? parts[parts.size() - 2] : "";
    key.position = parse_u64(thread).value_or(2);
  } else if (mode == SliceMode::manual) {
    const std::string_view op = parts.size() >= 2 ? parts[1] : "";
    const std::string_view slice = op.empty() ? op : op.substr(op.size() - 1);
    key.position = parse_u64(slice).value_or(3);
  }
  return key;
}

void sort_files(FolderEntry& entry, std::vector<std::string>& warnings) {
  std::vector<std::pair<SortKey, std::size_t>> order;
  order.reserve(entry.files.size());
  for (std::size_t i = 0; i < entry.files.size(); ++i) {
    order.emplace_back(sort_key(entry.files[i], entry.mode, warnings), i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<ScannedFile> sorted;
  sorted.reserve(entry.files.size());
  for (const auto& [key, i] : order) {
    sorted.push_back(std::move(entry.files[i]));
  }
  entry.files = std::move(sorted);
}

/// Collects the files of one folder, a name at a time.
class Scanner {
 public:
  Scanner(const std::string& path, const ScanOptions& options) : options_(options) {
    folder_.path = path;
  }

  Status read_mapping() {
    OPDRIFT_TRY(mapping_, read_name_mapping(folder_.path));
    folder_.warnings = mapping_.warnings;
    return Unit{};
  }

  Status add(const std::string& name) {
    std::string real_name = name;
    if (is_number_name(name)) {
      real_name = std::string(mapping_.lookup(name));
      if (real_name.empty()) {
        ignore(name, mapping_.present ? "a number that mapping.csv does not list"
                                      : "a number, and the folder has no mapping.csv");
        return Unit{};
      }
    }
    const std::optional<Classified> found = classify(real_name);
    if (!found) {
      ignore(name, "the name does not follow the naming of dump files");
      return Unit{};
    }
    const std::string op_key = options_.ffts
                                   ? std::string(found->op_key)
                                   : clean_op_name(found->op_key, options_.has_fusion_rule);
    if (!options_.ffts && op_key.find("_lxslice") != std::string::npos) {
      ignore(name, "a slice that belongs to no operator");
      return Unit{};
    }
    OPDRIFT_TRY(const SliceMode mode, slice_mode_of(real_name));
    if ((found->kind == NameKind::offline || found->kind == NameKind::numpy) &&
        is_quantised_op(op_key)) {
      folder_.quantised = true;
    }
    if (kind_ && *kind_ != found->kind) {
      mixed_ = true;
    }
    kind_ = kind_.value_or(found->kind);
    place(op_key, mode, {folder_.path + "/" + name, std::move(real_name)});
    return Unit{};
  }

  Result<DumpFolder> finish() {
    if (mixed_ || !kind_) {
      return Error{ErrorCode::bad_name,
                   mixed_ ? "expected dump files of one kind, found several kinds"
                          : "expected dump files, found none with a valid name",
                   folder_.path};
    }
    folder_.kind = folder_kind(*kind_, folder_.quantised);
    for (FolderEntry& entry : folder_.entries) {
      sort_files(entry, folder_.warnings);
    }
    std::sort(folder_.entries.begin(), folder_.entries.end(),
              [](const auto& x, const auto& y) { return x.op_key < y.op_key; });
    return std::move(folder_);
  }

 private:
  void ignore(const std::string& name, std::string reason) {
    folder_.ignored.push_back({name, std::move(reason)});
  }

  void place(const std::string& op_key, SliceMode mode, ScannedFile file) {
    const auto [found, is_new] = places_.try_emplace(op_key, folder_.entries.size());
    if (is_new) {
      folder_.entries.push_back({op_key, mode, {}});
    }
    folder_.entries[found->second].files.push_back(std::move(file));
  }

  ScanOptions options_;
  NameMapping mapping_;
  DumpFolder folder_;
  std::optional<NameKind> kind_;
  bool mixed_ = false;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

std::string_view to_string(FolderKind kind) {
  switch (kind) {
    case FolderKind::offline: return "Offline";
    case FolderKind::quant: return "Quant";
    case FolderKind::standard: return "Standard";
  }
  return "Offline";
}

const FolderEntry* DumpFolder::find(std::string_view op_key) const {
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), op_key,
      [](const FolderEntry& entry, std::string_view key) { return entry.op_key < key; });
  return found != entries.end() && found->op_key == op_key ? &*found : nullptr;
}

const FolderEntry* DumpFolder::find_op(std::string_view op_name,
                                       std::optional<std::uint64_t> output_index) const {
  std::string key = file_key(op_name);
  if (!output_index && kind == FolderKind::quant) {
    output_index = 0;
  }
  if (output_index) {
    key += "." + std::to_string(*output_index);
  }
  return find(key);
}

Result<std::vector<std::string>> list_files(const std::string& path) {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(path.c_str()));
  if (!folder) {
    Error error = system_error(errno, "open folder", path);
    error.code = errno == ENOTDIR ? ErrorCode::wrong_kind : error.code;
    return error;
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) {
      return system_error(errno, "list folder", path);
    }
    if (entry == nullptr) {
      break;
    }
    if (is_regular(*entry, path)) {
      names.emplace_back(entry->d_name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<DumpFolder> scan_folder(const std::string& path, const ScanOptions& options) {
  OPDRIFT_TRY(const std::vector<std::string> names, list_files(path));
  Scanner scanner(path, options);
  OPDRIFT_CHECK_OK(scanner.read_mapping());
  for (const std::string& name : names) {
    if (name != kMappingFileName && name != kFailedListName) {
      OPDRIFT_CHECK_OK(scanner.add(name));
    }
  }
  return scanner.finish();
}

}  // namespace opdrift::io
