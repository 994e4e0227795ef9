#include "opdrift/io/archive/zip_directory.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "opdrift/base/text.hpp"

namespace opdrift::io {

namespace {

constexpr std::uint32_t kLocalMagic = 0x04034B50;
constexpr std::uint32_t kCentralMagic = 0x02014B50;
constexpr std::uint32_t kEndMagic = 0x06054B50;
constexpr std::uint32_t kEnd64Magic = 0x06064B50;
constexpr std::uint32_t kLocatorMagic = 0x07064B50;
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kLocatorBytes = 20;
constexpr std::uint64_t kCentralBytes = 46;
constexpr std::uint64_t kMaxComment = 0xFFFF;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;
constexpr std::uint16_t kZip64Extra = 1;

struct End {
  std::uint64_t position = 0;
  std::uint64_t members = 0;
  std::uint64_t directory_bytes = 0;
  std::uint64_t directory_offset = 0;
};

ByteCursor cursor_at(ByteSpan file, std::uint64_t offset) {
  const std::uint64_t start = std::min<std::uint64_t>(offset, file.size());
  return ByteCursor(file.subspan(static_cast<std::size_t>(start)), start);
}

Status expect_magic(ByteCursor& cursor, std::uint32_t magic, std::string_view what) {
  const std::uint64_t offset = cursor.file_offset();
  OPDRIFT_TRY(const std::uint32_t found, cursor.u32(what));
  if (found != magic) {
    return Error{ErrorCode::malformed, "expected a " + std::string(what), {}, offset};
  }
  return Unit{};
}

/// A file without end record begins well and stops early. Its local headers tell how much of it is
/// there.
Error truncation(ByteSpan file) {
  std::uint64_t offset = 0;
  std::string last = "none";
  while (true) {
    ByteCursor cursor = cursor_at(file, offset);
    const Result<std::uint32_t> magic = cursor.u32("magic");
    if (!magic || *magic != kLocalMagic || !cursor.skip(14, "header")) {
      break;
    }
    const Result<std::uint32_t> packed = cursor.u32("size");
    const bool skipped = cursor.skip(4, "size").has_value();
    const Result<std::uint16_t> name_bytes = cursor.u16("name length");
    const Result<std::uint16_t> extra_bytes = cursor.u16("extra length");
    if (!packed || !skipped || !name_bytes || !extra_bytes) {
      break;
    }
    const Result<ByteSpan> name = cursor.take(*name_bytes, "name");
    if (!name) {
      break;
    }
    last = "'" + printable(as_text(*name)) + "'";
    const std::uint64_t end = cursor.file_offset() + *extra_bytes + *packed;
    if (end > file.size() && *packed != kIn64) {
      return Error{ErrorCode::truncated,
                   "truncated zip archive: member " + last + " needs " + std::to_string(end) +
                       " bytes, the file has " + std::to_string(file.size()),
                   {},
                   file.size()};
    }
    offset = end;
  }
  return Error{ErrorCode::truncated,
               "expected a zip end record in the last 64 KiB, found none: the file of " +
                   std::to_string(file.size()) +
                   " bytes is cut or not finished (last member: " + last + ")",
               {},
               file.size()};
}

std::optional<std::uint64_t> find_end(ByteSpan file) {
  if (file.size() < kEndBytes) {
    return std::nullopt;
  }
  const std::uint64_t last = file.size() - kEndBytes;
  const std::uint64_t first = last > kMaxComment ? last - kMaxComment : 0;
  for (std::uint64_t at = last + 1; at-- > first;) {
    ByteCursor cursor = cursor_at(file, at);
    if (cursor.u32("magic").value_or(0U) != kEndMagic) {
      continue;
    }
    ByteCursor comment = cursor_at(file, at + 20);
    if (comment.u16("comment length").value_or(0U) == last - at) {
      return at;
    }
  }
  return std::nullopt;
}

Status read_end64(ByteSpan file, End& end) {
  if (end.position < kLocatorBytes) {
    return Error{ErrorCode::malformed, "expected a zip64 locator", {}, 0};
  }
  ByteCursor locator = cursor_at(file, end.position - kLocatorBytes);
  OPDRIFT_CHECK_OK(expect_magic(locator, kLocatorMagic, "zip64 locator"));
  OPDRIFT_CHECK_OK(locator.skip(4, "disk"));
  OPDRIFT_TRY(const std::uint64_t offset, locator.u64("zip64 end offset"));
  ByteCursor cursor = cursor_at(file, offset);
  OPDRIFT_CHECK_OK(expect_magic(cursor, kEnd64Magic, "zip64 end record"));
  OPDRIFT_CHECK_OK(cursor.skip(8 + 4 + 8 + 8, "zip64 end record"));
  OPDRIFT_TRY(end.members, cursor.u64("member count"));
  OPDRIFT_TRY(end.directory_bytes, cursor.u64("directory size"));
  OPDRIFT_TRY(end.directory_offset, cursor.u64("directory offset"));
  end.position = std::min(end.position, offset);
  return Unit{};
}

Result<End> read_end(ByteSpan file) {
  const std::optional<std::uint64_t> position = find_end(file);
  if (!position) {
    return truncation(file);
  }
  End end;
  end.position = *position;
  ByteCursor cursor = cursor_at(file, *position + 4);
  OPDRIFT_TRY(const std::uint32_t disks, cursor.u32("disk numbers"));
  OPDRIFT_CHECK_OK(cursor.skip(2, "members on disk"));
  OPDRIFT_TRY(const std::uint16_t members, cursor.u16("member count"));
  OPDRIFT_TRY(const std::uint32_t directory_bytes, cursor.u32("directory size"));
  OPDRIFT_TRY(const std::uint32_t directory_offset, cursor.u32("directory offset"));
  end.members = members;
  end.directory_bytes = directory_bytes;
  end.directory_offset = directory_offset;
  if (members == 0xFFFF || directory_bytes == kIn64 || directory_offset == kIn64) {
    OPDRIFT_CHECK_OK(read_end64(file, end));
  } else if (disks != 0) {
    return Error{ErrorCode::unsupported, "expected a zip archive in one file", {}, *position};
  }
  if (end.directory_offset > end.position ||
      end.directory_bytes > end.position - end.directory_offset) {
    return Error{ErrorCode::malformed,
                 "expected the zip directory in front of its end record, found " +
                     std::to_string(end.directory_bytes) + " bytes at " +
                     std::to_string(end.directory_offset),
                 {},
                 *position};
  }
  if (end.members > end.directory_bytes / kCentralBytes) {
    return Error{ErrorCode::malformed,
                 "expected at most " + std::to_string(end.directory_bytes / kCentralBytes) +
                     " zip members in a directory of this size, found " +
                     std::to_string(end.members),
                 {},
                 *position};
  }
  return end;
}

/// Replaces the fields that stand as FFFFFFFF by those of the zip64 extra field.
Status read_extra(ByteSpan extra, std::uint64_t offset, ZipMember& member) {
  const bool wanted =
      member.bytes == kIn64 || member.packed_bytes == kIn64 || member.local_offset == kIn64;
  ByteCursor cursor(extra, offset);
  while (wanted && cursor.remaining() >= 4) {
    OPDRIFT_TRY(const std::uint16_t id, cursor.u16("extra id"));
    OPDRIFT_TRY(const std::uint16_t length, cursor.u16("extra length"));
    OPDRIFT_TRY(const ByteSpan content, cursor.take(length, "extra field"));
    if (id != kZip64Extra) {
      continue;
    }
    ByteCursor fields(content, cursor.file_offset() - length);
    for (std::uint64_t* field : {&member.bytes, &member.packed_bytes, &member.local_offset}) {
      if (*field == kIn64) {
        OPDRIFT_TRY(*field, fields.u64("zip64 size"));
      }
    }
    return Unit{};
  }
  if (wanted) {
    return Error{ErrorCode::malformed, "expected a zip64 extra field, found none", {}, offset};
  }
  return Unit{};
}

Result<ZipMember> read_member(ByteCursor& cursor) {
  ZipMember member;
  OPDRIFT_CHECK_OK(expect_magic(cursor, kCentralMagic, "zip directory entry"));
  OPDRIFT_CHECK_OK(cursor.skip(4, "zip versions"));
  OPDRIFT_TRY(const std::uint16_t flags, cursor.u16("zip flags"));
  OPDRIFT_TRY(member.method, cursor.u16("zip method"));
  OPDRIFT_CHECK_OK(cursor.skip(4, "zip time"));
  OPDRIFT_TRY(member.crc, cursor.u32("zip checksum"));
  OPDRIFT_TRY(member.packed_bytes, cursor.u32("zip packed size"));
  OPDRIFT_TRY(member.bytes, cursor.u32("zip size"));
  OPDRIFT_TRY(const std::uint16_t name_bytes, cursor.u16("zip name length"));
  OPDRIFT_TRY(const std::uint16_t extra_bytes, cursor.u16("zip extra length"));
  OPDRIFT_TRY(const std::uint16_t comment_bytes, cursor.u16("zip comment length"));
  OPDRIFT_CHECK_OK(cursor.skip(8, "zip attributes"));
  OPDRIFT_TRY(member.local_offset, cursor.u32("zip local offset"));
  OPDRIFT_TRY(const ByteSpan name, cursor.take(name_bytes, "zip name"));
  const std::uint64_t extra_offset = cursor.file_offset();
  OPDRIFT_TRY(const ByteSpan extra, cursor.take(extra_bytes, "zip extra field"));
  OPDRIFT_CHECK_OK(cursor.skip(comment_bytes, "zip comment"));
  OPDRIFT_CHECK_OK(read_extra(extra, extra_offset, member));
  member.name = std::string(as_text(name));
  member.encrypted = (flags & 1) != 0;
  return member;
}

}  // namespace

Result<ZipDirectory> read_zip_directory(ByteSpan file) {
  OPDRIFT_TRY(const End end, read_end(file));
  ZipDirectory directory;
  directory.offset = end.directory_offset;
  const ByteSpan entries = file.subspan(static_cast<std::size_t>(end.directory_offset),
                                        static_cast<std::size_t>(end.directory_bytes));
  ByteCursor cursor(entries, end.directory_offset);
  directory.members.reserve(static_cast<std::size_t>(end.members));
  for (std::uint64_t i = 0; i < end.members; ++i) {
    OPDRIFT_TRY(ZipMember member, read_member(cursor));
    directory.members.push_back(std::move(member));
  }
  return directory;
}

}  // namespace opdrift::io
