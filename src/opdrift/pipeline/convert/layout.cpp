#include "opdrift/pipeline/convert/layout.hpp"

#include <algorithm>
#include <utility>

#include "opdrift/tensor/align.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/layout.hpp"

namespace opdrift::pipeline {

namespace {

bool is_empty(const tensor::Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

/// An extent of 0 makes a float64 array, whatever the type number says.
Result<tensor::Tensor> load(const io::FileTensor& source) {
  if (!is_empty(source.desc.shape)) {
    return io::load_tensor(source);
  }
  tensor::Tensor empty;
  empty.desc = source.desc;
  empty.desc.dtype = source.desc.has_shape ? tensor::DType::f64 : source.desc.dtype;
  empty.desc.strides.clear();
  return empty;
}

/// Bits are whole bytes in these files: a shape of fewer bits does not describe the data.
Status check_bits(const tensor::Tensor& tensor, const tensor::View& view) {
  if (tensor.desc.dtype == tensor::DType::u1 && view.count() != tensor.bytes.size() * 8) {
    return Error{ErrorCode::malformed, "expected " + std::to_string(view.count()) +
                                           " bits, found " +
                                           std::to_string(tensor.bytes.size() * 8)};
  }
  return Unit{};
}

}  // namespace

Result<LayoutResult> convert_tensor_layout(const io::FileTensor& source, tensor::Format format,
                                           const tensor::Shape& target_shape) {
  LayoutResult result;
  if (tensor::effective_format(source.desc) != source.desc.format) {
    result.warnings.push_back("expected four dims, found [" + tensor::to_string(source.desc.shape) +
                              "]: read as ND");
  }
  OPDRIFT_TRY(const tensor::Tensor loaded, load(source));
  OPDRIFT_TRY(tensor::ConvertedTensor converted,
              tensor::convert_for_output(
                  loaded, {.format = format, .target_shape = target_shape, .rules = {}}));
  OPDRIFT_CHECK_OK(check_bits(loaded, converted.view));
  result.array = output_array(std::move(converted.view));
  result.array.fortran_order = converted.fortran_order;
  result.format = converted.crop_failed ? source.desc.format : format;
  if (converted.crop_failed) {
    result.crop_problem = converted.crop_problem;
  }
  return result;
}

}  // namespace opdrift::pipeline
