#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Data of constant tensors. TensorProto keeps it in one of
///
///   9 raw_data      little-endian elements, 4-bit types two to a byte, low half first
///   4 float_data    float, complex64      10 double_data  double, complex128
///   5 int32_data    8- and 16-bit integers, bool, and the bit patterns of 16- and 8-bit floats
///   7 int64_data    int64                 11 uint64_data  uint32, uint64
///   6 string_data   text
///   an external file, `length` bytes at `offset`
namespace opdrift::io::onnx {

/// TensorProto.DataType to ours; nothing for unknown numbers.
std::optional<tensor::DType> dtype_of(int data_type);

/// TensorProto.DataType of ours, 0 when ONNX has none.
int data_type_of(tensor::DType dtype);

/// Brings in a constant. raw_data and external data are mapped, the typed fields copied.
///
/// `model_folder` is where external data is looked for; its location is relative and may not leave
/// that folder, neither by `..` nor through a symbolic link. Fails with unsupported_dtype (unknown
/// types, text), data_mismatch (bytes and shape do not agree), invalid_argument (location outside),
/// not_found and the like for the external file.
Result<tensor::Tensor> load(const Tensor& tensor, const std::string& model_folder);

/// The path of an external file, checked as `load` does.
Result<std::string> external_path(const std::string& location, const std::string& model_folder);

/// The folder of a model file, "." when the path names none.
std::string folder_of_model(const std::string& model_path);

/// The same constant under another name; raw data are named, not copied. Fails as reading the
/// message does.
Result<Tensor> renamed(const Tensor& source, std::string name);

/// A constant of text.
Tensor make_text_tensor(std::string name, const tensor::Shape& shape,
                        const std::vector<std::string>& texts);

/// A constant like `source` whose data lies in an external file.
Tensor make_external_tensor(const Tensor& source, const std::string& location, std::uint64_t offset,
                            std::uint64_t length);

/// A constant like `source` with raw data that are named, not copied.
Tensor make_inner_tensor(const Tensor& source, std::string name, Bytes data);

/// A constant with a copy of `bytes`, which are as raw_data wants them.
Tensor make_tensor(std::string name, tensor::DType dtype, const tensor::Shape& shape,
                   ByteSpan bytes);

}  // namespace opdrift::io::onnx
