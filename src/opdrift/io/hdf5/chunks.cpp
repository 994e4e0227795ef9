#include "opdrift/io/hdf5/chunks.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "opdrift/io/archive/inflate.hpp"

namespace opdrift::io::hdf5 {

namespace {

constexpr std::uint16_t kDeflate = 1;
constexpr std::uint16_t kShuffle = 2;
constexpr std::uint16_t kFletcher32 = 3;
constexpr unsigned kMaxLevel = 16;
constexpr std::uint64_t kMaxBytes = 8ULL << 30;
constexpr std::uint64_t kUnquestionedBytes = 64ULL << 20;

/// Chunks that cover an array, and no more than fit 2^32.
std::uint64_t chunk_count(const ChunkedData& data) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < data.shape.size(); ++i) {
    const std::uint64_t chunk = data.layout.chunk[i];
    count = std::min(kMost, count * std::min(kMost >> 1, (data.shape[i] + chunk - 1) / chunk));
  }
  return count;
}

/// Product of extents times element size; nothing above kMaxBytes.
std::optional<std::uint64_t> total_bytes(const std::vector<std::uint64_t>& shape,
                                         std::uint64_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && bytes > kMaxBytes / extent) {
      return std::nullopt;
    }
    bytes *= extent;
  }
  return bytes <= kMaxBytes ? std::optional(bytes) : std::nullopt;
}

std::vector<std::byte> unshuffle(ByteSpan shuffled, std::uint64_t element_bytes) {
  std::vector<std::byte> plain(shuffled.begin(), shuffled.end());
  const auto width = static_cast<std::size_t>(element_bytes);
  const std::size_t count = shuffled.size() / width;
  for (std::size_t k = 0; k < width; ++k) {
    for (std::size_t i = 0; i < count; ++i) {
      plain[i * width + k] = shuffled[k * count + i];
    }
  }
  return plain;
}

class ChunkLoader {
 public:
  ChunkLoader(const File& file, const ChunkedData& data, std::uint64_t bytes,
              std::uint64_t chunk_bytes)
      : file_(file),
        data_(data),
        chunk_bytes_(chunk_bytes),
        // A tree node takes 24 bytes at least; more of them cannot be in the file.
        budget_(file.bytes().size() / 16 + 1),
        chunks_(chunk_count(data)),
        output_(static_cast<std::size_t>(bytes)) {}

  Status load() {
    if (output_.empty() || !data_.layout.address) {
      return Unit{};
    }
    if (data_.layout.kind == LayoutClass::single_chunk) {
      const std::uint64_t stored = std::min(data_.layout.bytes, chunk_bytes_);
      const bool filtered = data_.layout.bytes != ~std::uint64_t{0};
      return place_chunk(*data_.layout.address, filtered ? data_.layout.bytes : stored,
                         data_.layout.filter_mask,
                         std::vector<std::uint64_t>(data_.shape.size(), 0));
    }
    return read_node(*data_.layout.address, std::nullopt);
  }

  std::vector<std::byte> take() { return std::move(output_); }

 private:
  Status read_node(std::uint64_t address, std::optional<unsigned> expected_level) {
    if (budget_-- == 0) {
      return Error{ErrorCode::limit, "the HDF5 chunk index is larger than its file", {}, address};
    }
    OPDRIFT_TRY(ByteCursor cursor, file_.from(address));
    OPDRIFT_TRY(const ByteSpan magic, cursor.take(4, "chunk index"));
    OPDRIFT_TRY(const std::uint8_t type, cursor.u8("node type"));
    OPDRIFT_TRY(const std::uint8_t level, cursor.u8("node level"));
    if (as_text(magic) != "TREE" || type != 1 || level > kMaxLevel ||
        (expected_level && level != *expected_level)) {
      return Error{ErrorCode::malformed, "expected a node of an HDF5 chunk index", {}, address};
    }
    OPDRIFT_TRY(const std::uint16_t count, cursor.u16("node entries"));
    OPDRIFT_CHECK_OK(cursor.skip(2ULL * file_.address_width(), "siblings"));
    for (unsigned i = 0; i < count; ++i) {
      OPDRIFT_CHECK_OK(read_entry(cursor, level));
    }
    return Unit{};
  }

  Status read_entry(ByteCursor& cursor, unsigned level) {
    OPDRIFT_TRY(const std::uint32_t stored, cursor.u32("chunk size"));
    OPDRIFT_TRY(const std::uint32_t mask, cursor.u32("filter mask"));
    std::vector<std::uint64_t> place;
    for (std::size_t i = 0; i < data_.shape.size(); ++i) {
      OPDRIFT_TRY(const std::uint64_t position, cursor.u64("chunk place"));
      place.push_back(position);
    }
    OPDRIFT_CHECK_OK(cursor.skip(8, "chunk place"));
    OPDRIFT_TRY(const auto child, file_.address(cursor, "chunk address"));
    const std::uint64_t address = child.value_or(file_.bytes().size());
    return level == 0 ? place_chunk(address, stored, mask, place) : read_node(address, level - 1);
  }

  Status place_chunk(std::uint64_t address, std::uint64_t stored, std::uint32_t mask,
                     const std::vector<std::uint64_t>& place) {
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (place[i] >= data_.shape[i]) {
        return Error{ErrorCode::malformed, "expected an HDF5 chunk inside its array", {}, address};
      }
    }
    if (placed_++ >= chunks_) {
      return Error{ErrorCode::limit, "more HDF5 chunks than the array has", {}, address};
    }
    OPDRIFT_TRY(ByteCursor cursor, file_.at(address, stored));
    OPDRIFT_TRY(const ByteSpan packed, cursor.take(stored, "chunk"));
    OPDRIFT_TRY(const Bytes chunk, unfilter(Bytes{packed, file_.bytes().owner}, mask));
    if (chunk.size() < chunk_bytes_) {
      return Error{ErrorCode::malformed,
                   "expected an HDF5 chunk of " + std::to_string(chunk_bytes_) + " bytes, found " +
                       std::to_string(chunk.size()),
                   {},
                   address};
    }
    copy_rows(chunk.span, place);
    return Unit{};
  }

  Result<Bytes> unfilter(Bytes bytes, std::uint32_t mask) const {
    for (std::size_t i = data_.filters.size(); i-- > 0;) {
      if ((mask >> i & 1) != 0) {
        continue;
      }
      const Filter& filter = data_.filters[i];
      if (filter.id == kDeflate) {
        // A checksum of four bytes may still be behind the data.
        const std::uint64_t room = chunk_bytes_ + 4;
        OPDRIFT_TRY(bytes, inflate_head(bytes.span, room, DeflateWrapping::zlib));
      } else if (filter.id == kShuffle) {
        const std::uint64_t width =
            filter.values.empty() ? data_.element_bytes : filter.values.front();
        if (width > 1 && width <= bytes.size()) {
          bytes = own_bytes(unshuffle(bytes.span, width));
        }
      } else if (bytes.size() >= 4) {
        bytes = bytes.part(0, bytes.size() - 4);
      }
    }
    return bytes;
  }

  /// Copies the part of a chunk that lies inside the array, one run of the last axis at a time.
  void copy_rows(ByteSpan chunk, const std::vector<std::uint64_t>& place) {
    const std::size_t rank = data_.shape.size();
    const std::uint64_t row =
        std::min(data_.layout.chunk[rank - 1], data_.shape[rank - 1] - place[rank - 1]);
    const auto row_bytes = static_cast<std::size_t>(row * data_.element_bytes);
    std::vector<std::uint64_t> index(rank, 0);
    while (true) {
      std::uint64_t from = 0;
      std::uint64_t to = 0;
      for (std::size_t i = 0; i < rank; ++i) {
        from = from * data_.layout.chunk[i] + index[i];
        to = to * data_.shape[i] + place[i] + index[i];
      }
      std::memcpy(output_.data() + to * data_.element_bytes,
                  chunk.data() + from * data_.element_bytes, row_bytes);
      std::size_t axis = rank - 1;
      while (axis-- > 0) {
        if (++index[axis] < std::min(data_.layout.chunk[axis], data_.shape[axis] - place[axis])) {
          break;
        }
        index[axis] = 0;
      }
      if (axis >= rank) {
        return;  // wrapped below the first axis
      }
    }
  }

  const File& file_;
  const ChunkedData& data_;
  std::uint64_t chunk_bytes_;
  std::uint64_t budget_;
  std::uint64_t chunks_;
  std::uint64_t placed_ = 0;
  std::vector<std::byte> output_;
};

}  // namespace

Status check_chunked(const File& file, const ChunkedData& data) {
  for (const Filter& filter : data.filters) {
    if (filter.id != kDeflate && filter.id != kShuffle && filter.id != kFletcher32) {
      return Error{ErrorCode::unsupported, "HDF5 filter " + std::to_string(filter.id) +
                                               "; expected deflate, shuffle or fletcher32"};
    }
  }
  if (data.shape.empty() || data.layout.chunk.size() != data.shape.size() ||
      data.element_bytes == 0) {
    return Error{ErrorCode::malformed, "expected chunks of the rank of their array"};
  }
  const std::optional<std::uint64_t> bytes = total_bytes(data.shape, data.element_bytes);
  const std::optional<std::uint64_t> chunk = total_bytes(data.layout.chunk, data.element_bytes);
  const std::uint64_t believable = std::max(kUnquestionedBytes, deflate_bound(file.bytes().size()));
  // Chunks at the edges are stored whole, so all of them together may hold more than the array.
  const bool too_many = chunk && *chunk > 0 && chunk_count(data) > 4 * believable / *chunk;
  if (!bytes || !chunk || *bytes > believable || too_many) {
    return Error{ErrorCode::limit, "an HDF5 array of shape [" + tensor::to_string(data.shape) +
                                       "] cannot come from a file of " +
                                       std::to_string(file.bytes().size()) + " bytes"};
  }
  return Unit{};
}

Result<Bytes> load_chunked(const File& file, const ChunkedData& data) {
  OPDRIFT_CHECK_OK(check_chunked(file, data));
  const std::uint64_t bytes = *total_bytes(data.shape, data.element_bytes);
  const std::uint64_t chunk_bytes = *total_bytes(data.layout.chunk, data.element_bytes);
  ChunkLoader loader(file, data, bytes, chunk_bytes);
  OPDRIFT_CHECK_OK(loader.load());
  return own_bytes(loader.take());
}

}  // namespace opdrift::io::hdf5
