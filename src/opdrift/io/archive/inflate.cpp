#include "opdrift/io/archive/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/io/scratch_file.hpp"

namespace opdrift::io {

namespace {

constexpr std::size_t kChunkBytes = 1 << 18;
constexpr std::size_t kMaxStep = 1 << 30;  // zlib counts in 32 bits

/// Owns a zlib state and feeds it.
class Inflater {
 public:
  Inflater(ByteSpan packed, DeflateWrapping wrapping) : rest_(packed) {
    ready_ = ::inflateInit2(&stream_, wrapping == DeflateWrapping::none ? -MAX_WBITS : MAX_WBITS) ==
             Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready_) {
      ::inflateEnd(&stream_);
    }
  }

  bool ended() const { return ended_; }

  /// Fills `out` as far as the stream goes; the number of bytes written.
  Result<std::size_t> read(std::byte* out, std::size_t count) {
    if (!ready_) {
      return Error{ErrorCode::out_of_memory, "no memory to unpack"};
    }
    std::size_t done = 0;
    while (done < count && !ended_) {
      feed();
      const std::size_t room = std::min(count - done, kMaxStep);
      stream_.next_out = reinterpret_cast<Bytef*>(out + done);
      stream_.avail_out = static_cast<uInt>(room);
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      ended_ = status == Z_STREAM_END;
      if (status == Z_BUF_ERROR) {
        return Error{ErrorCode::truncated, "the packed data end too early"};
      }
      if (status != Z_OK && status != Z_STREAM_END) {
        return Error{ErrorCode::malformed,
                     std::string("bad packed data: ") +
                         (stream_.msg != nullptr ? stream_.msg : "no deflate stream")};
      }
    }
    return done;
  }

 private:
  void feed() {
    if (stream_.avail_in == 0 && !rest_.empty()) {
      const std::size_t step = std::min(rest_.size(), kMaxStep);
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(rest_.data()));
      stream_.avail_in = static_cast<uInt>(step);
      rest_ = rest_.subspan(step);
    }
  }

  z_stream stream_{};
  ByteSpan rest_;
  bool ready_ = false;
  bool ended_ = false;
};

/// After the declared number of bytes the stream has to end, with nothing more to give.
Status expect_end(Inflater& inflater, std::uint64_t expected, std::uint64_t found) {
  std::byte surplus{};
  if (found == expected && !inflater.ended()) {
    OPDRIFT_TRY(const std::size_t more, inflater.read(&surplus, 1));
    found += more;
  }
  if (found != expected) {
    return Error{ErrorCode::malformed, "expected " + std::to_string(expected) +
                                           " unpacked bytes, found " +
                                           (found > expected ? "more" : std::to_string(found))};
  }
  return Unit{};
}

}  // namespace

Result<Bytes> inflate_to_memory(ByteSpan packed, std::uint64_t bytes, DeflateWrapping wrapping) {
  Inflater inflater(packed, wrapping);
  std::vector<std::byte> buffer(static_cast<std::size_t>(bytes));
  OPDRIFT_TRY(const std::size_t found, inflater.read(buffer.data(), buffer.size()));
  OPDRIFT_CHECK_OK(expect_end(inflater, bytes, found));
  return own_bytes(std::move(buffer));
}

Result<Bytes> inflate_to_scratch(ByteSpan packed, std::uint64_t bytes, DeflateWrapping wrapping) {
  Inflater inflater(packed, wrapping);
  OPDRIFT_TRY(ScratchFile scratch, ScratchFile::create());
  std::vector<std::byte> chunk(kChunkBytes);
  std::uint64_t done = 0;
  while (done < bytes && !inflater.ended()) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, kChunkBytes));
    OPDRIFT_TRY(const std::size_t found, inflater.read(chunk.data(), step));
    OPDRIFT_CHECK_OK(scratch.write(ByteSpan(chunk).first(found)));
    done += found;
  }
  OPDRIFT_CHECK_OK(expect_end(inflater, bytes, done));
  return scratch.map();
}

Result<Bytes> inflate_head(ByteSpan packed, std::uint64_t bytes, DeflateWrapping wrapping) {
  Inflater inflater(packed, wrapping);
  std::vector<std::byte> buffer(static_cast<std::size_t>(bytes));
  OPDRIFT_TRY(const std::size_t found, inflater.read(buffer.data(), buffer.size()));
  buffer.resize(found);
  return own_bytes(std::move(buffer));
}

std::uint64_t deflate_bound(std::uint64_t packed_bytes) {
  constexpr std::uint64_t kMaxRatio = 1032;  // 258 * 8 / 2
  return packed_bytes < std::numeric_limits<std::uint64_t>::max() / kMaxRatio
             ? packed_bytes * kMaxRatio
             : std::numeric_limits<std::uint64_t>::max();
}

std::uint32_t crc32_of(ByteSpan bytes, std::uint32_t previous) {
  return static_cast<std::uint32_t>(
      ::crc32_z(previous, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace opdrift::io
