#include "opdrift/pipeline/overflow/overflow.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/debug.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/convert/names.hpp"
#include "opdrift/pipeline/convert/tensor_output.hpp"
#include "opdrift/pipeline/overflow/overflow_record.hpp"
#include "opdrift/pipeline/stats/array_summary.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 30;

/// A dump file below a folder, by its real name.
struct FoundFile {
  std::string path;
  std::string real_name;
};

/// The name taken apart, when it is nothing but the pattern: converted tensors in the same folder
/// carry a longer name and are no dumps.
std::optional<io::DumpName> exact_dump_name(std::string_view name) {
  const std::optional<io::NameGroups> groups = io::match_name(io::NamePattern::dump, name);
  if (!groups) {
    return std::nullopt;
  }
  std::string_view last = *(*groups)[4];
  for (std::size_t i = 5; i < groups->size(); ++i) {
    last = (*groups)[i].value_or(last);
  }
  const bool ends_there = last.data() + last.size() == name.data() + name.size();
  return ends_there ? io::parse_dump_name(name) : std::nullopt;
}

/// Files below `folder`, sorted by path, at most 30 levels down.
std::vector<std::string> walk(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry.depth() >= kMaxDepth) {
      entry.disable_recursion_pending();
    }
    if (entry->is_regular_file(ignored)) {
      paths.push_back(entry->path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Files of a tree, then those mapping.csv of its root names.
Result<std::vector<FoundFile>> find_files(const std::string& folder) {
  std::vector<FoundFile> found;
  for (const std::string& path : walk(folder)) {
    found.push_back({path, std::string(io::base_name(path))});
  }
  OPDRIFT_TRY(const io::NameMapping mapping, io::read_name_mapping(folder));
  for (const auto& [on_disk, real] : mapping.real) {
    std::error_code error;
    const fs::path path = fs::path(folder) / on_disk;
    if (on_disk.find('/') == std::string::npos && fs::is_regular_file(path, error)) {
      found.push_back({path.string(), real});
    }
  }
  return found;
}

/// Number before comparing as text: time stamps have no leading zeros in practice.
std::pair<std::size_t, std::string_view> time_order(std::string_view time) {
  while (time.size() > 1 && time.front() == '0') {
    time.remove_prefix(1);
  }
  return {time.size(), time};
}

struct DebugFile {
  FoundFile file;
  std::string time;
};

Result<std::vector<DebugFile>> find_debug_files(const std::string& folder) {
  OPDRIFT_TRY(const std::vector<FoundFile> files, find_files(folder));
  std::map<std::string, DebugFile> by_name;
  for (const FoundFile& file : files) {
    const std::optional<io::DumpName> name = exact_dump_name(file.real_name);
    if (name && io::is_debug_file_name(file.real_name)) {
      by_name.insert_or_assign(file.real_name, DebugFile{file, std::string(name->time)});
    }
  }
  std::vector<DebugFile> sorted;
  sorted.reserve(by_name.size());
  for (auto& [name, debug_file] : by_name) {
    sorted.push_back(std::move(debug_file));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const DebugFile& x, const DebugFile& y) {
    return time_order(x.time) < time_order(y.time);
  });
  return sorted;
}

/// The task an overflowed unit ran.
struct Task {
  std::uint64_t task = io::kNoId;
  std::uint64_t stream = io::kNoId;
  std::uint64_t context = io::kNoId;
  std::uint64_t thread = io::kNoId;
};

bool id_matches(std::uint64_t wanted, std::optional<std::uint64_t> found) {
  return wanted == io::kNoId || wanted == 0 || found.value_or(io::kNoId) == wanted;
}

bool runs_task(const io::DumpName& name, const Task& task) {
  return name.op_type != "Opdebug" && name.task_id == task.task &&
         name.stream_id.value_or(0) == task.stream && id_matches(task.context, name.extra[1]) &&
         id_matches(task.thread, name.extra[2]);
}

std::string status_text(const std::vector<std::uint64_t>& status) {
  if (status.size() == 1) {
    return std::to_string(status.front());
  }
  std::string text = "[";
  for (std::size_t i = 0; i < status.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(status[i]);
  }
  return text + "]";
}

std::string unit_line(const io::DebugUnit& unit) {
  return " [" + std::string(unit.name) +
         "][TaskId:" + std::to_string(unit.field_or_none("task_id")) +
         "][StreamId:" + std::to_string(unit.field_or_none("stream_id")) +
         "][Status:" + status_text(unit.status) + "]";
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &local)};
}

/// One run of the analysis.
class OverflowAnalysis {
 public:
  explicit OverflowAnalysis(const OverflowOptions& options) : options_(options) {}

  OverflowReport run() {
    const Status status = analyse();
    if (!status) {
      report_.error = status.error();
      report_.cause = report_.cause == OverflowCause::none ? OverflowCause::other : report_.cause;
      notify(NoticeLevel::error, status.error().to_string());
    }
    return std::move(report_);
  }

 private:
  void notify(NoticeLevel level, const std::string& text) const {
    if (options_.notice) {
      options_.notice(level, text);
    }
  }

  Error failed(OverflowCause cause, Error error) {
    report_.cause = cause;
    return error;
  }

  Status analyse() {
    OPDRIFT_TRY(const std::vector<DebugFile> debug_files, find_debug_files(options_.dump_folder));
    if (debug_files.empty()) {
      notify(NoticeLevel::warning, options_.dump_folder + ": there is no overflow debug file");
      return Unit{};
    }
    const std::size_t count = std::min(options_.count, debug_files.size());
    for (std::size_t i = 0; i < count; ++i) {
      OPDRIFT_TRY(const std::string block, describe(debug_files[i], i + 1));
      report_.text += block + "\n";
    }
    return write_summary();
  }

  Status write_summary() {
    const std::string path = options_.output_folder + "/overflow_summary_" + time_now() + ".txt";
    OPDRIFT_CHECK_OK(write_bytes(path, as_bytes(report_.text)));
    report_.summary_path = path;
    for (const std::string_view line : split(trim(report_.text), '\n')) {
      notify(NoticeLevel::info, std::string(line));
    }
    notify(NoticeLevel::info, "wrote " + path);
    return Unit{};
  }

  Result<std::string> describe(const DebugFile& debug_file, std::size_t number) {
    OPDRIFT_TRY(const io::DebugRecord record, load_record(debug_file.file));
    std::vector<std::string> units;
    Task task;
    for (const io::DebugUnit& unit : record.units) {
      if (unit.overflowed()) {
        units.push_back(unit_line(unit));
        task = {unit.field_or_none("task_id"), unit.field_or_none("stream_id"),
                unit.field_or_none("context_id"), unit.field_or_none("thread_id")};
      }
    }
    if (units.empty()) {
      return failed(record.tagged ? OverflowCause::no_status : OverflowCause::unknown_unit,
                    Error{ErrorCode::malformed, "expected a unit that reports an overflow",
                          debug_file.file.path});
    }
    const std::string frame_left(49, '=');
    const std::string frame_right(50, '=');
    std::vector<std::string> lines = {frame_left + "[" + std::to_string(number) + "]" +
                                      frame_right};
    OPDRIFT_TRY(const std::vector<std::string> tensors, describe_operator(debug_file, task, lines));
    lines.insert(lines.end(), units.begin(), units.end());
    lines.push_back(" [timestamp:" + debug_file.time + "]");
    lines.insert(lines.end(), tensors.begin(), tensors.end());
    return join(lines, "\n");
  }

  /// JSON files in the output tree that belong to a debug file.
  std::vector<std::string> find_json(const FoundFile& file) const {
    std::vector<std::string> found;
    const std::string_view on_disk = io::base_name(file.path);
    for (const std::string& path : walk(options_.output_folder)) {
      const std::string_view name = io::base_name(path);
      if (name.ends_with(".json") &&
          (name.starts_with(on_disk) || name.starts_with(file.real_name))) {
        found.push_back(path);
      }
    }
    return found;
  }

  Result<io::DebugRecord> load_record(const FoundFile& file) {
    std::vector<std::string> json = find_json(file);
    if (json.empty()) {
      OPDRIFT_CHECK_OK(write_json(file));
      json = find_json(file);
    }
    if (json.empty()) {
      return failed(OverflowCause::no_record,
                    Error{ErrorCode::malformed, "expected an overflow record", file.path});
    }
    if (json.size() > 1) {
      return Error{
          ErrorCode::ambiguous,
          "expected one JSON of " + file.real_name + ", found " + std::to_string(json.size()),
          options_.output_folder};
    }
    OPDRIFT_TRY(const Bytes text, map_file(json.front()));
    return io::in_file(parse_debug_json(as_text(text.span)), json.front());
  }

  ConvertOptions convert_options() const {
    ConvertOptions convert;
    convert.output_folder = options_.output_folder;
    convert.reference = true;
    convert.jobs = 1;
    convert.notice = options_.notice;
    return convert;
  }

  Status write_json(const FoundFile& file) {
    FileConversion conversion = convert_file(file.path, convert_options(), file.real_name);
    if (!conversion.error) {
      return Unit{};
    }
    if (conversion.in_debug_record) {
      const ErrorCode code = conversion.error->code;
      report_.cause = code == ErrorCode::out_of_range ? OverflowCause::unknown_unit
                      : code == ErrorCode::truncated  ? OverflowCause::bad_record
                                                      : OverflowCause::other;
    }
    return *std::move(conversion.error);
  }

  /// Adds the line of the operator, and returns those of its tensors; nothing when there is no
  /// dump of it.
  Result<std::vector<std::string>> describe_operator(const DebugFile& debug_file, const Task& task,
                                                     std::vector<std::string>& lines) {
    std::string folder(io::folder_of(debug_file.file.path));
    folder = folder.empty() ? "." : folder.substr(0, std::max<std::size_t>(1, folder.size() - 1));
    OPDRIFT_TRY(const std::optional<FoundFile> found, find_operator(folder, task));
    if (!found) {
      notify(NoticeLevel::warning, folder + ": there is no dump of task " +
                                       std::to_string(task.task) + ", stream " +
                                       std::to_string(task.stream));
      return std::vector<std::string>();
    }
    OPDRIFT_TRY(const io::FileDump dump, open_for_convert(found->path, true));
    const std::optional<io::DumpName> name = io::parse_dump_name(found->real_name);
    lines.push_back("[" + std::string(name->op_type) + "] " + dump.op_name);
    return describe_tensors(*found, dump);
  }

  Result<std::optional<FoundFile>> find_operator(const std::string& folder, const Task& task) {
    OPDRIFT_TRY(const std::vector<FoundFile> files, find_files(folder));
    std::optional<FoundFile> oldest;
    std::string oldest_time;
    for (const FoundFile& file : files) {
      const std::optional<io::DumpName> name = exact_dump_name(file.real_name);
      if (name && runs_task(*name, task) &&
          (!oldest || time_order(name->time) < time_order(oldest_time))) {
        oldest = file;
        oldest_time = std::string(name->time);
      }
    }
    return oldest;
  }

  Result<std::vector<std::string>> describe_tensors(const FoundFile& file,
                                                    const io::FileDump& dump) {
    const FileConversion conversion = convert_file(file.path, convert_options());
    if (conversion.error) {
      return *conversion.error;
    }
    std::vector<std::string> lines;
    for (const io::FileTensor& source : dump.tensors) {
      if (source.role == io::TensorRole::buffer || source.role == io::TensorRole::space) {
        continue;
      }
      OPDRIFT_TRY(const std::optional<std::string> line, describe_tensor(file, source, conversion));
      if (line) {
        lines.push_back(*line);
      }
    }
    if (lines.empty()) {
      return failed(OverflowCause::nothing_converted,
                    Error{ErrorCode::malformed, "expected at least one array", file.path});
    }
    return lines;
  }

  Result<std::optional<std::string>> describe_tensor(const FoundFile& file,
                                                     const io::FileTensor& source,
                                                     const FileConversion& conversion) {
    NameParts parts;
    parts.dump_name = io::base_name(file.path);
    parts.role = source.role;
    parts.index = source.index;
    OPDRIFT_TRY(std::string name, tensor_file_name(ConvertType::npy, parts));
    name = io::is_too_long(name) ? io::short_name(name, ".npy") : name;
    if (std::find(conversion.written.begin(), conversion.written.end(), name) ==
        conversion.written.end()) {
      return std::optional<std::string>();
    }
    OPDRIFT_TRY(const std::string format, required_format_name(source.desc.format));
    const Result<ArraySummary> summary = summarise_npy(options_.output_folder + "/" + name);
    if (!summary && summary.error().code == ErrorCode::unsupported_dtype) {
      notify(NoticeLevel::warning, summary.error().to_string());
      return std::optional<std::string>();
    }
    if (!summary) {
      return summary.error();
    }
    return std::optional<std::string>(
        " " + name + "\n -[Format: " + format + "] [Shape: " + summary->shape +
        "] [Dtype: " + summary->dtype + "] [Max: " + summary->max + "] [Min: " + summary->min +
        "] [Mean: " + summary->mean + "]");
  }

  const OverflowOptions& options_;
  OverflowReport report_;
};

}  // namespace

OverflowReport analyse_overflow(const OverflowOptions& options) {
  return OverflowAnalysis(options).run();
}

}  // namespace opdrift::pipeline
