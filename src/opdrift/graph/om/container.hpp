#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"

/// The offline model file (.om), little-endian:
///
///   file   = header tables                        bundle: header table whose entries are files
///   header = 256 bytes: "IMOD", u32 headsize (256), u32 version, u8[64] checksum, u32 length,
///            u8 is_encrypt, u8 is_checksum, u8 modeltype, u8 genmode, char[32] name, u32 ops,
///            u8[32] userdefineinfo, u32 om_ir_version, u32 model_num, char[20] platform_version,
///            u8 platform_type, 3 bytes, u64 model_length, u8, u8 is_unknow_model, 62 bytes
///   tables = (table data)+                        several when model_num > 1 and wide
///   table  = narrow: u32 n, n x {u32 type, u32 offset, u32 size}
///          | wide:   u32 n, u32 0, n x {u32 type, u32 0, u64 offset, u64 size}
///
/// Wide when version >= 0x20000000 and model_length is not 0. The length of that layout must be
/// what follows the header (bundle: the whole file). Offsets count from the end of the table; of a
/// bundle, from the end of the header.
namespace opdrift::graph {

/// Model types of the header that change how the file is read.
inline constexpr std::uint8_t kFlowModel = 3;
inline constexpr std::uint8_t kBundleModel = 5;

/// Partition types that are looked into.
namespace partition_type {
inline constexpr std::uint32_t kModelDef = 0;
inline constexpr std::uint32_t kWeights = 1;
inline constexpr std::uint32_t kInoutInfo = 8;
inline constexpr std::uint32_t kBundleModelInfo = 24;
}  // namespace partition_type

struct OmHeader {
  std::uint32_t version = 0;
  std::uint32_t length = 0;
  std::uint8_t is_encrypt = 0;
  std::uint8_t is_checksum = 0;
  std::uint8_t model_type = 0;
  std::uint8_t gen_mode = 0;
  std::string name;
  std::uint32_t ops = 0;
  std::uint32_t ir_version = 0;
  std::uint32_t model_num = 0;   ///< 0 where the file does not say
  std::string platform_version;  ///< of mobile files: the version text
  std::uint8_t platform_type = 0;
  std::uint64_t model_length = 0;
  bool dynamic = false;  ///< is_unknow_model
  bool mobile = false;   ///< written by the mobile tool chain, with its own numbers
};

struct OmPartition {
  std::size_t table = 0;
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t size = 0;
};

/// One model that the file holds: a table, or a file of a bundle.
struct OmModel {
  std::string name;       ///< of the header it stands under
  std::size_t table = 0;  ///< number of its table
  ByteSpan model_def;
  std::uint64_t model_def_offset = 0;
  ByteSpan inout_info;  ///< empty when the file has none
  std::uint64_t inout_offset = 0;
};

struct OmOptions {
  bool salvage = false;  ///< take what a cut or inconsistent file still holds, with warnings
};

/// A parsed container. Spans point into `bytes`; nothing of the file was copied.
struct OmFile {
  std::string path;
  Bytes bytes;
  OmHeader header;
  bool wide = false;
  std::vector<OmPartition> partitions;  ///< of all tables, in file order
  /// Table 0 carries the whole network; further tables one compiled sub-graph each. Of a bundle:
  /// the models of its files, one behind the other.
  std::vector<OmModel> models;
  std::vector<OmFile> bundled;  ///< the files of a bundle
  std::vector<std::string> warnings;

  unsigned entry_bytes() const { return wide ? 24 : 12; }
};

/// True for the first bytes of an offline model, and of a zip archive (om2).
bool is_om(ByteSpan head);
bool is_zip(ByteSpan head);

/// Maps and parses. Fails with the codes of MappedFile::open, malformed, truncated, limit or
/// unsupported (encrypted).
Result<OmFile> open_om(const std::string& path, const OmOptions& options = {});
Result<OmFile> parse_om(Bytes bytes, const std::string& path, const OmOptions& options = {});

/// "MODEL_DEF"; "TYPE_99" for a number without a name. Mobile files have names of their own.
std::string partition_name(std::uint32_t type, bool mobile);
/// "IR model", "flow" ...
std::string model_type_name(std::uint8_t type, bool mobile);

}  // namespace opdrift::graph
