#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "opdrift/tensor/tensor.hpp"

namespace opdrift::cli {

/// "float16 NC1HWC0 [1,4,56,56,16] (original [1,64,56,56])"; no format for arrays.
std::string describe(const tensor::TensorDesc& desc);

/// The same for machines: dtype, format, shape, original_shape.
nlohmann::ordered_json to_json(const tensor::TensorDesc& desc);

/// A finite number as it is; "nan", "inf" and "-inf" as strings.
nlohmann::ordered_json to_json(double value);

/// Six significant digits, for people.
std::string brief(double value);

/// Shortest text that reads back as the same double; "nan", "inf", "-inf".
std::string shortest(double value);

}  // namespace opdrift::cli
