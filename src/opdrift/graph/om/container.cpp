#include "opdrift/graph/om/container.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::graph {

namespace {

constexpr std::string_view kMagic = "IMOD";
constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::uint64_t kHeaderBytes = 256;
constexpr std::uint32_t kWideVersion = 0x20000000;
constexpr std::uint32_t kMostPartitions = 4096;
constexpr std::uint64_t kAlignment = 32;
constexpr unsigned kMostBundleDepth = 4;

std::string until_nul(ByteSpan bytes) {
  const std::string_view text = as_text(bytes);
  return without_bad_utf8(text.substr(0, text.find('\0')));
}

/// model_num of old files is a version text in most mobile ones, and 0 in the others.
bool is_version_text(std::string_view text) {
  return !text.empty() && is_digits(text.substr(0, 1)) && text.find('.') != std::string_view::npos;
}

class OmParser {
 public:
  OmParser(Bytes bytes, const std::string& path, const OmOptions& options, unsigned depth,
           std::uint64_t base)
      : options_(options), depth_(depth), base_(base) {
    file_.path = path;
    file_.bytes = std::move(bytes);
  }

  Result<OmFile> parse() {
    OPDRIFT_CHECK_OK(read_header());
    OPDRIFT_CHECK_OK(check_length());
    if (file_.header.model_type == kBundleModel && file_.wide) {
      OPDRIFT_CHECK_OK(read_bundle());
    } else {
      OPDRIFT_CHECK_OK(read_tables());
    }
    return std::move(file_);
  }

 private:
  /// Positions inside the parsed bytes; errors and partitions speak of the outer file.
  Error failure(ErrorCode code, std::string message, std::uint64_t position) const {
    return Error{code, std::move(message), {}, base_ + position};
  }

  std::uint64_t size() const { return file_.bytes.size(); }

  Status read_header();
  Status check_length();
  Status read_tables();
  Status read_bundle();
  Result<std::vector<OmPartition>> read_table(std::uint64_t start, bool from_header,
                                              std::size_t number, std::uint64_t& data_start);
  Result<OmPartition> read_entry(ByteCursor& cursor);
  Status place(OmPartition& partition, std::uint64_t data_start);
  Status add_model(const std::vector<OmPartition>& table, std::size_t number);
  std::uint64_t end_of(const std::vector<OmPartition>& table, std::uint64_t data_start) const;
  Status warn_or_fail(ErrorCode code, const std::string& message, std::uint64_t position);

  OmOptions options_;
  unsigned depth_;
  std::uint64_t base_;
  OmFile file_;
};

/// What stops the reading unless everything still readable is wanted.
Status OmParser::warn_or_fail(ErrorCode code, const std::string& message, std::uint64_t position) {
  if (!options_.salvage) {
    return failure(code, message, position);
  }
  file_.warnings.push_back(message);
  return Unit{};
}

Status OmParser::read_header() {
  const ByteSpan bytes = file_.bytes.span;
  if (!is_om(bytes)) {
    return failure(ErrorCode::malformed,
                   bytes.empty()
                       ? "expected an offline model, found an empty file"
                       : "expected an offline model that begins with \"IMOD\", found \"" +
                             printable(as_text(bytes.first(std::min<std::size_t>(4, size())))) +
                             "\"",
                   0);
  }
  if (size() < kHeaderBytes) {
    return failure(ErrorCode::truncated,
                   "expected a header of 256 bytes, found a file of " + std::to_string(size()), 0);
  }
  OmHeader& header = file_.header;
  ByteCursor cursor(bytes.first(kHeaderBytes), base_);
  OPDRIFT_CHECK_OK(cursor.skip(4, "magic"));
  OPDRIFT_TRY(const std::uint32_t head_size, cursor.u32("headsize"));
  OPDRIFT_TRY(header.version, cursor.u32("version"));
  OPDRIFT_CHECK_OK(cursor.skip(64, "checksum"));
  OPDRIFT_TRY(header.length, cursor.u32("length"));
  OPDRIFT_TRY(header.is_encrypt, cursor.u8("is_encrypt"));
  OPDRIFT_TRY(header.is_checksum, cursor.u8("is_checksum"));
  OPDRIFT_TRY(header.model_type, cursor.u8("modeltype"));
  OPDRIFT_TRY(header.gen_mode, cursor.u8("genmode"));
  OPDRIFT_TRY(const ByteSpan name, cursor.take(32, "name"));
  OPDRIFT_TRY(header.ops, cursor.u32("ops"));
  OPDRIFT_CHECK_OK(cursor.skip(32, "userdefineinfo"));
  OPDRIFT_TRY(header.ir_version, cursor.u32("om_ir_version"));
  const ByteSpan version_text = bytes.subspan(cursor.position(), 20);
  OPDRIFT_TRY(header.model_num, cursor.u32("model_num"));
  OPDRIFT_TRY(const ByteSpan platform, cursor.take(20, "platform_version"));
  OPDRIFT_TRY(header.platform_type, cursor.u8("platform_type"));
  OPDRIFT_CHECK_OK(cursor.skip(3, "padding"));
  OPDRIFT_TRY(header.model_length, cursor.u64("model_length"));
  OPDRIFT_CHECK_OK(cursor.skip(1, "need_check_os_cpu_info"));
  OPDRIFT_TRY(const std::uint8_t unknown_shapes, cursor.u8("is_unknow_model"));
  header.name = until_nul(name);
  header.platform_version = until_nul(platform);
  header.dynamic = unknown_shapes == 1;
  if (header.is_encrypt != 0) {
    return failure(ErrorCode::unsupported,
                   "expected a plain model, found an encrypted one (is_encrypt is " +
                       std::to_string(header.is_encrypt) + "); use the file from before encryption",
                   80);
  }
  if (head_size != kHeaderBytes) {
    return failure(ErrorCode::malformed,
                   "headsize: expected 256, found " + std::to_string(head_size), 4);
  }
  file_.wide = header.version >= kWideVersion && header.model_length != 0;
  if (!file_.wide) {
    const std::string text = until_nul(version_text);
    header.mobile = is_version_text(text) || header.ir_version != 0;
    header.platform_version = is_version_text(text) ? text : header.platform_version;
    header.model_num = 0;
  }
  return Unit{};
}

Status OmParser::check_length() {
  const bool whole = file_.wide && file_.header.model_type == kBundleModel;
  const std::uint64_t expected = whole ? size() : size() - kHeaderBytes;
  const std::uint64_t found = file_.wide ? file_.header.model_length : file_.header.length;
  if (found == expected) {
    return Unit{};
  }
  return warn_or_fail(ErrorCode::truncated,
                      std::string(file_.wide ? "model_length" : "length") +
                          ": the header speaks of " + std::to_string(found) +
                          " bytes, the file has " + std::to_string(expected) +
                          (found > expected ? "; it was cut" : ""),
                      file_.wide ? 184 : 76);
}

Result<OmPartition> OmParser::read_entry(ByteCursor& cursor) {
  OmPartition entry;
  OPDRIFT_TRY(entry.type, cursor.u32("partition type"));
  if (file_.wide) {
    OPDRIFT_CHECK_OK(cursor.skip(4, "partition padding"));
    OPDRIFT_TRY(entry.offset, cursor.u64("partition offset"));
    OPDRIFT_TRY(entry.size, cursor.u64("partition size"));
    return entry;
  }
  OPDRIFT_TRY(entry.offset, cursor.u32("partition offset"));
  OPDRIFT_TRY(entry.size, cursor.u32("partition size"));
  return entry;
}

/// Turns the offset into a position of the file and keeps the partition inside it.
Status OmParser::place(OmPartition& partition, std::uint64_t data_start) {
  const std::uint64_t left = size() - data_start;
  const bool inside = partition.offset <= left && partition.size <= left - partition.offset;
  if (!inside) {
    OPDRIFT_CHECK_OK(
        warn_or_fail(ErrorCode::truncated,
                     "partition " + partition_name(partition.type, file_.header.mobile) +
                         ": expected " + std::to_string(partition.size) + " bytes at offset " +
                         std::to_string(partition.offset) + " behind the table, found " +
                         std::to_string(left) + " bytes there",
                     data_start));
    partition.offset = std::min(partition.offset, left);
    partition.size = std::min(partition.size, left - partition.offset);
  }
  partition.offset += data_start;
  return Unit{};
}

Result<std::vector<OmPartition>> OmParser::read_table(std::uint64_t start, bool from_header,
                                                      std::size_t number,
                                                      std::uint64_t& data_start) {
  ByteCursor cursor(file_.bytes.span.subspan(static_cast<std::size_t>(start)), base_ + start);
  OPDRIFT_TRY(const std::uint32_t count, cursor.u32("number of partitions"));
  if (file_.wide) {
    OPDRIFT_CHECK_OK(cursor.skip(4, "padding of the partition table"));
  }
  if (count > kMostPartitions || count * std::uint64_t{file_.entry_bytes()} > cursor.remaining()) {
    return failure(ErrorCode::limit,
                   "number of partitions: expected at most 4096 that fit into the file, found " +
                       std::to_string(count),
                   start);
  }
  std::vector<OmPartition> table;
  for (std::uint32_t i = 0; i < count; ++i) {
    OPDRIFT_TRY(OmPartition entry, read_entry(cursor));
    entry.table = number;
    table.push_back(entry);
  }
  data_start = from_header ? kHeaderBytes : start + cursor.position();
  for (OmPartition& partition : table) {
    OPDRIFT_CHECK_OK(place(partition, data_start));
  }
  return table;
}

/// Where the next table begins. Writers that align partitions align the table as well.
std::uint64_t OmParser::end_of(const std::vector<OmPartition>& table,
                               std::uint64_t data_start) const {
  std::uint64_t end = data_start;
  bool gaps = false;
  for (const OmPartition& partition : table) {
    gaps = gaps || partition.offset > end;
    end = std::max(end, partition.offset + partition.size);
  }
  return gaps ? std::min(size(), (end + kAlignment - 1) / kAlignment * kAlignment) : end;
}

Status OmParser::add_model(const std::vector<OmPartition>& table, std::size_t number) {
  OmModel model;
  model.name = file_.header.name;
  model.table = number;
  bool found = false;
  for (const OmPartition& partition : table) {
    const ByteSpan content = file_.bytes.span.subspan(static_cast<std::size_t>(partition.offset),
                                                      static_cast<std::size_t>(partition.size));
    if (partition.type == partition_type::kModelDef && !found) {
      model.model_def = content;
      model.model_def_offset = base_ + partition.offset;
      found = true;
    } else if (partition.type == partition_type::kInoutInfo && !file_.header.mobile) {
      model.inout_info = content;
      model.inout_offset = base_ + partition.offset;
    }
  }
  if (!found) {
    return failure(ErrorCode::malformed,
                   "expected a partition MODEL_DEF in table " + std::to_string(number) +
                       ", found none: the file holds no model description",
                   kHeaderBytes);
  }
  file_.models.push_back(std::move(model));
  return Unit{};
}

Status OmParser::read_tables() {
  const bool one = !file_.wide || file_.header.model_type == kFlowModel;
  const std::size_t tables = one ? 1 : std::max<std::uint32_t>(file_.header.model_num, 1);
  std::uint64_t start = kHeaderBytes;
  for (std::size_t number = 0; number < tables; ++number) {
    std::uint64_t data_start = 0;
    Result<std::vector<OmPartition>> table = read_table(start, false, number, data_start);
    Status added = table ? add_model(*table, number) : Status(table.error());
    if (!added) {
      // The first table carries the whole network; the others are not worth giving it up.
      if (number == 0 || !options_.salvage) {
        return added;
      }
      file_.warnings.push_back(added.error().to_string());
      return Unit{};
    }
    start = end_of(*table, data_start);
    for (OmPartition& partition : *table) {
      partition.offset += base_;
      file_.partitions.push_back(partition);
    }
  }
  return Unit{};
}

Status OmParser::read_bundle() {
  if (depth_ >= kMostBundleDepth) {
    return failure(ErrorCode::limit, "expected at most 4 bundles inside each other", 0);
  }
  std::uint64_t data_start = 0;
  OPDRIFT_TRY(const std::vector<OmPartition> table, read_table(kHeaderBytes, true, 0, data_start));
  for (OmPartition partition : table) {
    if (partition.type == partition_type::kBundleModelInfo) {
      OmParser inner(file_.bytes.part(partition.offset, partition.size), file_.path, options_,
                     depth_ + 1, base_ + partition.offset);
      Result<OmFile> file = inner.parse();
      if (!file) {
        file.error().message = "model " + std::to_string(file_.bundled.size()) +
                               " of the bundle: " + file.error().message;
        return file.error();
      }
      file_.models.insert(file_.models.end(), file->models.begin(), file->models.end());
      file_.warnings.insert(file_.warnings.end(), file->warnings.begin(), file->warnings.end());
      file_.bundled.push_back(std::move(*file));
    }
    partition.offset += base_;
    file_.partitions.push_back(partition);
  }
  if (file_.models.empty()) {
    return failure(ErrorCode::malformed, "expected models in the bundle, found none", kHeaderBytes);
  }
  return Unit{};
}

}  // namespace

bool is_om(ByteSpan head) {
  return as_text(head).starts_with(kMagic);
}

bool is_zip(ByteSpan head) {
  return as_text(head).starts_with(kZipMagic);
}

Result<OmFile> open_om(const std::string& path, const OmOptions& options) {
  OPDRIFT_TRY(Bytes bytes, map_file(path));
  return parse_om(std::move(bytes), path, options);
}

Result<OmFile> parse_om(Bytes bytes, const std::string& path, const OmOptions& options) {
  Result<OmFile> file = OmParser(std::move(bytes), path, options, 0, 0).parse();
  if (!file) {
    file.error().path = path;
  }
  return file;
}

std::string partition_name(std::uint32_t type, bool mobile) {
  constexpr auto kNames =
      std::to_array<std::pair<std::uint32_t, std::string_view>>({{0, "MODEL_DEF"},
                                                                 {1, "WEIGHTS_DATA"},
                                                                 {2, "TASK_INFO"},
                                                                 {3, "TBE_KERNELS"},
                                                                 {4, "CUST_AICPU_KERNELS"},
                                                                 {5, "SO_BINS"},
                                                                 {6, "FLOW_MODEL"},
                                                                 {7, "FLOW_SUBMODEL"},
                                                                 {8, "MODEL_INOUT_INFO"},
                                                                 {9, "STATIC_TASK_DESC"},
                                                                 {10, "DYNAMIC_TASK_DESC"},
                                                                 {11, "TASK_PARAM"},
                                                                 {12, "TILING_DATA"},
                                                                 {20, "PRE_MODEL_DESC"},
                                                                 {21, "PRE_MODEL_SQE"},
                                                                 {22, "PRE_KERNEL_ARGS"},
                                                                 {23, "PRE_MODEL_DESC_EXTEND"},
                                                                 {24, "BUNDLE_MODEL_INFO"},
                                                                 {25, "BUNDLE_MODEL_VAR_INFO"},
                                                                 {26, "CUSTOM_OPS"}});
  constexpr auto kMobileNames =
      std::to_array<std::pair<std::uint32_t, std::string_view>>({{3, "TASK_GRAPH"},
                                                                 {4, "SIGNATURE_INFO"},
                                                                 {5, "MODEL_CONFIG"},
                                                                 {6, "AIPP_CUSTOM_INFO"},
                                                                 {7, "ENCRYPT_INFO"},
                                                                 {8, "WEIGHT_INFO"}});
  const auto is_type = [type](const auto& row) { return row.first == type; };
  const auto* const own = std::find_if(kMobileNames.begin(), kMobileNames.end(), is_type);
  if (mobile && own != kMobileNames.end()) {
    return std::string(own->second);
  }
  const auto* const found = std::find_if(kNames.begin(), kNames.end(), is_type);
  return found == kNames.end() ? "TYPE_" + std::to_string(type) : std::string(found->second);
}

std::string model_type_name(std::uint8_t type, bool mobile) {
  constexpr std::array<std::string_view, 6> kNames = {"IR model", "standard", "tiny",
                                                      "flow",     "lite",     "bundle"};
  if (mobile && (type == 3 || type == 4)) {
    return type == 3 ? "standard IR" : "partitioned";
  }
  return type < kNames.size() ? std::string(kNames[type]) : "type " + std::to_string(type);
}

}  // namespace opdrift::graph
