#include <algorithm>
#include <array>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/debug.hpp"
#include "opdrift/io/ascend/dump.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/ascend/nano.hpp"
#include "opdrift/io/ascend/slices.hpp"
#include "opdrift/io/ascend/tensor.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_header.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/pipeline/convert/convert.hpp"
#include "opdrift/pipeline/convert/layout.hpp"
#include "opdrift/pipeline/convert/names.hpp"
#include "opdrift/pipeline/convert/tensor_output.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::pipeline {

namespace {

using io::FileTensor;
using io::TensorRole;

constexpr std::uint64_t kLargeFileBytes = std::uint64_t{1} << 30;
constexpr std::size_t kReferenceMaxRank = 32;
constexpr std::size_t kHeadBytes = 64;

bool is_empty(const tensor::Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

std::string label(TensorRole role, std::uint32_t index) {
  return std::string(io::to_string(role)) + " " + std::to_string(index);
}

/// What the reference refuses about a NumPy file although NumPy reads it.
std::optional<Error> npy_problem(const io::FileDump& dump, ByteSpan file) {
  const FileTensor& array = dump.tensors.front();
  const Result<io::NpyHeader> header = io::parse_npy_header(file);
  if (header && header->kind == 'O') {
    return Error{ErrorCode::malformed, "expected numbers, found pickled objects", dump.path};
  }
  if (array.problem) {
    return array.problem;
  }
  if (array.desc.big_endian || array.desc.dtype == tensor::DType::raw) {
    return Error{ErrorCode::unsupported_dtype, "expected little-endian numbers", dump.path};
  }
  return std::nullopt;
}

Result<io::FileDump> open_npy_for_convert(const std::string& path, const Bytes& file,
                                          bool reference) {
  OPDRIFT_TRY(io::FileDump dump, io::open_npy(path));
  if (reference) {
    if (const std::optional<Error> problem = npy_problem(dump, file.span)) {
      return *problem;
    }
  }
  return dump;
}

/// The elements of a tensor in its stored shape. One without dims is written as one element, which
/// NumPy files give a dim and torch files do not.
Result<OutputArray> plain_array(const FileTensor& source, ConvertType type, bool reference) {
  const tensor::TensorDesc& desc = source.desc;
  if (is_empty(desc.shape)) {
    return empty_array(desc);
  }
  OPDRIFT_TRY(const tensor::Tensor loaded, io::load_tensor(source));
  if (desc.shape.empty()) {
    OPDRIFT_TRY(tensor::View view, tensor::flat_view(loaded, 1));
    OutputArray array = output_array(std::move(view));
    array.shape = type == ConvertType::pt ? tensor::Shape{} : array.shape;
    return array;
  }
  if (reference && desc.shape.size() > kReferenceMaxRank) {
    return Error{ErrorCode::data_mismatch,
                 "expected at most 32 dims, found " + std::to_string(desc.shape.size())};
  }
  OPDRIFT_TRY(tensor::View view, tensor::stored_view(loaded));
  if (desc.dtype == tensor::DType::u1 && view.count() != loaded.bytes.size() * 8) {
    return Error{ErrorCode::data_mismatch, "expected " + std::to_string(view.count()) +
                                               " bits, found " +
                                               std::to_string(loaded.bytes.size() * 8)};
  }
  return output_array(std::move(view));
}

/// Blocks and records count as not written whatever the system's reason was.
Status as_write_failure(Status status) {
  if (!status) {
    status.error().code = ErrorCode::write_failed;
  }
  return status;
}

/// Converts one file; the notices and results of a single call to convert_file.
class FileConverter {
 public:
  FileConverter(const std::string& path, const ConvertOptions& options, std::string_view real_name)
      : options_(options),
        name_(io::base_name(path)),
        holds_records_(io::is_debug_file_name(real_name.empty() ? name_ : real_name)) {
    result_.path = path;
  }

  FileConversion run() {
    const Status status = convert();
    if (!status) {
      notify(NoticeLevel::error, status.error().to_string());
      result_.error = status.error();
    }
    return std::move(result_);
  }

 private:
  void notify(NoticeLevel level, const std::string& text) const {
    if (options_.notice) {
      options_.notice(level, text);
    }
  }

  Status convert() {
    OPDRIFT_TRY(dump_, open_for_convert(result_.path, options_.reference));
    warn_when_large();
    for (const std::string& warning : dump_.warnings) {
      notify(NoticeLevel::error, result_.path + ": " + warning);
    }
    if (options_.reference) {
      if (const std::optional<Error> problem = io::first_problem(dump_)) {
        return *problem;
      }
    }
    if (options_.format) {
      return convert_to_format();
    }
    if (holds_records_) {
      return write_debug_records();
    }
    Status sliced = io::apply_slice_shapes(dump_, result_.path);
    if (!sliced && options_.reference) {
      return sliced;
    }
    if (!sliced) {
      notify(NoticeLevel::warning, sliced.error().to_string());
    }
    OPDRIFT_CHECK_OK(write_tensors());
    return write_blocks();
  }

  void warn_when_large() const {
    std::uint64_t bytes = 0;
    for (const FileTensor& file_tensor : dump_.tensors) {
      bytes += file_tensor.bytes.size();
    }
    if (bytes > kLargeFileBytes) {
      notify(NoticeLevel::warning, result_.path + ": the file is larger than 1 GiB");
    }
  }

  Status write_debug_records() {
    for (const FileTensor* output : dump_.of(TensorRole::output)) {
      OPDRIFT_TRY(const tensor::Tensor loaded, io::load_tensor(*output));
      const Result<io::DebugRecord> record = io::parse_debug_record(loaded.bytes.span);
      if (!record) {
        result_.in_debug_record = true;
        return io::in_file(record.error(), result_.path);
      }
      for (const std::string& warning : record->warnings) {
        notify(NoticeLevel::error, result_.path + ": " + warning);
      }
      const std::string name = name_ + ".output." + std::to_string(output->index) + ".json";
      OPDRIFT_CHECK_OK(as_write_failure(
          write_bytes(options_.output_folder + "/" + name, as_bytes(io::to_json(*record)))));
      wrote(name);
    }
    return Unit{};
  }

  Status write_tensors() {
    for (const TensorRole role : {TensorRole::input, TensorRole::output}) {
      const std::vector<const FileTensor*> tensors = dump_.of(role);
      if (tensors.empty()) {
        notify(NoticeLevel::warning,
               result_.path + ": there is no " + std::string(io::to_string(role)));
      }
      for (const FileTensor* source : tensors) {
        OPDRIFT_CHECK_OK(write_plain(*source));
      }
    }
    return Unit{};
  }

  /// Only a tensor that cannot be named ends the file, and only as the reference does it.
  Status write_plain(const FileTensor& source) {
    notify(NoticeLevel::info, "writing " + label(source.role, source.index));
    Result<OutputArray> array = plain_array(source, options_.type, options_.reference);
    if (!array) {
      fail(source, array.error());
      return Unit{};
    }
    const Result<std::string> name =
        tensor_file_name(options_.type, name_parts(source, array->shape, source.desc.format));
    if (!name && options_.reference) {
      return io::in_file(name.error(), result_.path);
    }
    const Status saved = name ? save(*array, *name) : Status(name.error());
    if (!saved) {
      fail(source, saved.error());
    }
    return Unit{};
  }

  Status write_blocks() {
    constexpr std::array<std::pair<TensorRole, std::string_view>, 2> kBlocks = {
        {{TensorRole::buffer, "l1buffer"}, {TensorRole::space, "space"}}};
    for (const auto& [role, word] : kBlocks) {
      const std::vector<const FileTensor*> blocks = dump_.of(role);
      if (blocks.empty()) {
        notify(NoticeLevel::warning,
               result_.path + ": there is no " + std::string(io::to_string(role)));
      }
      for (const FileTensor* block : blocks) {
        const std::string name =
            name_ + "." + std::string(word) + "." + std::to_string(block->index) + ".bin";
        OPDRIFT_TRY(const tensor::Tensor loaded, io::load_tensor(*block));
        OPDRIFT_CHECK_OK(as_write_failure(place(name, ".bin", [&](const std::string& path) {
          return write_bytes(path, loaded.bytes.span);
        })));
      }
    }
    return Unit{};
  }

  Status convert_to_format() {
    if (options_.only_output || options_.only_input) {
      return convert_only(options_.only_output ? TensorRole::output : TensorRole::input,
                          options_.only_output ? *options_.only_output : *options_.only_input);
    }
    std::optional<Error> last;
    for (const TensorRole role : {TensorRole::input, TensorRole::output}) {
      for (const FileTensor* source : dump_.of(role)) {
        const Status status = convert_tensor(*source);
        if (!status) {
          fail(*source, status.error());
          last = io::in_file(status.error(), result_.path);
          if (options_.type == ConvertType::msnpy) {
            write_unconverted(*source);
          }
        }
      }
    }
    result_.error = last;
    return Unit{};
  }

  /// msnpy keeps a tensor that could not be converted, under its stored format.
  void write_unconverted(const FileTensor& source) {
    const Result<OutputArray> array = plain_array(source, options_.type, options_.reference);
    const Result<std::string> name =
        tensor_file_name(options_.type, name_parts(source, {}, source.desc.format));
    const Status saved = !array  ? Status(array.error())
                         : !name ? Status(name.error())
                                 : save(*array, *name);
    if (!saved) {
      notify(NoticeLevel::error, saved.error().to_string());
    }
  }

  Status convert_only(TensorRole role, std::uint32_t index) {
    const std::vector<const FileTensor*> tensors = dump_.of(role);
    if (index >= tensors.size()) {
      return Error{ErrorCode::out_of_range,
                   std::string(io::to_string(role)) + ": expected an index below " +
                       std::to_string(tensors.size()) + ", found " + std::to_string(index),
                   result_.path};
    }
    return io::in_file(convert_tensor(*tensors[index]), result_.path);
  }

  /// What cannot be written is only noted; what cannot be converted is the result.
  Status convert_tensor(const FileTensor& source) {
    notify(NoticeLevel::info, "converting " + label(source.role, source.index));
    OPDRIFT_TRY(
        const LayoutResult layout,
        convert_tensor_layout(source, *options_.format, options_.shape.value_or(tensor::Shape{})));
    for (const std::string& warning : layout.warnings) {
      notify(NoticeLevel::warning, label(source.role, source.index) + ": " + warning);
    }
    if (layout.crop_problem) {
      notify(NoticeLevel::error, label(source.role, source.index) + ": " + *layout.crop_problem);
    }
    OPDRIFT_TRY(
        const std::string name,
        tensor_file_name(options_.type, name_parts(source, layout.array.shape, layout.format)));
    const Status saved = save(layout.array, name);
    if (!saved) {
      fail(source, saved.error());
    }
    return Unit{};
  }

  NameParts name_parts(const FileTensor& source, const tensor::Shape& shape,
                       tensor::Format format) const {
    return {.dump_name = name_,
            .op_name = msnpy_op_name(),
            .role = source.role,
            .index = source.index,
            .shape = shape,
            .desc = source.desc,
            .format = format,
            .converted = options_.format.has_value(),
            .reference = options_.reference};
  }

  /// The reference takes the fifth part of a nano dump's file name for its operator's name, and
  /// msnpy names of existing results depend on it.
  std::string_view msnpy_op_name() const {
    if (dump_.format != "nano") {
      return dump_.op_name;
    }
    const std::vector<std::string_view> parts = split(name_, '.');
    return parts.size() > 4 ? parts[4] : std::string_view();
  }

  Status save(const OutputArray& array, const std::string& name) {
    const OutputFile kind = file_kind(options_.type);
    return place(name, extension_of(kind), [&](const std::string& path) {
      return write_array(path, kind, array, worker_count(options_.threads));
    });
  }

  /// Writes a file under its name, or under a short one that mapping.csv lists.
  template <typename Write>
  Status place(const std::string& name, std::string_view extension, const Write& write) {
    const bool too_long = io::is_too_long(name);
    const std::string on_disk = too_long ? io::short_name(name, extension) : name;
    OPDRIFT_CHECK_OK(write(options_.output_folder + "/" + on_disk));
    if (too_long) {
      OPDRIFT_CHECK_OK(io::append_name_mapping(options_.output_folder, on_disk, name));
    }
    wrote(on_disk);
    return Unit{};
  }

  void wrote(const std::string& name) {
    notify(NoticeLevel::info, "wrote " + options_.output_folder + "/" + name);
    result_.written.push_back(name);
  }

  void fail(const FileTensor& source, const Error& error) {
    notify(NoticeLevel::error,
           result_.path + ": " + label(source.role, source.index) + ": " + error.to_string());
    result_.failures.push_back({source.role, source.index, error});
  }

  const ConvertOptions& options_;
  std::string name_;
  bool holds_records_;
  io::FileDump dump_;
  FileConversion result_;
};

}  // namespace

Result<io::FileDump> open_for_convert(const std::string& path, bool reference) {
  OPDRIFT_TRY(const Bytes file, map_file(path));
  const ByteSpan head = file.span.first(std::min(kHeadBytes, file.size()));
  if (io::probe_ascend_nano(head, file.size(), path)) {
    return io::parse_ascend_nano(file, path);
  }
  if (file.size() > 0 && (path.ends_with(".npy") || io::is_npy(head))) {
    return open_npy_for_convert(path, file, reference);
  }
  return io::parse_ascend_dump(file, path);
}

FileConversion convert_file(const std::string& path, const ConvertOptions& options,
                            std::string_view real_name) {
  return FileConverter(path, options, real_name).run();
}

}  // namespace opdrift::pipeline
