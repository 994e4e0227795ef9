#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"

/// HDF5 files (`.h5`), above all dumps of the PyTorch adapter. The bytes are described in
/// io/hdf5/*.hpp; the dump is a tree of groups:
///
///   /<op>/<order>/('input' | 'output')[/<group>...]/<name>      order = decimal number
///
/// Its data sets carry integer attributes: Type (0 tensor, 1 list of tensors, 2 list of int64,
/// 3 int64, 4 bool, 5 double, 6 scalar, ...), DataType (1 float, 2 byte, 3 char, 5 short, 6 int,
/// 7 long, 9 bool, 10 half, 11 double), DeviceType (0 CPU, 1 GPU, 10 NPU), FormatType, Stride.
///
/// Every data set of the file becomes a tensor, named by its path ("/Add/7/input/other"), role by
/// the third part of it, else output. Contiguous data are mapped in place, chunked ones unpacked
/// when loaded. The Stride of a CPU or GPU tensor becomes its strides when it is usable: one stride
/// per axis, reaching no further than the data. Attributes are kept as text, lists with commas.
///
/// Read without the HDF5 library: that would not survive damaged files, could not map data in
/// place, and costs more start-up time than all of opdrift. Written from the specification; dense
/// groups and the newer chunk indices are refused by name.
namespace opdrift::io {

bool probe_hdf5(ByteSpan head, std::uint64_t file_size, std::string_view file_name);

/// Fails with malformed, truncated, unsupported, limit, or what mapping a file may fail with. What
/// is wrong with one data set is that tensor's `problem`.
Result<FileDump> open_hdf5(const std::string& path);

/// The same over bytes that are already there; `path` is only named in the result.
Result<FileDump> parse_hdf5(Bytes file, const std::string& path);

/// The parts of a tensor's name in a PyTorch adapter dump.
struct TorchTensorName {
  std::string op;
  std::uint64_t order = 0;
  TensorRole role = TensorRole::output;
  std::string name;  ///< what follows input or output, "group/name" when nested
};

std::optional<TorchTensorName> parse_torch_tensor_name(std::string_view name);

/// The value of a tensor's attribute as a number; nothing when absent or no number.
std::optional<std::int64_t> attribute_number(const FileTensor& tensor, std::string_view name);

}  // namespace opdrift::io
