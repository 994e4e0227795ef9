#include "opdrift/io/archive/zip_archive.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/archive/inflate.hpp"
#include "opdrift/io/archive/zip_directory.hpp"

namespace opdrift::io {

namespace {

constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint64_t kLocalBytes = 30;

/// Puts the member's name in front of what went wrong with it.
Error in_member(Error error, const ZipMember& member) {
  error.message = "member '" + printable(member.name) + "': " + error.message;
  return error;
}

template <typename T>
Result<T> in_member(Result<T> result, const ZipMember& member) {
  return result ? std::move(result) : Result<T>(in_member(std::move(result).error(), member));
}

}  // namespace

bool is_zip(ByteSpan head) {
  const std::string_view text = as_text(head);
  return text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06");
}

Result<std::shared_ptr<const ZipArchive>> ZipArchive::open(Bytes file, const ZipLimits& limits) {
  std::shared_ptr<ZipArchive> archive(new ZipArchive(std::move(file), limits));
  OPDRIFT_CHECK_OK(archive->read_directory());
  return std::shared_ptr<const ZipArchive>(std::move(archive));
}

Status ZipArchive::read_directory() {
  OPDRIFT_TRY(ZipDirectory directory, read_zip_directory(file_.span));
  directory_offset_ = directory.offset;
  members_ = std::move(directory.members);
  verified_ = std::make_unique<std::atomic<bool>[]>(members_.size());
  return check_overlaps();
}

Status ZipArchive::check_overlaps() const {
  std::vector<const ZipMember*> order;
  order.reserve(members_.size());
  for (const ZipMember& member : members_) {
    order.push_back(&member);
  }
  std::sort(order.begin(), order.end(), [](const ZipMember* left, const ZipMember* right) {
    return left->local_offset < right->local_offset;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t end = i + 1 < order.size() ? order[i + 1]->local_offset : directory_offset_;
    const std::uint64_t begin = order[i]->local_offset;
    if (end > directory_offset_ || begin > end || end - begin < kLocalBytes ||
        order[i]->packed_bytes > end - begin - kLocalBytes) {
      return in_member(Error{ErrorCode::malformed,
                             "expected zip members inside the file that do not overlap, found " +
                                 std::to_string(order[i]->packed_bytes) + " bytes",
                             {},
                             begin},
                       *order[i]);
    }
  }
  return Unit{};
}

Result<Bytes> ZipArchive::packed(const ZipMember& member) const {
  const ByteSpan area = file_.span.first(static_cast<std::size_t>(directory_offset_));
  ByteCursor cursor(area.subspan(static_cast<std::size_t>(member.local_offset)),
                    member.local_offset);
  const Error disagreement{ErrorCode::malformed,
                           "expected a local header that agrees with the zip directory",
                           {},
                           member.local_offset};
  OPDRIFT_TRY(const ByteSpan magic, cursor.take(4, "zip local header"));
  if (as_text(magic) != "PK\x03\x04") {
    return disagreement;
  }
  OPDRIFT_CHECK_OK(cursor.skip(4, "zip local header"));
  OPDRIFT_TRY(const std::uint16_t method, cursor.u16("zip method"));
  OPDRIFT_CHECK_OK(cursor.skip(16, "zip local header"));
  OPDRIFT_TRY(const std::uint16_t name_bytes, cursor.u16("zip name length"));
  OPDRIFT_TRY(const std::uint16_t extra_bytes, cursor.u16("zip extra length"));
  OPDRIFT_TRY(const ByteSpan name, cursor.take(name_bytes, "zip name"));
  OPDRIFT_CHECK_OK(cursor.skip(extra_bytes, "zip extra field"));
  if (method != member.method || as_text(name) != member.name) {
    return disagreement;
  }
  const std::uint64_t offset = cursor.file_offset();
  OPDRIFT_CHECK_OK(cursor.skip(member.packed_bytes, "zip member"));
  return file_.part(offset, member.packed_bytes);
}

Status ZipArchive::check_limits(const ZipMember& member) const {
  if (member.encrypted) {
    return Error{ErrorCode::unsupported, "encrypted zip members cannot be read"};
  }
  if (member.method == kStored && member.bytes == member.packed_bytes) {
    return Unit{};
  }
  const std::string sizes =
      std::to_string(member.bytes) + " bytes from " + std::to_string(member.packed_bytes);
  if (member.method == kStored) {
    return Error{ErrorCode::malformed, "a stored zip member cannot unpack to " + sizes};
  }
  if (member.method != kDeflated) {
    return Error{ErrorCode::unsupported,
                 "expected zip method 0 or 8, found " + std::to_string(member.method)};
  }
  if (member.bytes > deflate_bound(member.packed_bytes)) {
    return Error{ErrorCode::malformed, "deflate cannot unpack to " + sizes};
  }
  if (member.bytes > limits_.max_bytes ||
      (member.bytes > limits_.unquestioned_bytes &&
       member.bytes / limits_.max_ratio > member.packed_bytes)) {
    return Error{ErrorCode::limit, "refused to unpack " + sizes + ": above " +
                                       human_bytes(limits_.unquestioned_bytes) + " at most " +
                                       std::to_string(limits_.max_ratio) + ":1 and " +
                                       human_bytes(limits_.max_bytes)};
  }
  return Unit{};
}

Result<Bytes> ZipArchive::load(std::size_t index) const {
  OPDRIFT_CHECK(index < members_.size());
  const ZipMember& member = members_[index];
  OPDRIFT_CHECK_OK(in_member(check_limits(member), member));
  OPDRIFT_TRY(Bytes bytes, in_member(packed(member), member));
  if (member.method == kDeflated) {
    const auto unpack =
        member.bytes <= limits_.in_memory_bytes ? &inflate_to_memory : &inflate_to_scratch;
    OPDRIFT_TRY(bytes, in_member(unpack(bytes.span, member.bytes, DeflateWrapping::none), member));
  }
  if (!verified_[index].load(std::memory_order_relaxed)) {
    if (crc32_of(bytes.span) != member.crc) {
      return in_member(Error{ErrorCode::malformed,
                             "wrong checksum: the data are damaged or changed while being read",
                             {},
                             member.local_offset},
                       member);
    }
    verified_[index].store(true, std::memory_order_relaxed);
  }
  return bytes;
}

Result<Bytes> ZipArchive::head(std::size_t index, std::uint64_t count) const {
  OPDRIFT_CHECK(index < members_.size());
  const ZipMember& member = members_[index];
  OPDRIFT_CHECK_OK(in_member(check_limits(member), member));
  OPDRIFT_TRY(const Bytes bytes, in_member(packed(member), member));
  const std::uint64_t wanted = std::min(count, member.bytes);
  if (member.method == kDeflated) {
    return in_member(inflate_head(bytes.span, wanted, DeflateWrapping::none), member);
  }
  return bytes.part(0, wanted);
}

}  // namespace opdrift::io
