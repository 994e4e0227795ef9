#include "opdrift/io/registry.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/atb.hpp"
#include "opdrift/io/ascend/dump.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/ascend/nano.hpp"
#include "opdrift/io/hdf5_reader.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/io/numpy/npz_reader.hpp"
#include "opdrift/io/raw_reader.hpp"
#include "opdrift/io/safetensors/reader.hpp"
#include "opdrift/io/tensor_proto_reader.hpp"
#include "opdrift/io/text_reader.hpp"
#include "opdrift/io/torch/torch_reader.hpp"

namespace opdrift::io {

namespace {

constexpr std::size_t kHeadBytes = 64;

constexpr Reader kReaders[] = {
    {"nano", "Ascend nano dump, inputs and outputs of one operator", &probe_ascend_nano,
     &open_ascend_nano, "opdrift info Conv2D.conv1.1.0.1614717262233160", true},
    {"npy", "NumPy array, one tensor per file", &probe_npy,
     [](const std::string& path) { return open_npy(path); }, "opdrift info a.npy", true},
    {"npz", "NumPy archive, one tensor per member", &probe_npz, &open_npz, "opdrift info a.npz",
     true},
    {"torch", "One tensor saved by torch, never executed", &probe_torch, &open_torch,
     "opdrift info a.pt", true},
    {"hdf5", "HDF5, one tensor per data set (PyTorch adapter dumps)", &probe_hdf5, &open_hdf5,
     "opdrift info dump.h5", true},
    {"safetensors", "Safetensors, tensors of a model by name", &probe_safetensors,
     &open_safetensors, "opdrift info model.safetensors", true},
    {"atb", "Ascend transformer-boost dump, text head and one tensor", &probe_ascend_atb,
     &open_ascend_atb, "opdrift info outtensor0.bin"},
    {"raw", "Raw elements; type and shape from the name or a sidecar", &probe_raw,
     [](const std::string& path) { return open_raw(path); },
     "opdrift info f.output.0.2_3.float16.NCHW.bin"},
    {"onnx", "ONNX TensorProto, one tensor per file", &probe_tensor_proto, &open_tensor_proto,
     "opdrift info input_0.pb"},
    {"text", "Numbers as text, separated by blanks", &probe_text, &open_text, "opdrift info a.txt"},
    {"ascend", "Ascend dump, all tensors of one operator", &probe_ascend_dump, &open_ascend_dump,
     "opdrift info Conv2D.conv1.3.2.1614717262233160"},
};

/// The first bytes of a file, without mapping it.
struct Head {
  std::array<std::byte, kHeadBytes> bytes{};
  std::size_t count = 0;
  std::uint64_t file_size = 0;

  ByteSpan span() const { return ByteSpan(bytes).first(count); }
};

Result<Head> read_head(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return system_error(errno, "open", path);
  }
  struct stat info {};
  Head head;
  ssize_t got = 0;
  const bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (regular) {
    got = ::pread(fd, head.bytes.data(), kHeadBytes, 0);
  }
  const int error_number = errno;
  ::close(fd);
  if (!regular) {
    return Error{ErrorCode::wrong_kind, "expected a regular file", path};
  }
  if (got < 0) {
    return system_error(error_number, "read", path);
  }
  head.count = static_cast<std::size_t>(got);
  head.file_size = static_cast<std::uint64_t>(info.st_size);
  return head;
}

bool is_ascend_name(std::string_view name) {
  return match_name(NamePattern::offline, name) || match_name(NamePattern::standard, name) ||
         match_name(NamePattern::quant, name);
}

const Reader* choose(const Head& head, std::string_view name) {
  for (const Reader& reader : kReaders) {
    if (reader.has_magic && reader.probe(head.span(), head.file_size, "")) {
      return &reader;
    }
  }
  for (const Reader& reader : kReaders) {
    if (reader.probe(head.span(), head.file_size, name)) {
      return &reader;
    }
  }
  return is_ascend_name(name) ? &kReaders[std::size(kReaders) - 1] : nullptr;
}

}  // namespace

std::span<const Reader> readers() {
  return kReaders;
}

Result<const Reader*> find_reader(const std::string& path) {
  OPDRIFT_TRY(const Head head, read_head(path));
  const Reader* reader = choose(head, base_name(path));
  if (reader == nullptr) {
    return Error{
        ErrorCode::unsupported,
        head.file_size == 0
            ? "expected a dump, found an empty file"
            : "expected a dump of a known format, found bytes that begin with '" +
                  printable(as_text(head.span().first(std::min<std::size_t>(head.count, 8)))) + "'",
        path};
  }
  return reader;
}

Result<FileDump> open_file(const std::string& path) {
  OPDRIFT_TRY(const Reader* reader, find_reader(path));
  return reader->open(path);
}

}  // namespace opdrift::io
