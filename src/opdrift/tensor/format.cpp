#include "opdrift/tensor/format.hpp"

namespace opdrift::tensor {

namespace {

struct NamedFormat {
  int number;
  std::string_view name;
};

// Numbers 28, 35, 47, 48 and 49 exist in producers but have no name in the tools' options.
constexpr NamedFormat kNames[] = {
    {0, "NCHW"},
    {1, "NHWC"},
    {2, "ND"},
    {3, "NC1HWC0"},
    {4, "FRACTAL_Z"},
    {5, "NC1C0HWPAD"},
    {6, "NHWC1C0"},
    {7, "FSR_NCHW"},
    {8, "FRACTAL_DECONV"},
    {9, "C1HWNC0"},
    {10, "FRACTAL_DECONV_TRANSPOSE"},
    {11, "FRACTAL_DECONV_SP_STRIDE_TRANS"},
    {12, "NC1HWC0_C04"},
    {13, "FRACTAL_Z_C04"},
    {14, "CHWN"},
    {15, "DECONV_SP_STRIDE8_TRANS"},
    {16, "HWCN"},
    {17, "NC1KHKWHWC0"},
    {18, "BN_WEIGHT"},
    {19, "FILTER_HWCK"},
    {20, "LOOKUP_LOOKUPS"},
    {21, "LOOKUP_KEYS"},
    {22, "LOOKUP_VALUE"},
    {23, "LOOKUP_OUTPUT"},
    {24, "LOOKUP_HITS"},
    {25, "C1HWNCoC0"},
    {26, "MD"},
    {27, "NDHWC"},
    {29, "FRACTAL_NZ"},
    {30, "NCDHW"},
    {31, "DHWCN"},
    {32, "NDC1HWC0"},
    {33, "FRACTAL_Z_3D"},
    {34, "CN"},
    {36, "DHWNC"},
    {37, "FRACTAL_Z_3D_TRANSPOSE"},
    {38, "FRACTAL_ZN_LSTM"},
    {39, "FRACTAL_Z_G"},
    {40, "RESERVED"},
    {41, "ALL"},
    {42, "NULL"},
    {43, "ND_RNN_BIAS"},
    {44, "FRACTAL_ZN_RNN"},
    {45, "YUV"},
    {46, "YUV_A"},
    {255, "MAX"},
};

}  // namespace

std::optional<std::string_view> format_name(Format format) {
  for (const NamedFormat& row : kNames) {
    if (row.number == static_cast<int>(format)) {
      return row.name;
    }
  }
  return std::nullopt;
}

std::optional<Format> format_by_name(std::string_view name) {
  for (const NamedFormat& row : kNames) {
    if (row.name == name) {
      return static_cast<Format>(row.number);
    }
  }
  return std::nullopt;
}

}  // namespace opdrift::tensor
