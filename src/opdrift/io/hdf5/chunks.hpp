#pragma once

#include <cstdint>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/hdf5/file.hpp"
#include "opdrift/io/hdf5/messages.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Data cut into chunks of one shape, each stored through filters:
///
///   index = B-tree 1 as in links.hpp with type 1; key = bytes u32, filter mask u32,
///           place u64 * (rank + 1); child = chunk O
///   A set bit of the mask means that the filter of that number was left out.
///   deflate (1) = zlib stream    shuffle (2) = first bytes of all elements, then second ...
///   fletcher32 (3) = data, checksum u32 (not verified)
///
/// Elements whose chunk was never written are zero.
namespace opdrift::io::hdf5 {

struct ChunkedData {
  Layout layout;
  std::vector<Filter> filters;
  tensor::Shape shape;
  std::uint64_t element_bytes = 0;
};

/// Whether the data can be unpacked here: known filters, and not more bytes than deflate could pack
/// into the file. Fails with unsupported or limit.
Status check_chunked(const File& file, const ChunkedData& data);

/// The elements in C order. Fails with malformed, truncated, limit or out_of_memory.
Result<Bytes> load_chunked(const File& file, const ChunkedData& data);

}  // namespace opdrift::io::hdf5
