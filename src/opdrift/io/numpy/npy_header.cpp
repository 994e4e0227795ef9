#include "opdrift/io/numpy/npy_header.hpp"

#include <array>
#include <bit>
#include <optional>

#include "opdrift/base/text.hpp"
#include "opdrift/io/numpy/python_literal.hpp"

namespace opdrift::io {

namespace {

using tensor::DType;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxRank = 64;  // NumPy 2 allows 64, earlier ones 32
constexpr std::size_t kAlignment = 64;
/// NumPy leaves room for the first extent (the last in Fortran order) to grow to so many digits.
constexpr std::size_t kGrowthDigits = 21;

struct KindRow {
  char kind;
  std::uint64_t item_bytes;
  DType dtype;
};

constexpr std::array<KindRow, 15> kKinds = {{
    {'f', 2, DType::f16},
    {'f', 4, DType::f32},
    {'f', 8, DType::f64},
    {'i', 1, DType::i8},
    {'i', 2, DType::i16},
    {'i', 4, DType::i32},
    {'i', 8, DType::i64},
    {'u', 1, DType::u8},
    {'u', 2, DType::u16},
    {'u', 4, DType::u32},
    {'u', 8, DType::u64},
    {'b', 1, DType::boolean},
    {'?', 1, DType::boolean},
    {'c', 8, DType::c64},
    {'c', 16, DType::c128},
}};

std::string_view kind_name(char kind) {
  switch (kind) {
    case 'O': return "pickled Python objects, which are never run";
    case 'S':
    case 'a': return "byte strings";
    case 'U': return "text";
    case 'M':
    case 'm': return "dates";
    case '[': return "a structured type";
    default: return "an element type without numbers of a known size";
  }
}

/// Splits '<f4' into order, kind and size. Size 0 when there is none ('|O').
void read_descr(std::string_view descr, NpyHeader& header) {
  header.descr = std::string(descr);
  header.kind = '!';
  if (!descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos) {
    header.big_endian = descr.front() == '>';
    descr.remove_prefix(1);
  }
  if (descr.empty()) {
    return;
  }
  const std::string_view size = descr.substr(1);
  const std::optional<std::uint64_t> bytes = parse_u64(size);
  if (bytes || size.empty() || descr.front() == 'M' || descr.front() == 'm') {
    header.kind = descr.front();
    header.item_bytes = bytes.value_or(header.kind == '?' ? 1 : 0);
    header.item_bytes *= header.kind == 'U' ? 4 : 1;
  }
}

Status read_shape(const PythonLiteral& value, NpyHeader& header) {
  if (value.kind != PythonLiteral::Kind::tuple) {
    return Error{ErrorCode::malformed, "expected 'shape' to be a tuple of integers"};
  }
  if (value.items.size() > kMaxRank) {
    return Error{ErrorCode::bad_shape,
                 "expected at most 64 axes, found " + std::to_string(value.items.size())};
  }
  for (const PythonLiteral& item : value.items) {
    if (item.kind != PythonLiteral::Kind::integer || item.integer < 0) {
      return Error{ErrorCode::bad_shape, "expected 'shape' to hold integers of 0 or more"};
    }
    header.shape.push_back(static_cast<std::uint64_t>(item.integer));
  }
  OPDRIFT_CHECK_OK(tensor::element_count(header.shape));
  return Unit{};
}

Status read_dict(const PythonLiteral& dict, NpyHeader& header) {
  const PythonLiteral* descr = dict.find("descr");
  const PythonLiteral* order = dict.find("fortran_order");
  const PythonLiteral* shape = dict.find("shape");
  if (dict.kind != PythonLiteral::Kind::dict || descr == nullptr || order == nullptr ||
      shape == nullptr || dict.keys.size() != 3) {
    return Error{ErrorCode::malformed,
                 "expected a dictionary of 'descr', 'fortran_order' and 'shape'"};
  }
  if (order->kind != PythonLiteral::Kind::boolean) {
    return Error{ErrorCode::malformed, "expected 'fortran_order' to be True or False"};
  }
  header.fortran_order = order->boolean;
  if (descr->kind == PythonLiteral::Kind::text) {
    read_descr(descr->text, header);
  } else if (descr->kind == PythonLiteral::Kind::list) {
    header.descr = "[...]";
    header.kind = '[';
  } else {
    return Error{ErrorCode::malformed, "expected 'descr' to be a string or a list of fields"};
  }
  return read_shape(*shape, header);
}

std::string shape_tuple(const tensor::Shape& shape) {
  return "(" + tensor::to_string(shape, ", ") + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

bool is_npy(ByteSpan head) {
  return as_text(head).starts_with(kMagic);
}

Result<NpyHeader> parse_npy_header(ByteSpan bytes) {
  ByteCursor cursor(bytes);
  if (!is_npy(bytes)) {
    return Error{ErrorCode::malformed,
                 "expected \\x93NUMPY, found '" + printable(as_text(bytes).substr(0, 6)) + "'",
                 {},
                 0};
  }
  OPDRIFT_CHECK_OK(cursor.skip(kMagic.size(), "npy magic"));
  OPDRIFT_TRY(const std::uint8_t major, cursor.u8("npy version"));
  OPDRIFT_CHECK_OK(cursor.u8("npy minor version"));
  if (major < 1 || major > 3) {
    return Error{ErrorCode::unsupported,
                 "expected npy version 1, 2 or 3, found " + std::to_string(major),
                 {},
                 6};
  }
  std::uint64_t length = 0;
  if (major == 1) {
    OPDRIFT_TRY(length, cursor.u16("npy header length"));
  } else {
    OPDRIFT_TRY(length, cursor.u32("npy header length"));
  }
  if (length > kMaxNpyHeaderBytes) {
    return Error{
        ErrorCode::limit,
        "expected an npy header of at most 1 MiB, found " + std::to_string(length) + " bytes",
        {},
        8};
  }
  const std::uint64_t start = cursor.position();
  OPDRIFT_TRY(const ByteSpan text, cursor.take(length, "npy header"));
  Result<PythonLiteral> dict = parse_python_literal(as_text(text));
  if (!dict) {
    Error error = dict.error();
    error.offset = error.offset.value_or(0) + start;
    error.message = "npy header: " + error.message;
    return error;
  }
  NpyHeader header;
  header.data_offset = cursor.position();
  OPDRIFT_CHECK_OK(read_dict(*dict, header));
  return header;
}

Result<DType> npy_dtype(const NpyHeader& header) {
  for (const KindRow& row : kKinds) {
    if (row.kind == header.kind && row.item_bytes == header.item_bytes) {
      return row.dtype;
    }
  }
  if (header.kind == 'V' && header.item_bytes > 0) {
    return DType::raw;
  }
  // Extension types of some writers stand there by name.
  if (const std::optional<DType> named = tensor::dtype_by_name(header.descr)) {
    return *named;
  }
  return Error{ErrorCode::unsupported_dtype, "expected numbers, found " +
                                                 std::string(kind_name(header.kind)) + " ('" +
                                                 printable(header.descr) + "')"};
}

std::string format_npy_header(std::string_view descr, bool fortran_order,
                              const tensor::Shape& shape) {
  std::string dict = "{'descr': '" + std::string(descr) +
                     "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                     ", 'shape': " + shape_tuple(shape) + ", }";
  if (!shape.empty()) {
    const std::uint64_t growing = fortran_order ? shape.back() : shape.front();
    dict.append(kGrowthDigits - std::to_string(growing).size(), ' ');
  }
  std::size_t prefix = 10;
  std::size_t padding = kAlignment - (prefix + dict.size() + 1) % kAlignment;
  std::string version("\x01\x00", 2);
  if (dict.size() + padding + 1 > 0xFFFF) {
    prefix = 12;
    padding = kAlignment - (prefix + dict.size() + 1) % kAlignment;
    version[0] = '\x02';
  }
  dict.append(padding, ' ');  // NumPy adds 64 blanks, not none, when the dictionary fits exactly
  dict += '\n';
  std::string header(kMagic);
  header += version;
  for (std::size_t i = 0; i < prefix - 8; ++i) {
    header += static_cast<char>(static_cast<unsigned char>((dict.size() >> (8 * i)) & 0xFF));
  }
  return header + dict;
}

}  // namespace opdrift::io
