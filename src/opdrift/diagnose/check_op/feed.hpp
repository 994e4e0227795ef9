#pragma once

#include <cstddef>
#include <span>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::diagnose {

/// A tensor of a dump as ONNX Runtime takes it: dense, row-major, of type `wanted`. Mapped where it
/// is that already. Floating types become others (nearest), integers and bool other integers, as
/// devices narrow what they store. Fails with mismatch for a number where an integer is wanted and
/// the reverse, unsupported_dtype for types without values.
Result<tensor::Tensor> as_fed(const tensor::View& view, tensor::DType wanted);

/// Its type and shape. Fails as as_fed does.
Result<tensor::TensorDesc> fed_desc(const tensor::View& view, tensor::DType wanted);

/// Its bytes, for a view that fed_desc takes. `out` has exactly the room for them.
void feed(const tensor::View& view, tensor::DType wanted, std::span<std::byte> out);

}  // namespace opdrift::diagnose
