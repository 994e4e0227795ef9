#include "opdrift/graph/om/inout_info.hpp"

#include <array>
#include <string_view>

#include "opdrift/base/text.hpp"
#include "opdrift/tensor/format.hpp"

namespace opdrift::graph {

namespace {

enum Section : std::int32_t {
  inputs = 0,
  outputs = 1,
  batch_gears = 2,
  image_gears = 3,
  dims_gears = 4,
  output_shapes = 5,
  data_order = 6,
};

/// In the order of their numbers; 5 has no type.
constexpr auto kAttributeDtypes = std::to_array<std::string_view>(
    {"FLOAT",         "FLOAT16",        "INT8",      "INT32",      "UINT8",  "",         "INT16",
     "UINT16",        "UINT32",         "INT64",     "UINT64",     "DOUBLE", "BOOL",     "STRING",
     "DUAL_SUB_INT8", "DUAL_SUB_UINT8", "COMPLEX64", "COMPLEX128", "QINT8",  "QINT16",   "QINT32",
     "QUINT8",        "QUINT16",        "RESOURCE",  "STRING_REF", "DUAL",   "VARIANT",  "BF16",
     "UNDEFINED",     "INT4",           "UINT1",     "INT2",       "UINT2",  "COMPLEX32"});

/// A count of items that take at least `bytes` each.
Result<std::uint32_t> count_of(ByteCursor& cursor, std::uint64_t bytes, std::string_view what) {
  const std::uint64_t offset = cursor.file_offset();
  OPDRIFT_TRY(const std::uint32_t count, cursor.u32(what));
  if (count > cursor.remaining() / bytes) {
    return Error{ErrorCode::truncated,
                 std::string(what) + ": expected at most " +
                     std::to_string(cursor.remaining() / bytes) + " to fit, found " +
                     std::to_string(count),
                 {},
                 offset};
  }
  return count;
}

Result<std::vector<std::int64_t>> numbers_of(ByteCursor& cursor, std::uint32_t bytes,
                                             std::string_view what) {
  OPDRIFT_TRY(const ByteSpan content, cursor.take(bytes, what));
  ByteCursor inner(content, cursor.file_offset() - bytes);
  std::vector<std::int64_t> numbers;
  while (inner.remaining() >= sizeof(std::int64_t)) {
    OPDRIFT_TRY(const std::uint64_t number, inner.u64(what));
    numbers.push_back(static_cast<std::int64_t>(number));
  }
  return numbers;
}

Result<InoutTensor> read_tensor(ByteCursor& cursor) {
  InoutTensor tensor;
  OPDRIFT_TRY(tensor.bytes, cursor.u64("tensor size"));
  OPDRIFT_TRY(const std::int32_t format, cursor.i32("tensor format"));
  OPDRIFT_TRY(const std::int32_t dtype, cursor.i32("tensor dtype"));
  OPDRIFT_TRY(const std::uint32_t name_bytes, cursor.u32("name length"));
  OPDRIFT_TRY(const std::uint32_t dims_bytes, cursor.u32("dims length"));
  OPDRIFT_TRY(const std::uint32_t aipp_bytes, cursor.u32("dimsV2 length"));
  OPDRIFT_TRY(const std::uint32_t range_bytes, cursor.u32("shape range length"));
  OPDRIFT_TRY(const ByteSpan name, cursor.take(name_bytes, "tensor name"));
  tensor.name = without_bad_utf8(as_text(name));
  tensor.format = attribute_format_name(format);
  tensor.dtype = attribute_dtype_name(dtype);
  OPDRIFT_TRY(tensor.dims, numbers_of(cursor, dims_bytes, "dims"));
  OPDRIFT_TRY(tensor.dims_before_aipp, numbers_of(cursor, aipp_bytes, "dimsV2"));
  OPDRIFT_TRY(tensor.ranges, numbers_of(cursor, range_bytes, "shape range"));
  return tensor;
}

Result<std::vector<InoutTensor>> read_tensors(ByteCursor& cursor) {
  constexpr std::uint64_t kTensorBytes = 32;
  OPDRIFT_TRY(const std::uint32_t count, count_of(cursor, kTensorBytes, "number of tensors"));
  std::vector<InoutTensor> tensors;
  for (std::uint32_t i = 0; i < count; ++i) {
    OPDRIFT_TRY(InoutTensor tensor, read_tensor(cursor));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<std::vector<std::uint64_t>> read_batch_gears(ByteCursor& cursor) {
  OPDRIFT_TRY(const std::uint32_t count, count_of(cursor, sizeof(std::uint64_t), "gears"));
  std::vector<std::uint64_t> gears;
  for (std::uint32_t i = 0; i < count; ++i) {
    OPDRIFT_TRY(const std::uint64_t gear, cursor.u64("gear"));
    gears.push_back(gear);
  }
  return gears;
}

Result<std::vector<std::uint32_t>> read_counts(ByteCursor& cursor, std::string_view what) {
  OPDRIFT_TRY(const std::uint32_t count, count_of(cursor, sizeof(std::uint32_t), what));
  std::vector<std::uint32_t> counts;
  for (std::uint32_t i = 0; i < count; ++i) {
    OPDRIFT_TRY(const std::uint32_t inner, cursor.u32(what));
    counts.push_back(inner);
  }
  return counts;
}

Result<std::vector<std::vector<std::uint64_t>>> read_gears(ByteCursor& cursor) {
  OPDRIFT_TRY(const std::vector<std::uint32_t> counts, read_counts(cursor, "numbers of a gear"));
  std::vector<std::vector<std::uint64_t>> gears;
  for (const std::uint32_t count : counts) {
    std::vector<std::uint64_t> gear;
    for (std::uint32_t i = 0; i < count; ++i) {
      OPDRIFT_TRY(const std::uint64_t value, cursor.u64("gear"));
      gear.push_back(value);
    }
    gears.push_back(std::move(gear));
  }
  return gears;
}

Result<std::vector<std::string>> read_texts(ByteCursor& cursor) {
  OPDRIFT_TRY(const std::vector<std::uint32_t> lengths, read_counts(cursor, "text lengths"));
  std::vector<std::string> texts;
  for (const std::uint32_t length : lengths) {
    OPDRIFT_TRY(const ByteSpan text, cursor.take(length, "text"));
    texts.push_back(without_bad_utf8(as_text(text)));
  }
  return texts;
}

Status read_section(std::int32_t type, ByteCursor cursor, InoutInfo& info) {
  switch (type) {
    case inputs: {
      OPDRIFT_TRY(info.inputs, read_tensors(cursor));
      break;
    }
    case outputs: {
      OPDRIFT_TRY(info.outputs, read_tensors(cursor));
      break;
    }
    case batch_gears: {
      OPDRIFT_TRY(info.batch_gears, read_batch_gears(cursor));
      break;
    }
    case image_gears: {
      OPDRIFT_TRY(info.image_gears, read_gears(cursor));
      break;
    }
    case dims_gears: {
      OPDRIFT_TRY(info.dims_gears, read_gears(cursor));
      break;
    }
    case output_shapes: {
      OPDRIFT_TRY(info.output_shapes, read_texts(cursor));
      break;
    }
    case data_order: {
      OPDRIFT_TRY(info.data_order, read_texts(cursor));
      break;
    }
    default: break;
  }
  return Unit{};
}

}  // namespace

Result<InoutInfo> parse_inout_info(ByteSpan content, std::uint64_t offset) {
  InoutInfo info;
  ByteCursor cursor(content, offset);
  while (cursor.remaining() > 0) {
    OPDRIFT_TRY(const std::int32_t type, cursor.i32("section type"));
    OPDRIFT_TRY(const std::uint32_t length, cursor.u32("section length"));
    const std::uint64_t start = cursor.file_offset();
    OPDRIFT_TRY(const ByteSpan section, cursor.take(length, "section"));
    OPDRIFT_CHECK_OK(read_section(type, ByteCursor(section, start), info));
  }
  return info;
}

std::string attribute_dtype_name(std::int64_t number) {
  const bool known = number >= 0 && number < static_cast<std::int64_t>(kAttributeDtypes.size());
  const std::string_view name =
      known ? kAttributeDtypes[static_cast<std::size_t>(number)] : std::string_view();
  return name.empty() ? "type " + std::to_string(number) : std::string(name);
}

std::string attribute_format_name(std::int64_t number) {
  constexpr std::int64_t kFormatBits = 0xFF;
  constexpr std::int64_t kFirstOwn = 45;  // from here on dumps have other names, or none
  constexpr auto kOwnNames = std::to_array<std::string_view>(
      {"NYUV", "NYUV_A", "NCL", "FRACTAL_NZ_C0_16", "FRACTAL_NZ_C0_32"});
  const std::int64_t format = number & kFormatBits;
  const std::int64_t own = format - kFirstOwn;
  if (own >= 0 && own < static_cast<std::int64_t>(kOwnNames.size())) {
    return std::string(kOwnNames[static_cast<std::size_t>(own)]);
  }
  const auto name = tensor::format_name(static_cast<tensor::Format>(format));
  return name ? std::string(*name) : "format " + std::to_string(number);
}

}  // namespace opdrift::graph
