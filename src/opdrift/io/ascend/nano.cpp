#include "opdrift/io/ascend/nano.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/tensor.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

using tensor::DType;

constexpr std::uint32_t kMagic = 0x5A5A5A5A;
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint32_t kInputTag = 4;
constexpr std::uint32_t kOutputTag = 5;
constexpr std::uint32_t kShapeTag = 0;
constexpr std::uint32_t kOriginalShapeTag = 1;
constexpr std::uint32_t kNameTag = 2;
constexpr std::uint64_t kMaxHeadBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxDims = 4096;
constexpr std::size_t kMaxTensors = 100'000;

Error out_of_bytes(Error error) {
  error.code = ErrorCode::bad_nano;
  return error;
}

/// Reads the items of one descriptor in their fixed order.
class ItemReader {
 public:
  ItemReader(ByteCursor& cursor, std::uint32_t list_bytes)
      : cursor_(cursor), left_(static_cast<std::int64_t>(list_bytes)) {}

  /// The content of the item, cut to whole elements; nothing when the item is absent.
  Result<std::optional<ByteSpan>> read(std::uint32_t tag, std::uint32_t element_bytes) {
    if (left_ <= 0 || cursor_.remaining() < 8) {
      return std::optional<ByteSpan>();
    }
    ByteCursor ahead = cursor_;
    OPDRIFT_TRY(const std::uint32_t found, ahead.u32("item tag"));
    OPDRIFT_TRY(const std::uint32_t length, ahead.u32("item length"));
    if (found != tag || (length > 0 && length < element_bytes)) {
      return std::optional<ByteSpan>();
    }
    const std::uint32_t whole = length / element_bytes * element_bytes;
    OPDRIFT_TRY(const ByteSpan content, ahead.take(whole, "item"));
    cursor_ = ahead;
    left_ -= 8 + static_cast<std::int64_t>(whole);
    return std::optional<ByteSpan>(content);
  }

  Status read_shape(std::uint32_t tag, tensor::Shape& shape) {
    OPDRIFT_TRY(const std::optional<ByteSpan> item, read(tag, 8));
    ByteCursor dims(item.value_or(ByteSpan{}));
    if (dims.remaining() / 8 > kMaxDims) {
      return Error{ErrorCode::limit, "shape: expected at most 4096 dims"};
    }
    while (dims.remaining() > 0) {
      OPDRIFT_TRY(const std::uint64_t dim, dims.u64("dim"));
      shape.push_back(dim);
    }
    return Unit{};
  }

 private:
  ByteCursor& cursor_;
  std::int64_t left_;
};

void set_type(tensor::TensorDesc& desc, int number) {
  const std::optional<DType> dtype = dtype_by_nano_number(number);
  desc.dtype = dtype.value_or(DType::raw);
  desc.ascend_dtype = dtype ? tensor::info(*dtype).ascend_number : number;
}

Result<FileTensor> read_descriptor(ByteCursor& cursor, TensorRole role) {
  FileTensor out;
  out.role = role;
  OPDRIFT_TRY(const std::int32_t data_type, cursor.i32("data type"));
  OPDRIFT_TRY(const std::int32_t format, cursor.i32("format"));
  // Outputs describe their origin (index, type, format) before the address; nobody needs that.
  OPDRIFT_CHECK_OK(cursor.skip(role == TensorRole::output ? 16 : 4, "address type"));
  OPDRIFT_TRY(out.desc.address, cursor.u64("address"));
  OPDRIFT_CHECK_OK(cursor.skip(8, "offset"));
  OPDRIFT_TRY(out.size_bytes, cursor.u64("size"));
  OPDRIFT_TRY(const std::uint32_t list_bytes, cursor.u32("item list length"));
  set_type(out.desc, data_type);
  out.desc.format = static_cast<tensor::Format>(format);
  ItemReader items(cursor, list_bytes);
  OPDRIFT_CHECK_OK(items.read_shape(kShapeTag, out.desc.shape));
  OPDRIFT_CHECK_OK(items.read_shape(kOriginalShapeTag, out.desc.original_shape));
  if (role == TensorRole::output) {
    OPDRIFT_TRY(const std::optional<ByteSpan> name, items.read(kNameTag, 1));
    out.name = std::string(as_text(name.value_or(ByteSpan{})));
  }
  return out;
}

Status read_block(ByteCursor& cursor, TensorRole role, std::vector<FileTensor>& tensors) {
  ByteCursor ahead = cursor;
  if (ahead.remaining() < 8) {
    return Unit{};
  }
  OPDRIFT_TRY(const std::uint32_t tag, ahead.u32("block tag"));
  OPDRIFT_CHECK_OK(ahead.skip(4, "block length"));
  if (tag != (role == TensorRole::input ? kInputTag : kOutputTag)) {
    return Unit{};
  }
  cursor = ahead;
  OPDRIFT_TRY(const std::uint32_t count, cursor.u32("descriptor count"));
  for (std::uint32_t i = 0; i < count; ++i) {
    if (tensors.size() >= kMaxTensors) {
      return Error{ErrorCode::limit, "expected at most 100000 tensors", {}, cursor.file_offset()};
    }
    OPDRIFT_TRY(FileTensor file_tensor, read_descriptor(cursor, role));
    file_tensor.index = i;
    tensors.push_back(std::move(file_tensor));
  }
  return Unit{};
}

/// A tensor without shape takes all its bytes as one axis.
void settle(FileTensor& file_tensor) {
  tensor::TensorDesc& desc = file_tensor.desc;
  if (desc.shape.empty()) {
    const unsigned bits = std::max(1U, tensor::info(desc.dtype).bits);
    desc.shape = {file_tensor.size_bytes * 8 / bits};
    const bool whole = file_tensor.size_bytes * 8 % bits == 0;
    if (!whole && tensor::info(desc.dtype).decodable) {
      file_tensor.problem =
          Error{ErrorCode::malformed, "data: expected whole elements, found " +
                                          std::to_string(file_tensor.size_bytes) + " bytes"};
      return;
    }
  }
  settle_ascend_tensor(file_tensor);
}

Status place_payload(const Bytes& file, std::uint64_t offset, FileDump& dump) {
  std::uint64_t left = file.size() - offset;
  for (FileTensor& file_tensor : dump.tensors) {
    if (file_tensor.size_bytes > left) {
      return Error{ErrorCode::bad_header,
                   "payload: expected " + std::to_string(file_tensor.size_bytes) +
                       " bytes, found " + std::to_string(left),
                   {},
                   file.size() - left};
    }
    file_tensor.bytes = file.part(file.size() - left, file_tensor.size_bytes);
    left -= file_tensor.size_bytes;
    settle(file_tensor);
  }
  if (left > 0) {
    return Error{ErrorCode::bad_header,
                 "expected the end of the file, found " + std::to_string(left) + " more bytes",
                 {},
                 file.size() - left};
  }
  return Unit{};
}

Status parse_into(const Bytes& file, FileDump& dump) {
  ByteCursor cursor(file.span);
  OPDRIFT_TRY(const std::uint64_t head_bytes, cursor.u64("head length"));
  if (head_bytes > cursor.remaining() || head_bytes > kMaxHeadBytes) {
    return Error{head_bytes > cursor.remaining() ? ErrorCode::truncated : ErrorCode::limit,
                 "head: expected " + std::to_string(head_bytes) + " bytes, found " +
                     std::to_string(cursor.remaining()),
                 {},
                 kLengthBytes};
  }
  OPDRIFT_TRY(const ByteSpan head, cursor.take(head_bytes, "head"));
  ByteCursor fields(head, kLengthBytes);
  Status status = fields.skip(4, "magic number");
  Result<std::uint32_t> version = fields.u32("version");
  if (!status || !version) {
    return out_of_bytes(status ? version.error() : status.error());
  }
  dump.version = std::to_string(*version);
  if (fields.remaining() == 0) {
    dump.warnings.emplace_back("the head ends behind the version: read as an empty dump");
  }
  for (const TensorRole role : {TensorRole::input, TensorRole::output}) {
    status = read_block(fields, role, dump.tensors);
    if (!status) {
      return status.error().code == ErrorCode::limit ? status : out_of_bytes(status.error());
    }
  }
  return place_payload(file, kLengthBytes + head_bytes, dump);
}

}  // namespace

std::optional<DType> dtype_by_nano_number(int number) {
  switch (number) {
    case 0: return DType::f32;
    case 1: return DType::f16;
    case 2: return DType::i8;
    case 3: return DType::i32;
    case 4: return DType::u8;
    case 6: return DType::i16;
    case 7: return DType::u16;
    case 8: return DType::u32;
    case 9: return DType::i64;
    case 10: return DType::u64;
    case 11: return DType::f64;
    case 12: return DType::boolean;
    case 16: return DType::c64;
    case 17: return DType::c128;
    case 23: return DType::resource;
    case 27: return DType::bf16;
    case 30: return DType::u1;
    default: return std::nullopt;
  }
}

bool probe_ascend_nano(ByteSpan head, std::uint64_t file_size, std::string_view /*file_name*/) {
  ByteCursor cursor(head);
  if (file_size <= 12 || !cursor.skip(kLengthBytes, "head length")) {
    return false;
  }
  return cursor.u32("magic number").value_or(0U) == kMagic;
}

Result<FileDump> parse_ascend_nano(const Bytes& file, const std::string& path) {
  FileDump dump;
  dump.path = path;
  dump.format = "nano";
  const std::vector<std::string_view> parts = split(base_name(path), '.');
  dump.op_name = parts.size() > 1 ? std::string(parts[1]) : std::string();
  const Status status = parse_into(file, dump);
  if (!status) {
    return in_file(status.error(), path);
  }
  return dump;
}

Result<FileDump> open_ascend_nano(const std::string& path) {
  OPDRIFT_TRY(const Bytes file, map_file(path));
  return parse_ascend_nano(file, path);
}

}  // namespace opdrift::io
