#include "opdrift/shell/commands/overflow_report.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/debug.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/convert/convert.hpp"
#include "opdrift/pipeline/folder_walk.hpp"
#include "opdrift/pipeline/overflow/overflow_record.hpp"
#include "opdrift/shell/workspace/decode.hpp"
#include "opdrift/shell/workspace/dump_files.hpp"

namespace opdrift::shell {

namespace {

using Meaning = std::pair<std::uint64_t, std::string_view>;

constexpr std::array<Meaning, 6> kCoreBits = {{
    {0x8, "smallest signed integer negated"},
    {0x10, "overflow of an integer add, sub, mul or mac"},
    {0x20, "floating-point overflow"},
    {0x80, "negative number converted to unsigned"},
    {0x100, "overflow converting fp32 or int32 to fp16"},
    {0x400, "overflow accumulating in the matrix unit"},
}};

constexpr std::array<std::string_view, 5> kAtomic = {"overflow", "underflow", "source is NaN",
                                                     "destination is NaN",
                                                     "source and destination are NaN"};

constexpr std::uint64_t kL2Shift = 16;
constexpr std::uint64_t kL2Mask = 0x7;
constexpr std::uint64_t kDhaShift = 8;
constexpr std::uint64_t kDhaMask = 0xFF;
constexpr std::uint64_t kFirstDha = 0x9;

std::vector<std::string> atomic_meaning(std::uint64_t code, std::uint64_t first) {
  return code >= first && code - first < kAtomic.size()
             ? std::vector<std::string>{std::string(kAtomic[code - first])}
             : std::vector<std::string>();
}

/// A number of a record; nothing where it stands for "none".
std::optional<std::uint64_t> known(std::uint64_t number) {
  const bool none = number == io::kNoId || number == ~std::uint64_t{0} || number == 0xFFFFFFFFU;
  return none ? std::nullopt : std::optional(number);
}

std::string meanings_text(const io::DebugRecord& record, const io::DebugUnit& unit) {
  const std::uint64_t status = unit.status.empty() ? 0 : unit.status.front();
  std::vector<std::string> meanings;
  if (unit.name == "DHA Atomic Add") {
    meanings = dha_meanings(status);
  } else if (unit.name == "L2 Atomic Add") {
    meanings = l2_meanings(status);
  } else if (!record.tagged || unit.name == "AIC" || unit.name == "AIV") {
    meanings = core_meanings(status);
  }
  return meanings.empty() ? std::string() : " [" + join(meanings, ", ") + "]";
}

std::string status_text(const io::DebugUnit& unit) {
  std::vector<std::string> numbers;
  for (const std::uint64_t number : unit.status) {
    numbers.push_back(std::to_string(number));
  }
  return join(numbers, ", ");
}

Line unit_line(const io::DebugRecord& record, const io::DebugUnit& unit) {
  const std::string name =
      record.tagged ? "AccType:" + std::string(unit.name) : std::string(unit.name);
  return {{" - "},
          {"[" + name + "]", Tone::green},
          {"[Status:" + status_text(unit) + "]", Tone::yellow},
          {"[TaskId:" + std::to_string(unit.field_or_none("task_id")) + "]"},
          {meanings_text(record, unit), Tone::red}};
}

/// An overflow record: a dump file, or what was decoded of one.
struct RecordFile {
  DeviceFile file;
  bool json = false;
};

/// "Opdebug.Node_OpDebug.9.1.17.output.0.json" -> the dump it was decoded of.
std::optional<DeviceFile> decoded_record(const pipeline::WalkedFile& file) {
  constexpr std::string_view kEnding = ".json";
  constexpr std::string_view kOutput = ".output.";
  const std::string_view name = file.name;
  const std::size_t cut = name.rfind(kOutput);
  if (!io::is_debug_file_name(name) || !name.ends_with(kEnding) || cut == std::string_view::npos) {
    return std::nullopt;
  }
  std::optional<DeviceFile> parsed = parse_device_name(name.substr(0, cut));
  if (parsed) {
    parsed->path = file.path;
  }
  return parsed;
}

/// Records among `files`, and decoded ones in the folder whose dumps are gone.
std::vector<RecordFile> records_in(const std::string& folder,
                                   const std::vector<DeviceFile>& files) {
  std::vector<RecordFile> records;
  std::set<std::string> names;
  for (const DeviceFile& file : files) {
    if (file.is_debug_record() && !file.statistics) {
      records.push_back({file, false});
      names.insert(file.name);
    }
  }
  const auto walk = pipeline::walk_folder(folder);
  for (const pipeline::WalkedFile& file :
       walk.has_value() ? walk->files : std::vector<pipeline::WalkedFile>()) {
    std::optional<DeviceFile> decoded = decoded_record(file);
    if (decoded && names.insert(decoded->name).second) {
      records.push_back({std::move(*decoded), true});
    }
  }
  std::stable_sort(records.begin(), records.end(), [](const RecordFile& x, const RecordFile& y) {
    return is_before(x.file.time, y.file.time);
  });
  return records;
}

Result<io::DebugRecord> record_of(const RecordFile& record) {
  const DeviceFile& file = record.file;
  if (record.json) {
    OPDRIFT_TRY(const Bytes bytes, map_file(file.path));
    return io::in_file(pipeline::parse_debug_json(as_text(bytes.span)), file.path);
  }
  OPDRIFT_TRY(const io::FileDump dump, pipeline::open_for_convert(file.path, false));
  const std::vector<const io::FileTensor*> outputs = dump.of(io::TensorRole::output);
  if (outputs.empty()) {
    return Error{ErrorCode::malformed, "expected an overflow record, found no output", file.path};
  }
  OPDRIFT_TRY(const tensor::Tensor bytes,
              io::in_file(io::load_tensor(*outputs.front()), file.path));
  return io::in_file(io::parse_debug_record(bytes.bytes.span), file.path);
}

/// The first dump of that task and stream beside the record.
std::optional<DeviceFile> operator_of(const std::vector<DeviceFile>& files,
                                      const DeviceFile& record, std::uint64_t task,
                                      std::uint64_t stream) {
  const std::string_view folder = io::folder_of(record.path);
  std::optional<DeviceFile> first;
  for (const DeviceFile& file : files) {
    if (!file.is_debug_record() && !file.statistics && io::folder_of(file.path) == folder &&
        file.task == task && file.stream.value_or(0) == stream &&
        (!first || is_before(file.time, first->time))) {
      first = file;
    }
  }
  return first;
}

void add_tensors(Session& session, const DeviceFile& file, Lines& lines) {
  const DecodeRequest request{file.path, file.name,
                              session.workspace.path("temp/decode/overflow_decode"), std::nullopt};
  const auto tensors = decode_dump(session, request);
  if (!tensors.has_value()) {
    session.screen.warn(tensors.error());
    return;
  }
  for (const DecodedTensor& tensor : *tensors) {
    lines.push_back(
        {{" - " + std::string(to_string(tensor.role)) + "[" + std::to_string(tensor.index) + "] ",
          Tone::green},
         {tensor.path}});
    lines.push_back({{"  " + std::string(session.screen.paper().last_branch())},
                     {statistics_of(tensor.path), Tone::yellow}});
  }
}

Status show_record(Session& session, const std::vector<DeviceFile>& files,
                   const RecordFile& source) {
  OPDRIFT_TRY(const io::DebugRecord record, record_of(source));
  const DeviceFile& file = source.file;
  std::uint64_t task = file.task;
  std::uint64_t stream = file.stream.value_or(0);
  Lines lines;
  for (const io::DebugUnit& unit : record.units) {
    if (!unit.overflowed()) {
      continue;
    }
    lines.push_back(unit_line(record, unit));
    task = known(unit.field_or_none("task_id")).value_or(task);
    stream = known(unit.field_or_none("stream_id")).value_or(stream);
  }
  lines.push_back(text_line(" - First overflow file timestamp [" + file.time + "] -"));
  const std::optional<DeviceFile> op = operator_of(files, file, task, stream);
  Line title = {{"[" + (op ? op->type : std::string("?")) + "]", Tone::green},
                {"[" + std::to_string(task) + "]", Tone::yellow},
                {" " + (op ? op->op_name : "no dump of stream " + std::to_string(stream))}};
  if (op) {
    add_tensors(session, *op, lines);
  }
  session.screen.print_panel(title, lines);
  return Unit{};
}

}  // namespace

std::vector<std::string> core_meanings(std::uint64_t status) {
  std::vector<std::string> meanings;
  for (const auto& [bit, meaning] : kCoreBits) {
    if ((status & bit) != 0) {
      meanings.emplace_back(meaning);
    }
  }
  return meanings;
}

std::vector<std::string> l2_meanings(std::uint64_t status) {
  return atomic_meaning((status >> kL2Shift) & kL2Mask, 1);
}

std::vector<std::string> dha_meanings(std::uint64_t status) {
  return atomic_meaning((status >> kDhaShift) & kDhaMask, kFirstDha);
}

Status show_overflow(Session& session, std::size_t most) {
  const std::optional<std::string> folder = newest_folder(session.workspace.path("overflow/dump"));
  const std::vector<DeviceFile> files = folder ? device_files(*folder) : std::vector<DeviceFile>();
  std::vector<RecordFile> records = folder ? records_in(*folder, files) : std::vector<RecordFile>();
  if (records.empty()) {
    session.screen.note("Checked success. find [0] overflow node!");
    return Unit{};
  }
  session.screen.note("Find [" + std::to_string(records.size()) + "] overflow records in " +
                      *folder);
  records.resize(std::min(records.size(), most));
  for (const RecordFile& record : records) {
    if (session.stopping()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    const Status shown = show_record(session, files, record);
    if (!shown.has_value()) {
      session.screen.warn(shown.error());
    }
  }
  return Unit{};
}

}  // namespace opdrift::shell
