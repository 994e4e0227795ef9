#include "opdrift/cli/describe.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace opdrift::cli {

namespace {

std::string dtype_text(const tensor::TensorDesc& desc) {
  const bool unknown = desc.dtype == tensor::DType::raw && desc.ascend_dtype >= 0;
  return unknown ? "type number " + std::to_string(desc.ascend_dtype)
                 : std::string(tensor::name_of(desc.dtype));
}

std::string format_text(tensor::Format format) {
  const auto name = tensor::format_name(format);
  return name ? std::string(*name) : "format number " + std::to_string(static_cast<int>(format));
}

}  // namespace

std::string describe(const tensor::TensorDesc& desc) {
  std::string text = dtype_text(desc);
  if (desc.format != tensor::Format::reserved) {  // of files that have no notion of a layout
    text += " " + format_text(desc.format);
  }
  text += desc.has_shape ? " [" + tensor::to_string(desc.shape) + "]" : " (no shape)";
  if (!desc.original_shape.empty() && desc.original_shape != desc.shape) {
    text += " (original [" + tensor::to_string(desc.original_shape) + "])";
  }
  return text;
}

nlohmann::ordered_json to_json(const tensor::TensorDesc& desc) {
  return {{"dtype", dtype_text(desc)},
          {"format", format_text(desc.format)},
          {"shape", desc.shape},
          {"original_shape", desc.original_shape}};
}

nlohmann::ordered_json to_json(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return shortest(value);
}

std::string brief(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string shortest(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace opdrift::cli
