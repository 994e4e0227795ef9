#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"

/// Zip archives, read from their directory at the end (little-endian):
///
///   file       = (local data [descriptor])* central* [end64 locator] end
///   local      = "PK\3\4" version u16, flags u16, method u16, time u32, crc u32, packed u32,
///                unpacked u32, n u16, e u16, name[n], extra[e]
///   central    = "PK\1\2" made_by u16, version u16, flags u16, method u16, time u32, crc u32,
///                packed u32, unpacked u32, n u16, e u16, c u16, disk u16, attributes u16 u32,
///                local_offset u32, name[n], extra[e], comment[c]
///   end        = "PK\5\6" disk u16 u16, members u16 u16, central_bytes u32, central_offset u32,
///                c u16, comment[c]
///   locator    = "PK\6\7" disk u32, end64_offset u64, disks u32
///   end64      = "PK\6\6" length u64, versions u16 u16, disk u32 u32, members u64 u64,
///                central_bytes u64, central_offset u64
///   extra      = (id u16, length u16, bytes)*; id 1 holds as u64 each of unpacked, packed and
///                local_offset that stands as FFFFFFFF in front of it
///   method     = 0 stored | 8 deflate
///
/// Only the central directory is believed, and only after it was checked against the file: ranges
/// inside the file, no two members sharing bytes, local header and directory agreeing. Names are
/// labels; nothing is ever written to them.
namespace opdrift::io {

struct ZipMember {
  std::string name;  ///< as stored, any bytes
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;  ///< unpacked, as declared
  std::uint64_t local_offset = 0;
  bool encrypted = false;
};

struct ZipLimits {
  std::uint64_t in_memory_bytes = 64ULL << 20;    ///< larger members go to a scratch file
  std::uint64_t unquestioned_bytes = 1ULL << 30;  ///< below this any possible ratio is accepted
  std::uint64_t max_ratio = 200;                  ///< above it, unpacked : packed
  std::uint64_t max_bytes = 1ULL << 40;           ///< of one unpacked member
};

/// An archive in memory or mapped. Any number of threads may read members.
class ZipArchive {
 public:
  /// Reads the directory. Fails with malformed, truncated or unsupported (several disks).
  static Result<std::shared_ptr<const ZipArchive>> open(Bytes file, const ZipLimits& limits = {});

  const std::vector<ZipMember>& members() const { return members_; }

  /// All bytes of member `index`: in place when stored, else unpacked. The checksum is verified
  /// the first time. Fails with malformed (bad data, sizes that lie, wrong checksum), limit (a
  /// bomb), unsupported (encrypted, another method) or write_failed (scratch file).
  Result<Bytes> load(std::size_t index) const;

  /// The first `count` bytes of a member, or all when it has fewer. No checksum.
  Result<Bytes> head(std::size_t index, std::uint64_t count) const;

 private:
  ZipArchive(Bytes file, const ZipLimits& limits) : file_(std::move(file)), limits_(limits) {}
  Status read_directory();
  Status check_overlaps() const;
  /// The packed bytes, after checking the local header.
  Result<Bytes> packed(const ZipMember& member) const;
  Status check_limits(const ZipMember& member) const;

  Bytes file_;
  ZipLimits limits_;
  std::uint64_t directory_offset_ = 0;
  std::vector<ZipMember> members_;
  mutable std::unique_ptr<std::atomic<bool>[]> verified_;  // per member
};

bool is_zip(ByteSpan head);

}  // namespace opdrift::io
