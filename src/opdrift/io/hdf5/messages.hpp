#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/hdf5/file.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Messages of an object header that describe data:
///
///   dataspace 1 = 01 rank u8, flags u8, u8, u32, extent L * rank, ...
///   dataspace 2 = 02 rank u8, flags u8, kind u8 (0 scalar, 1 simple, 2 null), extent L * rank, ...
///   datatype    = version and class u8, bits u8*3, bytes u32, properties
///     class 0 integer   bits: 0 big-endian, 3 signed; properties offset u16, precision u16
///           1 float     bits: 0 big-endian; properties offset u16, precision u16, exponent place
///                       u8, width u8, mantissa place u8, width u8, bias u32
///           6 compound  bits 0-15: members; (name, offset, type)* - two equal floats are complex
///           8 enum      bits 0-15: members; base type first - h5py's bool is an enum of int8
///   layout 1, 2 = version u8, dims u8, class u8, u8*5, [address O], size u32 * dims,
///                 [compact: bytes u32, data]
///   layout 3, 4 = version u8, class u8, then
///     class 0 compact     bytes u16, data
///           1 contiguous  address O, bytes L
///           2 chunked     version 3: dims u8, B-tree O, size u32 * dims (last: element bytes)
///                         version 4: flags u8, dims u8, width u8, size * dims, index u8,
///                         index 1 (a single chunk): [bytes L, filter mask u32], address O
///           3 virtual     (refused: the data lie in other files)
///   filters 1   = 01 count u8, u8*6, (id u16, n u16, flags u16, m u16, name[n padded to 8],
///                 value u32 * m, [u32 when m is odd])*
///   filters 2   = 02 count u8, (id u16, [n u16 when id >= 256], flags u16, m u16, name[n],
///                 value u32 * m)*
///   attribute   = version u8, u8, n u16, t u16, s u16, [version 3: u8], name[n], datatype[t],
///                 dataspace[s], data; parts padded to 8 in version 1
namespace opdrift::io::hdf5 {

struct Dataspace {
  tensor::Shape shape;
  bool null = false;  ///< no elements at all
};

struct Datatype {
  tensor::DType dtype = tensor::DType::raw;  ///< raw: nothing that holds numbers
  bool big_endian = false;
  std::uint64_t bytes = 0;  ///< per element
};

enum class LayoutClass : std::uint8_t { compact, contiguous, chunked, single_chunk };

struct Layout {
  LayoutClass kind = LayoutClass::contiguous;
  std::optional<std::uint64_t> address;  ///< of data or chunk index; nothing: never written
  std::uint64_t bytes = 0;               ///< compact, contiguous, single chunk (as packed)
  std::uint64_t data_offset = 0;         ///< compact: place in the file
  std::vector<std::uint64_t> chunk;      ///< extents of a chunk, without the element size
  std::uint32_t filter_mask = 0;         ///< of a single chunk
};

struct Filter {
  std::uint16_t id = 0;  ///< 1 deflate, 2 shuffle, 3 fletcher32
  std::vector<std::uint32_t> values;
};

struct Attribute {
  std::string name;
  Datatype type;
  Dataspace space;
  ByteSpan data;
};

Result<Dataspace> parse_dataspace(const File& file, ByteCursor cursor);
Result<Datatype> parse_datatype(ByteCursor cursor);
Result<Layout> parse_layout(const File& file, ByteCursor cursor);
Result<std::vector<Filter>> parse_filters(ByteCursor cursor);
Result<Attribute> parse_attribute(const File& file, ByteCursor cursor);

/// The numbers of an integer attribute; empty for other types or more than 1024 elements.
std::vector<std::int64_t> integers_of(const Attribute& attribute);

}  // namespace opdrift::io::hdf5
