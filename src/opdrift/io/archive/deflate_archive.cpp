#include "opdrift/io/archive/deflate_archive.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace opdrift::io {

namespace {

constexpr std::string_view kStreamEnd("\x03\x00", 2);
constexpr std::uint16_t kFlags = 0x0808;  // descriptor behind the data, UTF-8 names
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kFirstDate = 0x0021;  // 1980-01-01: equal tables give equal files
constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxMembers = 0xFFFF;

/// Little endian; bytes beyond those of a value are 0.
void put(std::string& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) {
    const std::uint64_t byte = i < sizeof value ? value >> (8 * i) & 0xFFU : 0;
    out += static_cast<char>(static_cast<unsigned char>(byte));
  }
}

/// A deflater that frees itself.
class Deflater {
 public:
  Deflater() : ready_(deflateInit2(&stream_, 1, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK) {}
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() {
    if (ready_) {
      deflateEnd(&stream_);
    }
  }

  bool run(std::string_view text, std::string& out) {
    if (!ready_ || text.size() > std::numeric_limits<uInt>::max()) {
      return false;
    }
    // A full flush adds an empty block of at most 5 bytes; 16 leave room for it.
    out.resize(deflateBound(&stream_, static_cast<uLong>(text.size())) + 16);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const bool done =
        deflate(&stream_, Z_FULL_FLUSH) == Z_OK && stream_.avail_in == 0 && stream_.avail_out > 0;
    out.resize(out.size() - stream_.avail_out);
    return done;
  }

 private:
  z_stream stream_{};
  bool ready_;
};

}  // namespace

Result<DeflatedPiece> deflate_piece(std::string_view text) {
  DeflatedPiece piece;
  Deflater deflater;
  if (!deflater.run(text, piece.bytes)) {
    return Error{ErrorCode::out_of_memory,
                 "compression of " + std::to_string(text.size()) + " bytes failed"};
  }
  piece.unpacked_bytes = text.size();
  piece.crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  return piece;
}

Result<DeflateArchive> DeflateArchive::create(const std::string& path,
                                              const FileWriterOptions& options) {
  OPDRIFT_TRY(FileWriter file, FileWriter::create(path, options));
  return DeflateArchive(std::move(file));
}

Status DeflateArchive::begin(std::string_view name) {
  Entry& entry = entries_.emplace_back();
  entry.name = name;
  entry.offset = file_.position();
  std::string header("PK\x03\x04");
  put(header, kVersion, 2);
  put(header, kFlags, 2);
  put(header, Z_DEFLATED, 2);
  put(header, 0, 2);
  put(header, kFirstDate, 2);
  put(header, 0, 12);  // check sum and sizes stand in the descriptor
  put(header, name.size(), 2);
  put(header, 0, 2);
  OPDRIFT_CHECK_OK(file_.write(std::string_view(header)));
  return file_.write(name);
}

Status DeflateArchive::add(const DeflatedPiece& piece) {
  Entry& entry = entries_.back();
  entry.crc = static_cast<std::uint32_t>(
      crc32_combine(entry.crc, piece.crc, static_cast<z_off_t>(piece.unpacked_bytes)));
  entry.packed_bytes += piece.bytes.size();
  entry.unpacked_bytes += piece.unpacked_bytes;
  return file_.write(std::string_view(piece.bytes));
}

Status DeflateArchive::end() {
  Entry& entry = entries_.back();
  entry.packed_bytes += kStreamEnd.size();
  OPDRIFT_CHECK_OK(file_.write(kStreamEnd));
  if (entry.unpacked_bytes > kMaxBytes || file_.position() > kMaxBytes) {
    return Error{ErrorCode::limit, "expected at most 4 GiB in one archive", file_.path()};
  }
  std::string descriptor("PK\x07\x08");
  put(descriptor, entry.crc, 4);
  put(descriptor, entry.packed_bytes, 4);
  put(descriptor, entry.unpacked_bytes, 4);
  return file_.write(std::string_view(descriptor));
}

Status DeflateArchive::member(std::string_view name, std::string_view content) {
  OPDRIFT_TRY(const DeflatedPiece piece, deflate_piece(content));
  OPDRIFT_CHECK_OK(begin(name));
  OPDRIFT_CHECK_OK(add(piece));
  return end();
}

Status DeflateArchive::finish() {
  if (entries_.size() > kMaxMembers) {
    return Error{ErrorCode::limit, "expected at most 65535 members", file_.path()};
  }
  const std::uint64_t start = file_.position();
  std::string directory;
  for (const Entry& entry : entries_) {
    directory += "PK\x01\x02";
    put(directory, kVersion, 2);
    put(directory, kVersion, 2);
    put(directory, kFlags, 2);
    put(directory, Z_DEFLATED, 2);
    put(directory, 0, 2);
    put(directory, kFirstDate, 2);
    put(directory, entry.crc, 4);
    put(directory, entry.packed_bytes, 4);
    put(directory, entry.unpacked_bytes, 4);
    put(directory, entry.name.size(), 2);
    put(directory, 0, 12);  // extra, comment, disk, attributes
    put(directory, entry.offset, 4);
    directory += entry.name;
  }
  const std::uint64_t bytes = directory.size();
  directory += "PK\x05\x06";
  put(directory, 0, 4);
  put(directory, entries_.size(), 2);
  put(directory, entries_.size(), 2);
  put(directory, bytes, 4);
  put(directory, start, 4);
  put(directory, 0, 2);
  OPDRIFT_CHECK_OK(file_.write(std::string_view(directory)));
  return file_.commit();
}

}  // namespace opdrift::io
