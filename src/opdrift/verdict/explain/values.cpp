#include "opdrift/verdict/explain/values.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "opdrift/tensor/decode.hpp"

namespace opdrift::verdict::refit {

namespace {

using tensor::AxisMap;
using tensor::DType;
using tensor::View;

View with_parts_as_axis(const View& view) {
  View real = view;
  real.tensor.desc.dtype = tensor::component_dtype(view.tensor.desc.dtype);
  for (AxisMap& axis : real.axes) {
    axis.outer_stride *= 2;
    axis.inner_stride *= 2;
  }
  real.offset *= 2;
  real.axes.push_back({.extent = 2, .inner = 1, .outer_stride = 1});
  return real;
}

}  // namespace

Result<Values> Values::of(const View& view) {
  const tensor::DTypeInfo& info = tensor::info(view.tensor.desc.dtype);
  if (!info.decodable) {
    return Error{ErrorCode::unsupported_dtype,
                 "expected numbers, found elements of type " + std::string(info.name)};
  }
  return Values(info.kind == tensor::DTypeKind::complex ? with_parts_as_axis(view) : view);
}

Values::Values(View view)
    : view_(std::move(view)),
      count_(view_.count()),
      contiguous_(!view_.tensor.desc.big_endian && view_.contiguous()) {}

void Values::read(std::uint64_t first, std::size_t count, double* out) const {
  const DType type = dtype();
  if (contiguous_) {
    tensor::decode_to_double(type, view_.tensor.bytes.span.data(), first_position() + first, count,
                             out);
    return;
  }
  std::array<std::byte, kTile * sizeof(double)> scratch;
  for (std::size_t done = 0; done < count; done += kTile) {
    const std::size_t part = std::min(kTile, count - done);
    tensor::gather(view_, first + done, part, scratch.data());
    tensor::decode_to_double(type, scratch.data(), 0, part, out + done);
  }
}

std::uint64_t Values::position(std::uint64_t index) const {
  std::int64_t at = view_.offset;
  for (std::size_t i = view_.axes.size(); i-- > 0;) {
    const AxisMap& axis = view_.axes[i];
    const std::uint64_t k = index % axis.extent;
    index /= axis.extent;
    at += static_cast<std::int64_t>(k / axis.inner) * axis.outer_stride +
          static_cast<std::int64_t>(k % axis.inner) * axis.inner_stride;
  }
  return static_cast<std::uint64_t>(at);
}

double Values::at(std::uint64_t index) const {
  if (view_.tensor.desc.big_endian) {
    double value = 0.0;
    read(index, 1, &value);
    return value;
  }
  const std::uint64_t place = contiguous_ ? first_position() + index : position(index);
  return tensor::decode_one(dtype(), view_.tensor.bytes.span.data(), place);
}

Result<View> view_of(std::span<const double> values, const tensor::Shape& shape) {
  tensor::Tensor tensor;
  tensor.desc.dtype = DType::f64;
  tensor.desc.shape = shape;
  tensor.bytes.span = std::as_bytes(values);
  return tensor::shaped_view(tensor, shape);
}

RowWalk::RowWalk(const tensor::Shape& shape, std::uint64_t first)
    : shape_(shape), coordinates_(shape.size()) {
  for (std::size_t i = shape.size(); i-- > 0;) {
    coordinates_[i] = first % shape[i];
    first /= shape[i];
  }
}

void RowWalk::advance(std::uint64_t count) {
  coordinates_.back() += count;
  for (std::size_t i = coordinates_.size(); i-- > 0 && coordinates_[i] == shape_[i];) {
    coordinates_[i] = 0;
    if (i > 0) {
      ++coordinates_[i - 1];
    }
  }
}

std::vector<std::uint64_t> row_major_strides(const tensor::Shape& shape) {
  std::vector<std::uint64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

}  // namespace opdrift::verdict::refit
