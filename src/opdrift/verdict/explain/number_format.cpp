#include "opdrift/verdict/explain/number_format.hpp"

namespace opdrift::verdict::refit {

NumberFormat format_of(tensor::DType dtype) {
  const tensor::DTypeInfo& info = tensor::info(dtype);
  NumberFormat format{.name = std::string(info.name)};
  if (info.kind != tensor::DTypeKind::floating) {
    format.integer = true;
    return format;
  }
  format.mantissa_bits = dtype == tensor::DType::hif8 ? 2 : static_cast<int>(info.mantissa_bits);
  format.min_exponent = info.min_normal > 0.0 ? std::ilogb(info.min_normal) : -126;
  format.max_finite = info.max_finite;
  return format;
}

NumberFormat tf32_format() {
  NumberFormat format = format_of(tensor::DType::f32);
  format.name = "tf32 (10 bits of mantissa)";
  format.mantissa_bits = 10;
  return format;
}

}  // namespace opdrift::verdict::refit
