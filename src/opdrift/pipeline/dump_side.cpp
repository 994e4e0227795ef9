#include "opdrift/pipeline/dump_side.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/dump.hpp"
#include "opdrift/io/ascend/nano.hpp"
#include "opdrift/io/ascend/slices.hpp"
#include "opdrift/io/ascend/tensor.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/match/network.hpp"
#include "opdrift/match/quant_filter.hpp"

namespace opdrift::pipeline {

namespace {

constexpr std::size_t kTimeDigits = 16;
constexpr std::size_t kTimePart = 4;  // of a device dump's name, short or long
constexpr std::size_t kShortParts = 5;
constexpr std::size_t kProbeBytes = 64;
// Memory of an opened dump and of one tensor's description, about.
constexpr std::uint64_t kDumpCost = 1024;
constexpr std::uint64_t kTensorCost = 640;

/// The 16 digits of a file name that say when it was written; 0 when they are missing.
std::uint64_t time_in(const std::string& name, io::FolderKind kind) {
  const std::vector<std::string_view> parts = split(name, '.');
  std::string_view time = parts.back();
  if (kind != io::FolderKind::offline) {
    time = parts.size() >= 2 ? parts[parts.size() - 2] : std::string_view();
  } else if (parts.size() > kShortParts) {
    time = parts[kTimePart];
  }
  return time.size() == kTimeDigits && is_digits(time) ? parse_u64(time).value_or(0) : 0;
}

std::uint64_t file_bytes(const io::FileDump& dump) {
  std::uint64_t bytes = 0;
  for (const io::FileTensor& tensor : dump.tensors) {
    bytes += tensor.size_bytes;
  }
  return bytes;
}

}  // namespace

Result<io::FileDump> open_dump_file(const std::string& path, const std::string& real_name) {
  const bool named_npy = std::string_view(real_name).ends_with(".npy");
  if (named_npy) {
    Result<io::FileDump> array = io::open_npy(path);
    if (array.has_value()) {
      return array;
    }
  }
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  const ByteSpan head = bytes.span.first(std::min<std::size_t>(bytes.size(), kProbeBytes));
  if (io::probe_ascend_nano(head, bytes.size(), real_name)) {
    return io::parse_ascend_nano(bytes, path);
  }
  if (bytes.size() == 0) {
    return Error{ErrorCode::truncated, "expected a dump file, found no bytes at all", path};
  }
  if (named_npy || io::is_npy(head)) {
    return io::in_file(io::open_npy(path), path);
  }
  return io::parse_ascend_dump(bytes, path);
}

Result<std::unique_ptr<DumpSide>> DumpSide::scan(const std::string& path,
                                                 const io::ScanOptions& options, bool reference) {
  OPDRIFT_TRY(io::DumpFolder folder, io::scan_folder(path, options));
  std::unique_ptr<DumpSide> side(new DumpSide());
  side->folder_ = std::move(folder);
  side->reference_ = reference;
  side->kind_ = side->folder_.kind;
  side->judge_kind();
  for (const io::FolderEntry& entry : side->folder_.entries) {
    side->times_.push_back(time_in(entry.files.back().real_name, side->kind_));
  }
  side->kept_.resize(side->folder_.entries.size());
  return side;
}

/// A folder is quantised when an operator's whole name says so, not when a name merely contains a
/// mark; that also decides what a folder of NumPy files is.
void DumpSide::judge_kind() {
  for (const io::FolderEntry& entry : folder_.entries) {
    const bool npy = std::string_view(entry.files.back().real_name).ends_with(".npy");
    has_npy_ = has_npy_ || npy;
    if (npy || kind_ == io::FolderKind::offline) {
      std::string_view name = entry.op_key;
      name = npy ? name.substr(0, name.rfind('.')) : name;
      quantised_ = quantised_ || match::is_quantised_name(name, true);
    }
  }
  if (has_npy_) {
    kind_ = quantised_ ? io::FolderKind::quant : io::FolderKind::standard;
  }
}

std::optional<std::size_t> DumpSide::find(const std::string& key) const {
  const io::FolderEntry* entry = folder_.find(key);
  return entry == nullptr ? std::nullopt
                          : std::optional(static_cast<std::size_t>(entry - folder_.entries.data()));
}

std::string DumpSide::key_of(const std::string& operator_name, std::uint32_t output) const {
  std::string key = match::dump_key(operator_name);
  return kind_ == io::FolderKind::offline ? key : key + "." + std::to_string(output);
}

const std::string& DumpSide::path_of(std::size_t entry) const {
  return folder_.entries[entry].files.back().path;
}

std::string DumpSide::type_of(std::size_t entry) const {
  if (kind_ != io::FolderKind::offline) {
    return "";
  }
  const std::string& name = folder_.entries[entry].files.back().real_name;
  return name.substr(0, name.find('.'));
}

Result<OpenedDump> DumpSide::read(const io::FolderEntry& entry) const {
  OpenedDump opened;
  if (entry.mode == io::SliceMode::normal || entry.files.size() == 1) {
    const io::ScannedFile& file = entry.files.back();
    OPDRIFT_TRY(opened.dump, open_dump_file(file.path, file.real_name));
  } else {
    std::vector<io::FileDump> files;
    for (const io::ScannedFile& file : entry.files) {
      OPDRIFT_TRY(io::FileDump dump, open_dump_file(file.path, file.real_name));
      files.push_back(std::move(dump));
    }
    OPDRIFT_TRY(io::MergedDump merged, io::merge_slices(std::move(files), entry.mode));
    opened.dump = std::move(merged.dump);
    opened.complete = merged.complete;
    opened.warnings = std::move(merged.warnings);
  }
  if (reference_) {
    if (std::optional<Error> problem = io::first_problem(opened.dump)) {
      return *std::move(problem);
    }
  }
  if (!opened.dump.attributes.empty()) {
    const auto info = io::slice_info(opened.dump);
    opened.sliced = info.has_value() && info->has_value();
  }
  return opened;
}

Result<std::shared_ptr<const OpenedDump>> DumpSide::open(std::size_t entry) const {
  {
    const std::lock_guard<std::mutex> lock(kept_mutex_);
    if (kept_[entry]) {
      return kept_[entry];
    }
  }
  OPDRIFT_TRY(OpenedDump opened, read(folder_.entries[entry]));
  auto shared = std::make_shared<const OpenedDump>(std::move(opened));
  const std::uint64_t bytes = file_bytes(shared->dump);
  bytes_opened_ += bytes;
  const std::uint64_t cost =
      bytes + kDumpCost + kTensorCost * static_cast<std::uint64_t>(shared->dump.tensors.size());
  const std::lock_guard<std::mutex> lock(kept_mutex_);
  if (kind_ == io::FolderKind::offline && bytes <= kSmallBytes && kept_bytes_ <= kKeepBytes) {
    kept_bytes_ += cost;
    kept_[entry] = shared;
  }
  return std::shared_ptr<const OpenedDump>(shared);
}

void DumpSide::forget(std::size_t entry) const {
  std::shared_ptr<const OpenedDump> last;  // destroyed outside the lock
  const std::lock_guard<std::mutex> lock(kept_mutex_);
  last = std::move(kept_[entry]);
}

}  // namespace opdrift::pipeline
