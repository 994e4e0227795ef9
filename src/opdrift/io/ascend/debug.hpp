#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"

/// Overflow record of an operator-debug dump (the bytes of one output of a file whose name begins
/// with `Opdebug.Node_OpDebug.`):
///
///   record   = tagged | fixed
///   tagged   = u32 0x5A5A5A5A, u32 version, u32 valid, u32 acc_type, u32 rsv, u32 data_len,
///              u64 fields of the accelerator
///     0 AIC, 1 AIV  model_id stream_id task_id task_type context_id thread_id pc_start para_base
///                   core_id block_id status (four numbers in version 1)
///     2 AICPU       model_id stream_id task_id task_type context_id cpu_id thread_id status
///     3 SDMA        model_id stream_id task_id task_type context_id thread_id src_addr dst_addr
///                   channel_id status
///   fixed    = 2048 bytes: six u64 (model_id stream_id task_id task_type pc_start para_base) at
///              0 (DHA atomic add), 128 (L2 atomic add), 256 (AI core); u64 status at 512 (DHA) and
///              768 (L2); u64 kernel_code, block_idx, status of the AI core at 1024
///
/// Only the first accelerator of a tagged record is read.
namespace opdrift::io {

/// One number of a record. Addresses print as hexadecimal text.
struct DebugField {
  std::string_view name;
  std::uint64_t value = 0;
  bool is_address = false;
};

/// What one unit of the device reported.
struct DebugUnit {
  std::string_view name;              ///< "AI Core", "AIC", "SDMA"
  std::vector<DebugField> fields;     ///< as stored, without the status
  std::vector<std::uint64_t> status;  ///< one number, or four

  /// The field of that name; 65535 (none) when the unit has no such field.
  std::uint64_t field_or_none(std::string_view field) const;
  bool overflowed() const;  ///< any status number that is not zero
};

struct DebugRecord {
  bool tagged = false;
  std::uint32_t version = 0;
  std::uint32_t valid = 0;
  std::uint32_t rsv = 0;
  std::uint32_t data_len = 0;
  std::vector<DebugUnit> units;       ///< one when tagged, else three
  std::vector<std::string> warnings;  ///< a validity mark or length that is not as expected
};

/// The id that stands for "no such id".
inline constexpr std::uint64_t kNoId = 65535;

bool is_debug_file_name(std::string_view file_name);

/// Reads a record. Fails with malformed (fixed record of another size), out_of_range (unknown
/// accelerator) or truncated.
Result<DebugRecord> parse_debug_record(ByteSpan bytes);

/// JSON text with an indent of four, keys as listed above, no newline at the end.
std::string to_json(const DebugRecord& record);

}  // namespace opdrift::io
