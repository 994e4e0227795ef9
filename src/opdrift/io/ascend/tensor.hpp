#pragma once

#include <optional>

#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/tensor/tensor.hpp"

/// How shape, element type and byte count of an Ascend tensor fit together. P = product of the
/// dims (1 without dims), B = bytes at hand, e = bytes per element:
///
///   type UNDEFINED         the shape is the byte count, elements are int8
///   a dim is 0             empty, whatever the type
///   type without decoder   problem unsupported_dtype
///   no dims                one element, the first; without bytes the shape is (0,)
///   B >= P*e               P elements, the rest is ignored
///   B < P*e, multiple of e readable as B/e flat elements, not in its shape (no problem is set;
///                          tensor::stored_view reports data_mismatch)
///   B < P*e otherwise      problem malformed
namespace opdrift::io {

/// Sets number and element type of a description from an Ascend type number.
void set_ascend_dtype(tensor::TensorDesc& desc, int number);

/// Applies the rules above to a tensor whose description, size and bytes are known.
void settle_ascend_tensor(FileTensor& file_tensor);

/// True for the type numbers the reference tool has a decoder for. opdrift decodes more.
bool reference_decodes(int ascend_number);

/// The first reason for which the reference refuses a whole file: payload shorter than promised,
/// then undecodable outputs, then inputs; for nano dumps also a file name of fewer than five parts
/// and a tensor name outside ASCII. Nothing when it would read the file.
std::optional<Error> first_problem(const FileDump& dump);

}  // namespace opdrift::io
