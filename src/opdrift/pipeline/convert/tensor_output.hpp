#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

/// One tensor on its way out of a dump: elements in a type every reader knows, in blocks.
///
///   stored                        written
///   undefined, resource           int8, int64 (same bits)
///   bfloat16                      float32 (exact)
///   floats of one byte or less    float64 (exact)
///   int4 int2, uint4 uint2 uint1  int8, uint8
///   complex32                     complex64 (exact)
///   anything else                 as stored, bit for bit
namespace opdrift::pipeline {

enum class OutputFile : std::uint8_t { npy, bin, pt };

/// File extension with its dot.
std::string_view extension_of(OutputFile kind);

/// The type elements of `dtype` are written in.
tensor::DType written_dtype(tensor::DType dtype);

/// An array to write. `shape` has as many elements as the view; files keep it, whatever the axes
/// of the view are.
struct OutputArray {
  tensor::View view;
  tensor::DType dtype = tensor::DType::f32;  ///< of the written elements
  tensor::Shape shape;
  /// The view is column-major, and npy files are to say so instead of reordering the elements.
  bool fortran_order = false;
};

/// The array of a view, with the shape of its axes.
OutputArray output_array(tensor::View view);

/// An array without elements. An extent of 0 makes it float64 whatever the stored type, as NumPy
/// does; a tensor without dims and bytes keeps its type.
OutputArray empty_array(const tensor::TensorDesc& desc);

/// Hands all elements in logical order to `sink`, converted, in blocks of at most 4 MiB, one block
/// at a time. With several threads they prepare a block each and take turns at the sink.
Status stream_elements(const OutputArray& array, const std::function<Status(ByteSpan)>& sink,
                       std::size_t threads = 1);

/// Writes one file, which appears whole or not at all. Fails with unsupported_dtype (torch lacks
/// the type) or as io::FileWriter and stream_elements do.
Status write_array(const std::string& path, OutputFile kind, const OutputArray& array,
                   std::size_t threads = 1);

/// Writes bytes as they are.
Status write_bytes(const std::string& path, ByteSpan bytes);

}  // namespace opdrift::pipeline
