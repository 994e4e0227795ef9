#include "opdrift/io/archive/zip_writer.hpp"

#include <algorithm>

#include "opdrift/io/archive/inflate.hpp"

namespace opdrift::io {

namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kLocalBytes = 30;
constexpr std::uint64_t kCrcOffset = 14;
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;
constexpr std::uint64_t kMany = 0xFFFF;
constexpr std::uint16_t kZip64Version = 45;
constexpr std::uint16_t kFirstDate = 0x0021;  // 1980-01-01
constexpr std::uint16_t kPaddingId = 0x4246;  // "FB", as torch pads

void put(std::string& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) {
    out += static_cast<char>(static_cast<unsigned char>((value >> (8 * i)) & 0xFF));
  }
}

void put32_or_64(std::string& out, std::uint64_t value) {
  put(out, std::min(value, kIn64), 4);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// An extra field that moves the data behind it to a multiple of 64.
std::string padding_field(std::uint64_t position) {
  const std::uint64_t start = position + 4;
  const std::uint64_t count = (kAlignment - start % kAlignment) % kAlignment;
  std::string field;
  put(field, kPaddingId, 2);
  put(field, count, 2);
  field.append(static_cast<std::size_t>(count), 'Z');
  return field;
}

}  // namespace

Result<ZipWriter> ZipWriter::create(const std::string& path, ZipStyle style,
                                    const FileWriterOptions& options) {
  OPDRIFT_TRY(FileWriter file, FileWriter::create(path, options));
  return ZipWriter(std::move(file), style);
}

std::uint16_t ZipWriter::flags(const Entry& entry) const {
  const bool utf8 = style_ == ZipStyle::torch || !is_ascii(entry.name);
  return static_cast<std::uint16_t>((utf8 ? 0x800 : 0) | (style_ == ZipStyle::torch ? 8 : 0));
}

std::string ZipWriter::local_header(const Entry& entry) const {
  const bool torch = style_ == ZipStyle::torch;
  const bool zip64 = !torch || entry.bytes >= kIn64;
  std::string extra;
  if (zip64) {
    put(extra, 1, 2);
    put(extra, 16, 2);
    put(extra, entry.bytes, 8);
    put(extra, entry.bytes, 8);
  }
  extra += padding_field(entry.local_offset + kLocalBytes + entry.name.size() + extra.size());
  std::string header("PK\x03\x04", 4);
  put(header, torch ? 0 : kZip64Version, 2);
  put(header, flags(entry), 2);
  put(header, 0, 2);  // stored
  put(header, 0, 2);
  put(header, torch ? 0 : kFirstDate, 2);
  put(header, 0, 4);  // checksum: patched, or in the descriptor
  put(header, zip64 ? kIn64 : 0, 4);
  put(header, zip64 ? kIn64 : 0, 4);
  put(header, entry.name.size(), 2);
  put(header, extra.size(), 2);
  return header + entry.name + extra;
}

Status ZipWriter::begin(std::string_view name, std::uint64_t bytes) {
  OPDRIFT_CHECK(left_ == 0);
  if (name.empty() || name.size() > 0xFFFF) {
    return Error{ErrorCode::invalid_argument,
                 "expected a member name of 1 to 65535 bytes, found " + std::to_string(name.size()),
                 file_.path()};
  }
  entries_.push_back(Entry{std::string(name), bytes, file_.position(), 0});
  left_ = bytes;
  return file_.write(local_header(entries_.back()));
}

Status ZipWriter::write(ByteSpan bytes) {
  OPDRIFT_CHECK(!entries_.empty());
  if (bytes.size() > left_) {
    return Error{ErrorCode::mismatch, "more data than announced for a member", file_.path()};
  }
  left_ -= bytes.size();
  entries_.back().crc = crc32_of(bytes, entries_.back().crc);
  return file_.write(bytes);
}

Status ZipWriter::end() {
  OPDRIFT_CHECK(!entries_.empty());
  if (left_ > 0) {
    return Error{ErrorCode::mismatch, "less data than announced for a member", file_.path()};
  }
  const Entry& entry = entries_.back();
  std::string crc;
  put(crc, entry.crc, 4);
  if (style_ == ZipStyle::numpy) {
    return file_.rewrite(entry.local_offset + kCrcOffset, as_bytes(crc));
  }
  std::string descriptor("PK\x07\x08", 4);
  descriptor += crc;
  const unsigned width = entry.bytes >= kIn64 ? 8 : 4;
  put(descriptor, entry.bytes, width);
  put(descriptor, entry.bytes, width);
  return file_.write(descriptor);
}

std::string ZipWriter::central_entry(const Entry& entry) const {
  const bool torch = style_ == ZipStyle::torch;
  std::string fields;
  for (const std::uint64_t value : {entry.bytes, entry.bytes, entry.local_offset}) {
    if (value >= kIn64) {
      put(fields, value, 8);
    }
  }
  std::string extra;
  if (!fields.empty()) {
    put(extra, 1, 2);
    put(extra, fields.size(), 2);
    extra += fields;
  }
  std::string central("PK\x01\x02", 4);
  put(central, torch ? 0 : kZip64Version, 2);
  put(central, torch ? 0 : kZip64Version, 2);
  put(central, flags(entry), 2);
  put(central, 0, 4);  // stored, time
  put(central, torch ? 0 : kFirstDate, 2);
  put(central, entry.crc, 4);
  put32_or_64(central, entry.bytes);
  put32_or_64(central, entry.bytes);
  put(central, entry.name.size(), 2);
  put(central, extra.size(), 2);
  put(central, 0, 2 + 2 + 2);  // comment, disk, internal attributes
  put(central, 0, 4);
  put32_or_64(central, entry.local_offset);
  return central + entry.name + extra;
}

std::string ZipWriter::end_records(std::uint64_t directory_offset,
                                   std::uint64_t directory_end) const {
  const std::uint64_t count = entries_.size();
  const std::uint64_t size = directory_end - directory_offset;
  std::string records;
  if (style_ == ZipStyle::torch || count >= kMany || size >= kIn64 || directory_offset >= kIn64) {
    records.append("PK\x06\x06", 4);
    put(records, 44, 8);
    put(records, 0x031E, 2);  // written under Unix
    put(records, kZip64Version, 2);
    put(records, 0, 8);
    put(records, count, 8);
    put(records, count, 8);
    put(records, size, 8);
    put(records, directory_offset, 8);
    records.append("PK\x06\x07", 4);
    put(records, 0, 4);
    put(records, directory_end, 8);
    put(records, 1, 4);
  }
  records.append("PK\x05\x06", 4);
  put(records, 0, 4);
  put(records, std::min(count, kMany), 2);
  put(records, std::min(count, kMany), 2);
  put32_or_64(records, size);
  put32_or_64(records, directory_offset);
  put(records, 0, 2);
  return records;
}

Status ZipWriter::finish() {
  OPDRIFT_CHECK(left_ == 0);
  const std::uint64_t directory_offset = file_.position();
  for (const Entry& entry : entries_) {
    OPDRIFT_CHECK_OK(file_.write(central_entry(entry)));
  }
  OPDRIFT_CHECK_OK(file_.write(end_records(directory_offset, file_.position())));
  return file_.commit();
}

}  // namespace opdrift::io
