#include "opdrift/io/hdf5/messages.hpp"

#include <array>

namespace opdrift::io::hdf5 {

namespace {

using tensor::DType;

constexpr std::size_t kMaxRank = 32;
constexpr unsigned kMaxTypeDepth = 4;
constexpr std::size_t kMaxAttributeElements = 1024;

struct IntegerRow {
  std::uint64_t bytes;
  bool is_signed;
  DType dtype;
};

constexpr IntegerRow kIntegers[] = {
    {1, true, DType::i8},  {2, true, DType::i16},  {4, true, DType::i32},  {8, true, DType::i64},
    {1, false, DType::u8}, {2, false, DType::u16}, {4, false, DType::u32}, {8, false, DType::u64},
};

struct FloatRow {
  std::uint64_t bytes;
  unsigned exponent_bits;
  unsigned mantissa_bits;
  DType dtype;
};

constexpr FloatRow kFloats[] = {
    {8, 11, 52, DType::f64}, {4, 8, 23, DType::f32}, {2, 5, 10, DType::f16},
    {2, 8, 7, DType::bf16},  {1, 5, 2, DType::e5m2}, {1, 4, 3, DType::e4m3fn},
};

Error malformed(const ByteCursor& cursor, const std::string& what) {
  return Error{ErrorCode::malformed, what, {}, cursor.file_offset()};
}

DType integer_type(std::uint64_t bytes, bool is_signed) {
  for (const IntegerRow& row : kIntegers) {
    if (row.bytes == bytes && row.is_signed == is_signed) {
      return row.dtype;
    }
  }
  return DType::raw;
}

Result<DType> float_type(ByteCursor& cursor, std::uint64_t bytes) {
  OPDRIFT_CHECK_OK(cursor.skip(5, "float type"));
  OPDRIFT_TRY(const std::uint8_t exponent_bits, cursor.u8("exponent width"));
  OPDRIFT_CHECK_OK(cursor.skip(1, "float type"));
  OPDRIFT_TRY(const std::uint8_t mantissa_bits, cursor.u8("mantissa width"));
  for (const FloatRow& row : kFloats) {
    if (row.bytes == bytes && row.exponent_bits == exponent_bits &&
        row.mantissa_bits == mantissa_bits) {
      return row.dtype;
    }
  }
  return DType::raw;
}

/// Passes a name that ends in a zero byte, and its padding to eight bytes where there is one.
Status skip_name(ByteCursor& cursor, bool padded) {
  std::size_t taken = 0;
  while (true) {
    OPDRIFT_TRY(const std::uint8_t c, cursor.u8("member name"));
    ++taken;
    if (c == 0) {
      break;
    }
  }
  return cursor.skip(padded ? (8 - taken % 8) % 8 : 0, "member name");
}

Result<Datatype> parse_type(ByteCursor& cursor, unsigned depth);

/// Two equal floats side by side, as h5py writes complex numbers.
Result<DType> compound_type(ByteCursor& cursor, unsigned version, unsigned members,
                            std::uint64_t bytes, bool& big_endian, unsigned depth) {
  if (members != 2 || bytes == 0 || bytes > 16) {
    return DType::raw;
  }
  std::array<Datatype, 2> parts;
  for (std::size_t i = 0; i < 2; ++i) {
    OPDRIFT_CHECK_OK(skip_name(cursor, version < 3));
    OPDRIFT_TRY(const std::uint64_t offset,
                read_number(cursor, version < 3 ? 4 : 1, "member offset"));
    OPDRIFT_CHECK_OK(cursor.skip(version == 1 ? 28 : 0, "member dimensions"));
    OPDRIFT_TRY(parts[i], parse_type(cursor, depth + 1));
    if (offset != i * bytes / 2 || parts[i].bytes != bytes / 2) {
      return DType::raw;
    }
  }
  big_endian = parts[0].big_endian;
  if (parts[0].dtype != parts[1].dtype || parts[0].big_endian != parts[1].big_endian) {
    return DType::raw;
  }
  switch (parts[0].dtype) {
    case DType::f64: return DType::c128;
    case DType::f32: return DType::c64;
    case DType::f16: return DType::c32;
    default: return DType::raw;
  }
}

Result<Datatype> parse_type(ByteCursor& cursor, unsigned depth) {
  OPDRIFT_TRY(const std::uint8_t head, cursor.u8("datatype class"));
  OPDRIFT_TRY(const std::uint8_t bits0, cursor.u8("datatype bits"));
  OPDRIFT_TRY(const std::uint8_t bits1, cursor.u8("datatype bits"));
  OPDRIFT_CHECK_OK(cursor.skip(1, "datatype bits"));
  OPDRIFT_TRY(const std::uint32_t bytes, cursor.u32("datatype size"));
  const unsigned version = head >> 4;
  Datatype type;
  type.bytes = bytes;
  type.big_endian = (bits0 & 1) != 0;
  switch (head & 15) {
    case 0:
      type.dtype = integer_type(bytes, (bits0 & 8) != 0);
      OPDRIFT_CHECK_OK(cursor.skip(4, "integer type"));
      break;
    case 1: {
      OPDRIFT_TRY(type.dtype, float_type(cursor, bytes));
      OPDRIFT_CHECK_OK(cursor.skip(4, "exponent bias"));
      break;
    }
    case 6: {
      const unsigned members = bits0 | static_cast<unsigned>(bits1) << 8;
      type.big_endian = false;
      if (depth < kMaxTypeDepth) {
        OPDRIFT_TRY(type.dtype,
                    compound_type(cursor, version, members, bytes, type.big_endian, depth));
      }
      break;
    }
    case 8: {
      type.big_endian = false;
      if (depth < kMaxTypeDepth) {
        OPDRIFT_TRY(const Datatype base, parse_type(cursor, depth + 1));
        const bool two_values = bits0 == 2 && bits1 == 0 && base.bytes == 1;
        type.dtype = two_values ? DType::boolean : base.dtype;
        type.big_endian = base.big_endian;
      }
      break;
    }
    default: type.big_endian = false; break;
  }
  return type;
}

std::uint64_t padded_to_8(std::uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

/// Extents of a chunk; the last number is the element size and is dropped.
Status read_chunk_sizes(ByteCursor& cursor, unsigned count, unsigned width, Layout& layout) {
  if (count < 2 || count > kMaxRank + 1) {
    return malformed(cursor, "expected 2 to 33 chunk sizes, found " + std::to_string(count));
  }
  for (unsigned i = 0; i < count; ++i) {
    OPDRIFT_TRY(const std::uint64_t size, read_number(cursor, width, "chunk size"));
    if (size == 0) {
      return malformed(cursor, "expected chunks of one element or more");
    }
    layout.chunk.push_back(size);
  }
  layout.chunk.pop_back();
  return Unit{};
}

Status parse_old_layout(const File& file, ByteCursor& cursor, Layout& layout) {
  OPDRIFT_TRY(const std::uint8_t count, cursor.u8("layout dimensions"));
  OPDRIFT_TRY(const std::uint8_t kind, cursor.u8("layout class"));
  OPDRIFT_CHECK_OK(cursor.skip(5, "layout"));
  if (kind > 2) {
    return malformed(cursor, "expected layout class 0 to 2, found " + std::to_string(kind));
  }
  layout.kind = static_cast<LayoutClass>(kind);
  if (layout.kind != LayoutClass::compact) {
    OPDRIFT_TRY(layout.address, file.address(cursor, "layout address"));
  }
  if (layout.kind == LayoutClass::chunked) {
    return read_chunk_sizes(cursor, count, 4, layout);
  }
  OPDRIFT_CHECK_OK(cursor.skip(4ULL * count, "layout sizes"));
  if (layout.kind == LayoutClass::compact) {
    OPDRIFT_TRY(layout.bytes, cursor.u32("compact size"));
    layout.data_offset = cursor.file_offset();
    return cursor.skip(layout.bytes, "compact data");
  }
  layout.bytes = ~std::uint64_t{0};  // as many as the shape needs
  return Unit{};
}

Status parse_new_chunked(const File& file, ByteCursor& cursor, Layout& layout) {
  OPDRIFT_TRY(const std::uint8_t flags, cursor.u8("chunk flags"));
  OPDRIFT_TRY(const std::uint8_t count, cursor.u8("chunk dimensions"));
  OPDRIFT_TRY(const std::uint8_t width, cursor.u8("width of chunk sizes"));
  if (width == 0 || width > 8) {
    return malformed(cursor, "expected chunk sizes of 1 to 8 bytes");
  }
  OPDRIFT_CHECK_OK(read_chunk_sizes(cursor, count, width, layout));
  OPDRIFT_TRY(const std::uint8_t index, cursor.u8("chunk index"));
  if (index != 1) {
    return Error{ErrorCode::unsupported,
                 "chunk index " + std::to_string(index) +
                     " of newer HDF5 libraries; rewrite the file with h5repack --low=0 --high=0",
                 {},
                 cursor.file_offset()};
  }
  layout.kind = LayoutClass::single_chunk;
  layout.bytes = ~std::uint64_t{0};
  if ((flags & 2) != 0) {
    OPDRIFT_TRY(layout.bytes, file.length(cursor, "chunk size"));
    OPDRIFT_TRY(layout.filter_mask, cursor.u32("filter mask"));
  }
  OPDRIFT_TRY(layout.address, file.address(cursor, "chunk address"));
  return Unit{};
}

Status parse_new_layout(const File& file, ByteCursor& cursor, unsigned version, Layout& layout) {
  OPDRIFT_TRY(const std::uint8_t kind, cursor.u8("layout class"));
  if (kind == 0) {
    layout.kind = LayoutClass::compact;
    OPDRIFT_TRY(layout.bytes, cursor.u16("compact size"));
    layout.data_offset = cursor.file_offset();
    return cursor.skip(layout.bytes, "compact data");
  }
  if (kind == 1) {
    layout.kind = LayoutClass::contiguous;
    OPDRIFT_TRY(layout.address, file.address(cursor, "layout address"));
    OPDRIFT_TRY(layout.bytes, file.length(cursor, "layout size"));
    return Unit{};
  }
  if (kind == 2 && version == 4) {
    return parse_new_chunked(file, cursor, layout);
  }
  if (kind == 2) {
    layout.kind = LayoutClass::chunked;
    OPDRIFT_TRY(const std::uint8_t count, cursor.u8("chunk dimensions"));
    OPDRIFT_TRY(layout.address, file.address(cursor, "chunk index"));
    return read_chunk_sizes(cursor, count, 4, layout);
  }
  return Error{ErrorCode::unsupported,
               "data of layout class " + std::to_string(kind) + ", which may lie in other files",
               {},
               cursor.file_offset()};
}

Result<Filter> parse_filter(ByteCursor& cursor, unsigned version) {
  Filter filter;
  OPDRIFT_TRY(filter.id, cursor.u16("filter id"));
  std::uint16_t name_bytes = 0;
  if (version == 1 || filter.id >= 256) {
    OPDRIFT_TRY(name_bytes, cursor.u16("filter name length"));
  }
  OPDRIFT_CHECK_OK(cursor.skip(2, "filter flags"));
  OPDRIFT_TRY(const std::uint16_t count, cursor.u16("filter values"));
  OPDRIFT_CHECK_OK(cursor.skip(version == 1 ? padded_to_8(name_bytes) : name_bytes, "filter name"));
  for (unsigned i = 0; i < count; ++i) {
    OPDRIFT_TRY(const std::uint32_t value, cursor.u32("filter value"));
    filter.values.push_back(value);
  }
  OPDRIFT_CHECK_OK(cursor.skip(version == 1 && count % 2 == 1 ? 4 : 0, "filter padding"));
  return filter;
}

}  // namespace

Result<Dataspace> parse_dataspace(const File& file, ByteCursor cursor) {
  OPDRIFT_TRY(const std::uint8_t version, cursor.u8("dataspace version"));
  OPDRIFT_TRY(const std::uint8_t rank, cursor.u8("dataspace rank"));
  OPDRIFT_CHECK_OK(cursor.skip(1, "dataspace flags"));
  OPDRIFT_TRY(const std::uint8_t kind, cursor.u8("dataspace kind"));
  if (version != 1 && version != 2) {
    return malformed(cursor, "expected dataspace version 1 or 2, found " + std::to_string(version));
  }
  if (rank > kMaxRank) {
    return malformed(cursor, "expected at most 32 axes, found " + std::to_string(rank));
  }
  OPDRIFT_CHECK_OK(cursor.skip(version == 1 ? 4 : 0, "dataspace"));
  Dataspace space;
  space.null = version == 2 && kind == 2;
  for (unsigned i = 0; i < rank; ++i) {
    OPDRIFT_TRY(const std::uint64_t extent, file.length(cursor, "extent"));
    space.shape.push_back(extent);
  }
  OPDRIFT_CHECK_OK(tensor::element_count(space.shape));
  return space;
}

Result<Datatype> parse_datatype(ByteCursor cursor) {
  return parse_type(cursor, 0);
}

Result<Layout> parse_layout(const File& file, ByteCursor cursor) {
  OPDRIFT_TRY(const std::uint8_t version, cursor.u8("layout version"));
  Layout layout;
  if (version == 1 || version == 2) {
    OPDRIFT_CHECK_OK(parse_old_layout(file, cursor, layout));
  } else if (version == 3 || version == 4) {
    OPDRIFT_CHECK_OK(parse_new_layout(file, cursor, version, layout));
  } else {
    return malformed(cursor, "expected layout version 1 to 4, found " + std::to_string(version));
  }
  return layout;
}

Result<std::vector<Filter>> parse_filters(ByteCursor cursor) {
  OPDRIFT_TRY(const std::uint8_t version, cursor.u8("filter version"));
  OPDRIFT_TRY(const std::uint8_t count, cursor.u8("filter count"));
  if ((version != 1 && version != 2) || count > 32) {
    return malformed(cursor, "expected filters of version 1 or 2, at most 32");
  }
  OPDRIFT_CHECK_OK(cursor.skip(version == 1 ? 6 : 0, "filters"));
  std::vector<Filter> filters;
  for (unsigned i = 0; i < count; ++i) {
    OPDRIFT_TRY(Filter filter, parse_filter(cursor, version));
    filters.push_back(std::move(filter));
  }
  return filters;
}

Result<Attribute> parse_attribute(const File& file, ByteCursor cursor) {
  OPDRIFT_TRY(const std::uint8_t version, cursor.u8("attribute version"));
  OPDRIFT_TRY(const std::uint8_t flags, cursor.u8("attribute flags"));
  OPDRIFT_TRY(const std::uint16_t name_bytes, cursor.u16("attribute name length"));
  OPDRIFT_TRY(const std::uint16_t type_bytes, cursor.u16("attribute type length"));
  OPDRIFT_TRY(const std::uint16_t space_bytes, cursor.u16("attribute space length"));
  if (version < 1 || version > 3 || (version > 1 && flags != 0)) {
    return Error{ErrorCode::unsupported, "an attribute of another kind", {}, cursor.file_offset()};
  }
  OPDRIFT_CHECK_OK(cursor.skip(version == 3 ? 1 : 0, "attribute character set"));
  const auto size = [version](std::uint64_t bytes) {
    return version == 1 ? padded_to_8(bytes) : bytes;
  };
  OPDRIFT_TRY(const ByteSpan name, cursor.take(size(name_bytes), "attribute name"));
  const std::uint64_t type_offset = cursor.file_offset();
  OPDRIFT_TRY(const ByteSpan type, cursor.take(size(type_bytes), "attribute type"));
  const std::uint64_t space_offset = cursor.file_offset();
  OPDRIFT_TRY(const ByteSpan space, cursor.take(size(space_bytes), "attribute space"));
  Attribute attribute;
  const std::string_view text = as_text(name);
  attribute.name = std::string(text.substr(0, text.find('\0')));
  OPDRIFT_TRY(attribute.type, parse_datatype(ByteCursor(type, type_offset)));
  OPDRIFT_TRY(attribute.space, parse_dataspace(file, ByteCursor(space, space_offset)));
  OPDRIFT_TRY(attribute.data, cursor.take(cursor.remaining(), "attribute data"));
  return attribute;
}

std::vector<std::int64_t> integers_of(const Attribute& attribute) {
  const tensor::DTypeInfo& row = tensor::info(attribute.type.dtype);
  const std::uint64_t count = tensor::element_count(attribute.space.shape).value_or(0U);
  const std::uint64_t bytes = attribute.type.bytes;
  std::vector<std::int64_t> numbers;
  const bool integers = row.kind == tensor::DTypeKind::signed_int ||
                        row.kind == tensor::DTypeKind::unsigned_int ||
                        row.kind == tensor::DTypeKind::boolean;
  if (!integers || attribute.space.null || count > kMaxAttributeElements || bytes == 0 ||
      bytes > 8 || count * bytes > attribute.data.size()) {
    return numbers;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    for (std::uint64_t k = 0; k < bytes; ++k) {
      const std::uint64_t place = attribute.type.big_endian ? k : bytes - 1 - k;
      value = value << 8 | static_cast<std::uint64_t>(
                               attribute.data[static_cast<std::size_t>(i * bytes + place)]);
    }
    const unsigned unused = static_cast<unsigned>(64 - 8 * bytes);
    const bool is_signed = row.kind == tensor::DTypeKind::signed_int;
    numbers.push_back(is_signed ? static_cast<std::int64_t>(value << unused) >> unused
                                : static_cast<std::int64_t>(value));
  }
  return numbers;
}

}  // namespace opdrift::io::hdf5
