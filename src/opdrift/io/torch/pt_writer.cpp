#include "opdrift/io/torch/pt_writer.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "opdrift/io/in_file.hpp"
#include "opdrift/io/view_stream.hpp"

namespace opdrift::io {

namespace {

using tensor::DType;

/// Class of torch storages, without the word Storage; "" for types torch cannot hold this way.
std::string_view storage_class(DType dtype) {
  switch (dtype) {
    case DType::f64: return "Double";
    case DType::f32: return "Float";
    case DType::f16: return "Half";
    case DType::bf16: return "BFloat16";
    case DType::i64: return "Long";
    case DType::i32: return "Int";
    case DType::i16: return "Short";
    case DType::i8: return "Char";
    case DType::u8: return "Byte";
    case DType::boolean: return "Bool";
    case DType::c64: return "ComplexFloat";
    case DType::c128: return "ComplexDouble";
    default: return "";
  }
}

/// Emits the few pickle opcodes the tensor needs, numbering the memo as Python's pickler does.
class Pickle {
 public:
  void raw(std::string_view opcodes) { text_ += opcodes; }

  void global(std::string_view module, std::string_view name) {
    text_ += 'c';
    text_ += module;
    text_ += '\n';
    text_ += name;
    text_ += '\n';
    memo();
  }

  void text(std::string_view value) {
    text_ += 'X';
    little_endian(value.size(), 4);
    text_ += value;
    memo();
  }

  void integer(std::uint64_t value) {
    if (value < 0x100) {
      text_ += 'K';
      little_endian(value, 1);
    } else if (value < 0x10000) {
      text_ += 'M';
      little_endian(value, 2);
    } else if (value < 0x80000000) {
      text_ += 'J';
      little_endian(value, 4);
    } else {
      long_integer(value);
    }
  }

  void tuple(const tensor::Shape& values) {
    if (values.empty()) {
      text_ += ')';
      return;
    }
    if (values.size() > 3) {
      text_ += '(';
    }
    for (const std::uint64_t value : values) {
      integer(value);
    }
    constexpr std::string_view kTupleOpcodes = "\x85\x86\x87";
    text_ += values.size() > 3 ? 't' : kTupleOpcodes[values.size() - 1];
    memo();
  }

  void memo() {
    text_ += 'q';
    text_ += static_cast<char>(memo_++);
  }

  const std::string& result() const { return text_; }

 private:
  void little_endian(std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) {
      text_ += static_cast<char>(static_cast<unsigned char>((value >> (8 * i)) & 0xFF));
    }
  }

  /// Shortest two's complement, so a set top bit takes one more byte.
  void long_integer(std::uint64_t value) {
    unsigned bytes = 1;
    while (bytes < 8 && (value >> (8 * bytes - 1)) != 0) {
      ++bytes;
    }
    text_ += '\x8A';
    text_ += static_cast<char>(bytes);
    little_endian(value, bytes);
  }

  std::string text_ = "\x80\x02";
  unsigned char memo_ = 0;
};

tensor::Shape row_major_strides(const tensor::Shape& shape) {
  tensor::Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    // torch lets an axis of extent 0 count as 1 here.
    strides[i - 1] = strides[i] * (shape[i] == 0 ? 1 : shape[i]);
  }
  return strides;
}

std::string pickle_of(DType dtype, const tensor::Shape& shape, std::uint64_t count) {
  Pickle pickle;
  pickle.global("torch._utils", "_rebuild_tensor_v2");
  pickle.raw("((");
  pickle.text("storage");
  pickle.global("torch", std::string(storage_class(dtype)) + "Storage");
  pickle.text("0");
  pickle.text("cpu");
  pickle.integer(count);
  pickle.raw("t");
  pickle.memo();
  pickle.raw("Q");
  pickle.integer(0);
  pickle.tuple(shape);
  pickle.tuple(row_major_strides(shape));
  pickle.raw("\x89");
  pickle.global("collections", "OrderedDict");
  pickle.raw(")R");
  pickle.memo();
  pickle.raw("t");
  pickle.memo();
  pickle.raw("R");
  pickle.memo();
  pickle.raw(".");
  return pickle.result();
}

std::string stem_of(const std::string& path) {
  const std::string_view name = base_name(path);
  return std::string(name.substr(0, name.rfind('.')));
}

}  // namespace

Result<PtWriter> PtWriter::create(const std::string& path, DType dtype, const tensor::Shape& shape,
                                  const FileWriterOptions& options) {
  if (storage_class(dtype).empty()) {
    return Error{ErrorCode::unsupported_dtype,
                 "torch has no element type for " + std::string(tensor::name_of(dtype)), path};
  }
  OPDRIFT_TRY(const std::uint64_t count, in_file(tensor::element_count(shape), path));
  const std::optional<std::uint64_t> bytes = tensor::storage_bytes(dtype, count);
  if (!bytes) {
    return Error{ErrorCode::bad_shape, "expected a tensor of at most 2^63 bytes", path};
  }
  const std::string pickle = pickle_of(dtype, shape, count);
  OPDRIFT_TRY(ZipWriter zip, ZipWriter::create(path, ZipStyle::torch, options));
  PtWriter writer(std::move(zip), stem_of(path));
  OPDRIFT_CHECK_OK(writer.zip_.begin(writer.stem_ + "/data.pkl", pickle.size()));
  OPDRIFT_CHECK_OK(writer.zip_.write(pickle));
  OPDRIFT_CHECK_OK(writer.zip_.end());
  OPDRIFT_CHECK_OK(writer.zip_.begin(writer.stem_ + "/data/0", *bytes));
  return writer;
}

Status PtWriter::finish() {
  OPDRIFT_CHECK_OK(zip_.end());
  constexpr std::string_view kVersion = "3\n";
  OPDRIFT_CHECK_OK(zip_.begin(stem_ + "/version", kVersion.size()));
  OPDRIFT_CHECK_OK(zip_.write(kVersion));
  OPDRIFT_CHECK_OK(zip_.end());
  return zip_.finish();
}

Status write_pt(const std::string& path, const tensor::View& view,
                const FileWriterOptions& options) {
  OPDRIFT_TRY(PtWriter writer,
              PtWriter::create(path, view.tensor.desc.dtype, view.shape(), options));
  OPDRIFT_CHECK_OK(
      in_file(stream_view(view, [&writer](ByteSpan block) { return writer.write(block); }), path));
  return writer.finish();
}

}  // namespace opdrift::io
