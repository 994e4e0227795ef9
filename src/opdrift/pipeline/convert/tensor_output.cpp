#include "opdrift/pipeline/convert/tensor_output.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/io/torch/pt_writer.hpp"
#include "opdrift/io/view_stream.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::pipeline {

namespace {

using tensor::DType;

constexpr unsigned kPrivateMode = 0600;
constexpr unsigned kDefaultMode = 0666;
constexpr std::uint64_t kBlockElements = std::uint64_t{1} << 19;
constexpr std::size_t kMappedBlockBytes = std::size_t{4} << 20;
constexpr std::size_t kLeastMappedBytes = std::size_t{8} << 20;
constexpr std::size_t kMostMappedBytes = std::size_t{1} << 30;
constexpr std::uint64_t kLeastBlocksForThreads = 4;

/// Converts blocks of elements from the stored to the written type.
class ElementConverter {
 public:
  ElementConverter(DType from, DType to) : from_(from), to_(to) {}

  /// `first` and `count` are element positions in `data`.
  ByteSpan convert(const std::byte* data, std::uint64_t first, std::uint64_t count) {
    switch (to_) {
      case DType::f32: return to_floats(from_, data, first, count);
      case DType::c64: return to_floats(DType::f16, data, 2 * first, 2 * count);
      case DType::f64: return to_doubles(data, first, count);
      default: return to_integers(data, first, count);
    }
  }

 private:
  ByteSpan to_floats(DType from, const std::byte* data, std::uint64_t first, std::uint64_t count) {
    floats_.resize(static_cast<std::size_t>(count));
    tensor::decode_to_float(from, data, first, count, floats_.data());
    return std::as_bytes(std::span<const float>(floats_));
  }
  ByteSpan to_doubles(const std::byte* data, std::uint64_t first, std::uint64_t count) {
    doubles_.resize(static_cast<std::size_t>(count));
    tensor::decode_to_double(from_, data, first, count, doubles_.data());
    return std::as_bytes(std::span<const double>(doubles_));
  }
  ByteSpan to_integers(const std::byte* data, std::uint64_t first, std::uint64_t count) {
    to_doubles(data, first, count);
    bytes_.assign(static_cast<std::size_t>(count), std::byte{0});
    tensor::encode(to_, doubles_.data(), count, bytes_.data());
    return {bytes_.data(), bytes_.size()};
  }

  DType from_;
  DType to_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::vector<std::byte> bytes_;
};

bool same_bits(DType from, DType to) {
  return from == to || from == DType::undefined || from == DType::resource;
}

/// Packed elements have no bytes of their own; only their stored order can be walked.
Status stream_packed(const OutputArray& array, const std::function<Status(ByteSpan)>& sink) {
  if (!array.view.contiguous() || array.view.offset != 0) {
    return Error{ErrorCode::unsupported_dtype,
                 "elements of " + std::string(tensor::name_of(array.view.tensor.desc.dtype)) +
                     " cannot be moved one by one"};
  }
  ElementConverter converter(array.view.tensor.desc.dtype, array.dtype);
  const std::uint64_t count = array.view.count();
  for (std::uint64_t first = 0; first < count; first += kBlockElements) {
    OPDRIFT_CHECK_OK(sink(converter.convert(array.view.tensor.bytes.span.data(), first,
                                            std::min(kBlockElements, count - first))));
  }
  return Unit{};
}

/// The stored bytes are the written ones.
Status stream_in_place(const tensor::View& view, const std::function<Status(ByteSpan)>& sink) {
  const std::size_t item = tensor::info(view.tensor.desc.dtype).bits / 8;
  ByteSpan rest = view.tensor.bytes.span.subspan(static_cast<std::size_t>(view.offset) * item,
                                                 static_cast<std::size_t>(view.count()) * item);
  while (!rest.empty()) {
    const std::size_t size = std::min(rest.size(), kMappedBlockBytes);
    OPDRIFT_CHECK_OK(sink(rest.first(size)));
    rest = rest.subspan(size);
  }
  return Unit{};
}

/// Maps the pages of a tensor that will be read out of order. One call for many pages costs a
/// fraction of the page faults it saves; files too large for the page cache are left alone.
void map_pages(ByteSpan bytes, std::size_t threads) {
#ifdef MADV_POPULATE_READ
  if (bytes.size() < kLeastMappedBytes || bytes.size() > kMostMappedBytes) {
    return;
  }
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(bytes.data()) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size();
  const std::size_t chunks = (end - begin + kLeastMappedBytes - 1) / kLeastMappedBytes;
  parallel_for(chunks, threads, [&](std::size_t i) {
    const std::uintptr_t from = begin + i * kLeastMappedBytes;
    // A refusal only means that the pages fault one by one.
    ::madvise(reinterpret_cast<void*>(from),  // NOLINT: an address of the mapping
              std::min<std::size_t>(kLeastMappedBytes, end - from), MADV_POPULATE_READ);
  });
#else
  static_cast<void>(bytes);
  static_cast<void>(threads);
#endif
}

/// Gathers and converts blocks of a view on several threads. Each thread hands its block to the
/// sink when all blocks before it are through, so the sink sees them in order and one at a time.
class BlockStream {
 public:
  BlockStream(const OutputArray& array, const std::function<Status(ByteSpan)>& sink)
      : array_(array),
        sink_(sink),
        item_(tensor::info(array.view.tensor.desc.dtype).bits / 8),
        count_(array.view.count()),
        block_count_((count_ + kBlockElements - 1) / kBlockElements) {}

  Status run(std::size_t threads) {
    const bool small = block_count_ < kLeastBlocksForThreads;
    const std::size_t workers = small ? 1 : std::max<std::size_t>(1, threads);
    parallel_for(workers, workers, [this](std::size_t) { work(); });
    return failure_ ? Status(*failure_) : Status(Unit{});
  }

 private:
  void work() {
    try {
      ElementConverter converter(array_.view.tensor.desc.dtype, array_.dtype);
      std::vector<std::byte> gathered;
      for (std::uint64_t i = next_.fetch_add(1); i < block_count_; i = next_.fetch_add(1)) {
        if (!hand_over(i, fill(i, gathered, converter))) {
          return;
        }
      }
    } catch (...) {
      stop(Error{ErrorCode::out_of_memory, "a block could not be prepared"});
      throw;
    }
  }

  ByteSpan fill(std::uint64_t index, std::vector<std::byte>& gathered,
                ElementConverter& converter) const {
    const std::uint64_t first = index * kBlockElements;
    const std::uint64_t count = std::min(kBlockElements, count_ - first);
    gathered.resize(static_cast<std::size_t>(count * item_));
    tensor::gather(array_.view, first, count, gathered.data());
    const bool as_is = same_bits(array_.view.tensor.desc.dtype, array_.dtype);
    return as_is ? ByteSpan(gathered) : converter.convert(gathered.data(), 0, count);
  }

  /// False when there is no point in going on.
  bool hand_over(std::uint64_t index, ByteSpan block) {
    std::unique_lock<std::mutex> lock(mutex_);
    turn_changed_.wait(lock, [&] { return turn_ == index || failure_; });
    if (failure_) {
      return false;
    }
    Status taken = sink_(block);
    if (!taken) {
      failure_ = std::move(taken).error();
    }
    ++turn_;
    turn_changed_.notify_all();
    return !failure_;
  }

  void stop(Error error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    failure_ = failure_ ? failure_ : std::optional(std::move(error));
    turn_changed_.notify_all();
  }

  const OutputArray& array_;
  const std::function<Status(ByteSpan)>& sink_;
  std::uint64_t item_;
  std::uint64_t count_;
  std::uint64_t block_count_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable turn_changed_;
  std::uint64_t turn_ = 0;
  std::optional<Error> failure_;
};

/// The view with its axes in reverse order: column-major becomes row-major.
OutputArray transposed(const OutputArray& array) {
  OutputArray reversed = array;
  std::reverse(reversed.view.axes.begin(), reversed.view.axes.end());
  return reversed;
}

Status write_npy_array(const std::string& path, const OutputArray& array, std::size_t threads) {
  const bool fortran =
      array.fortran_order && array.view.count() > 0 && tensor::column_major(array.view);
  const io::NpyWriteOptions options{
      .fortran_order = fortran, .raw_extension_types = false, .file = {.mode = kPrivateMode}};
  OPDRIFT_TRY(io::NpyWriter writer, io::NpyWriter::create(path, array.dtype, array.shape, options));
  OPDRIFT_CHECK_OK(stream_elements(
      fortran ? transposed(array) : array, [&](ByteSpan block) { return writer.write(block); },
      threads));
  return writer.finish();
}

Status write_bin_array(const std::string& path, const OutputArray& array, std::size_t threads) {
  OPDRIFT_TRY(io::FileWriter writer, io::FileWriter::create(path, {.mode = kPrivateMode}));
  OPDRIFT_CHECK_OK(stream_elements(
      array, [&](ByteSpan block) { return writer.write(block); }, threads));
  return writer.commit();
}

Status write_pt_array(const std::string& path, const OutputArray& array, std::size_t threads) {
  OPDRIFT_TRY(io::PtWriter writer,
              io::PtWriter::create(path, array.dtype, array.shape, {.mode = kDefaultMode}));
  OPDRIFT_CHECK_OK(stream_elements(
      array, [&](ByteSpan block) { return writer.write(block); }, threads));
  return writer.finish();
}

}  // namespace

std::string_view extension_of(OutputFile kind) {
  switch (kind) {
    case OutputFile::npy: return ".npy";
    case OutputFile::bin: return ".bin";
    case OutputFile::pt: return ".pt";
  }
  return ".npy";
}

DType written_dtype(DType dtype) {
  switch (dtype) {
    case DType::undefined:
    case DType::i4:
    case DType::i2: return DType::i8;
    case DType::u4:
    case DType::u2:
    case DType::u1: return DType::u8;
    case DType::resource: return DType::i64;
    case DType::bf16: return DType::f32;
    case DType::c32: return DType::c64;
    case DType::e5m2:
    case DType::e4m3fn:
    case DType::e8m0:
    case DType::hif8:
    case DType::e3m2:
    case DType::e2m3:
    case DType::e2m1:
    case DType::e1m2: return DType::f64;
    default: return dtype;
  }
}

OutputArray output_array(tensor::View view) {
  const DType dtype = written_dtype(view.tensor.desc.dtype);
  tensor::Shape shape = view.shape();
  return {std::move(view), dtype, std::move(shape)};
}

OutputArray empty_array(const tensor::TensorDesc& desc) {
  const DType dtype = desc.has_shape ? DType::f64 : desc.dtype;
  OutputArray array;
  array.view.tensor.desc.dtype = dtype;
  array.view.axes.push_back({.extent = 0, .inner = 1, .outer_stride = 1, .inner_stride = 0});
  array.dtype = written_dtype(dtype);
  array.shape = desc.shape;
  return array;
}

Status stream_elements(const OutputArray& array, const std::function<Status(ByteSpan)>& sink,
                       std::size_t threads) {
  const DType stored = array.view.tensor.desc.dtype;
  if (array.view.count() == 0) {
    return Unit{};
  }
  if (tensor::info(stored).bits % 8 != 0) {
    return stream_packed(array, sink);
  }
  OPDRIFT_CHECK_OK(io::stream_bytes(array.view));
  const bool in_place = same_bits(stored, array.dtype) && array.view.contiguous() &&
                        !array.view.tensor.desc.big_endian;
  if (in_place) {
    return stream_in_place(array.view, sink);
  }
  map_pages(array.view.tensor.bytes.span, threads);
  return BlockStream(array, sink).run(threads);
}

Status write_array(const std::string& path, OutputFile kind, const OutputArray& array,
                   std::size_t threads) {
  Status status = Unit{};
  switch (kind) {
    case OutputFile::npy: status = write_npy_array(path, array, threads); break;
    case OutputFile::bin: status = write_bin_array(path, array, threads); break;
    case OutputFile::pt: status = write_pt_array(path, array, threads); break;
  }
  return io::in_file(std::move(status), path);
}

Status write_bytes(const std::string& path, ByteSpan bytes) {
  OPDRIFT_TRY(io::FileWriter writer, io::FileWriter::create(path, {.mode = kPrivateMode}));
  OPDRIFT_CHECK_OK(writer.write(bytes));
  return writer.commit();
}

}  // namespace opdrift::pipeline
