#include "opdrift/io/ascend/debug.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace opdrift::io {

namespace {

constexpr std::uint32_t kMagic = 0x5A5A5A5A;
constexpr std::size_t kFixedBytes = 2048;
constexpr std::string_view kNamePrefix = "Opdebug.Node_OpDebug.";

struct FieldSpec {
  std::string_view name;
  bool is_address = false;
};

constexpr std::array<FieldSpec, 10> kCoreFields = {{{"model_id"},
                                                    {"stream_id"},
                                                    {"task_id"},
                                                    {"task_type"},
                                                    {"context_id"},
                                                    {"thread_id"},
                                                    {"pc_start", true},
                                                    {"para_base", true},
                                                    {"core_id"},
                                                    {"block_id"}}};
constexpr std::array<FieldSpec, 7> kCpuFields = {{{"model_id"},
                                                  {"stream_id"},
                                                  {"task_id"},
                                                  {"task_type"},
                                                  {"context_id"},
                                                  {"cpu_id"},
                                                  {"thread_id"}}};
constexpr std::array<FieldSpec, 9> kSdmaFields = {{{"model_id"},
                                                   {"stream_id"},
                                                   {"task_id"},
                                                   {"task_type"},
                                                   {"context_id"},
                                                   {"thread_id"},
                                                   {"src_addr", true},
                                                   {"dst_addr", true},
                                                   {"channel_id"}}};
constexpr std::array<FieldSpec, 6> kFixedFields = {{{"model_id"},
                                                    {"stream_id"},
                                                    {"task_id"},
                                                    {"task_type"},
                                                    {"pc_start", true},
                                                    {"para_base", true}}};

struct Accelerator {
  std::string_view name;
  std::span<const FieldSpec> fields;
  bool wide_status;  ///< four status numbers in version 1
};

constexpr std::array<Accelerator, 4> kAccelerators = {{{"AIC", kCoreFields, true},
                                                       {"AIV", kCoreFields, true},
                                                       {"AICPU", kCpuFields, false},
                                                       {"SDMA", kSdmaFields, false}}};

Status read_fields(ByteCursor& cursor, std::span<const FieldSpec> specs, DebugUnit& unit) {
  for (const FieldSpec& spec : specs) {
    OPDRIFT_TRY(const std::uint64_t value, cursor.u64(spec.name));
    unit.fields.push_back({spec.name, value, spec.is_address});
  }
  return Unit{};
}

void check_marks(std::size_t expected_len, DebugRecord& record) {
  if (record.valid != 1) {
    record.warnings.push_back("valid: expected 1, found " + std::to_string(record.valid));
  }
  if (record.data_len != expected_len) {
    record.warnings.push_back("data_len: expected " + std::to_string(expected_len) + ", found " +
                              std::to_string(record.data_len));
  }
}

Result<DebugRecord> parse_tagged(ByteSpan bytes) {
  DebugRecord record;
  record.tagged = true;
  ByteCursor cursor(bytes);
  OPDRIFT_CHECK_OK(cursor.skip(4, "magic number"));
  OPDRIFT_TRY(record.version, cursor.u32("version"));
  OPDRIFT_TRY(record.valid, cursor.u32("valid"));
  OPDRIFT_TRY(const std::uint32_t type, cursor.u32("acc_type"));
  OPDRIFT_TRY(record.rsv, cursor.u32("rsv"));
  OPDRIFT_TRY(record.data_len, cursor.u32("data_len"));
  if (type >= kAccelerators.size()) {
    return Error{ErrorCode::out_of_range,
                 "acc_type: expected 0 to 3, found " + std::to_string(type),
                 {},
                 12};
  }
  const Accelerator& accelerator = kAccelerators[type];
  DebugUnit unit;
  unit.name = accelerator.name;
  OPDRIFT_CHECK_OK(read_fields(cursor, accelerator.fields, unit));
  const std::size_t status_count = accelerator.wide_status && record.version == 1 ? 4 : 1;
  for (std::size_t i = 0; i < status_count; ++i) {
    OPDRIFT_TRY(const std::uint64_t status, cursor.u64("status"));
    unit.status.push_back(status);
  }
  check_marks(8 * (accelerator.fields.size() + status_count), record);
  record.units.push_back(std::move(unit));
  return record;
}

Result<DebugUnit> parse_area(ByteSpan bytes, std::string_view name, std::size_t fields_at,
                             std::size_t status_at, bool is_core) {
  DebugUnit unit;
  unit.name = name;
  ByteCursor fields(bytes.subspan(fields_at));
  OPDRIFT_CHECK_OK(read_fields(fields, kFixedFields, unit));
  ByteCursor status(bytes.subspan(status_at));
  if (is_core) {
    constexpr std::array<FieldSpec, 2> kExtra = {{{"kernel_code", true}, {"block_idx"}}};
    OPDRIFT_CHECK_OK(read_fields(status, kExtra, unit));
  }
  OPDRIFT_TRY(const std::uint64_t value, status.u64("status"));
  unit.status.push_back(value);
  return unit;
}

Result<DebugRecord> parse_fixed(ByteSpan bytes) {
  if (bytes.size() != kFixedBytes) {
    return Error{ErrorCode::malformed,
                 "overflow record: expected 2048 bytes, found " + std::to_string(bytes.size())};
  }
  DebugRecord record;
  OPDRIFT_TRY(DebugUnit dha, parse_area(bytes, "DHA Atomic Add", 0, 512, false));
  OPDRIFT_TRY(DebugUnit l2, parse_area(bytes, "L2 Atomic Add", 128, 768, false));
  OPDRIFT_TRY(DebugUnit core, parse_area(bytes, "AI Core", 256, 1024, true));
  record.units = {std::move(dha), std::move(l2), std::move(core)};
  return record;
}

std::string hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value % 16]);
    value /= 16;
  } while (value > 0);
  return "\"0x" + text + "\"";
}

/// Objects and lists with an indent of four.
class JsonText {
 public:
  void key(std::string_view name) {
    text_ += first_ ? "\n" : ",\n";
    text_ += std::string(4 * depth_, ' ') + "\"" + std::string(name) + "\": ";
    first_ = false;
  }
  void value(const std::string& text) { text_ += text; }
  void open() {
    text_ += '{';
    ++depth_;
    first_ = true;
  }
  void close() {
    --depth_;
    text_ += "\n" + std::string(4 * depth_, ' ') + "}";
    first_ = false;
  }
  void list(const std::vector<std::uint64_t>& numbers) {
    text_ += '[';
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      text_ +=
          (i > 0 ? ",\n" : "\n") + std::string(4 * (depth_ + 1), ' ') + std::to_string(numbers[i]);
    }
    text_ += "\n" + std::string(4 * depth_, ' ') + "]";
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

void put_unit(JsonText& json, std::string_view key, const DebugUnit& unit) {
  json.key(key);
  json.open();
  for (const DebugField& field : unit.fields) {
    json.key(field.name);
    json.value(field.is_address ? hex(field.value) : std::to_string(field.value));
  }
  json.key("status");
  if (unit.status.size() == 1) {
    json.value(std::to_string(unit.status.front()));
  } else {
    json.list(unit.status);
  }
  json.close();
}

void put_tagged(JsonText& json, const DebugRecord& record) {
  json.key("magic");
  json.value(hex(kMagic));
  json.key("version");
  json.value(std::to_string(record.version));
  json.key("acc_list");
  json.open();
  json.key("valid");
  json.value(std::to_string(record.valid));
  json.key("acc_type");
  json.value("\"" + std::string(record.units.front().name) + "\"");
  json.key("rsv");
  json.value(std::to_string(record.rsv));
  json.key("data_len");
  json.value(std::to_string(record.data_len));
  put_unit(json, "data", record.units.front());
  json.close();
}

}  // namespace

std::uint64_t DebugUnit::field_or_none(std::string_view field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const DebugField& f) { return f.name == field; });
  return found == fields.end() ? kNoId : found->value;
}

bool DebugUnit::overflowed() const {
  return std::any_of(status.begin(), status.end(), [](std::uint64_t s) { return s != 0; });
}

bool is_debug_file_name(std::string_view file_name) {
  return file_name.starts_with(kNamePrefix);
}

Result<DebugRecord> parse_debug_record(ByteSpan bytes) {
  ByteCursor cursor(bytes);
  OPDRIFT_TRY(const std::uint32_t magic, cursor.u32("overflow record"));
  return magic == kMagic ? parse_tagged(bytes) : parse_fixed(bytes);
}

std::string to_json(const DebugRecord& record) {
  JsonText json;
  json.open();
  if (record.tagged) {
    put_tagged(json, record);
  } else {
    for (const DebugUnit& unit : record.units) {
      put_unit(json, unit.name, unit);
    }
  }
  json.close();
  return json.take();
}

}  // namespace opdrift::io
