#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "opdrift/tensor/tensor.hpp"

/// What the networks are fed with, the same on every machine: drawn text and made-up speech.
namespace opdrift::evaluation {

struct TextLine {
  std::string_view text;  ///< capitals, digits and blanks of the built-in font
  std::size_t y = 0;
  std::size_t x = 0;
  std::size_t scale = 1;  ///< pixels per dot of the 5 x 7 font
};

/// A picture of dark text on a wavy light ground with some noise, height x width x 3, 0 to 255.
struct Picture {
  std::size_t height = 0;
  std::size_t width = 0;
  std::vector<float> pixels;
};

Picture draw_text(std::size_t height, std::size_t width, const std::vector<TextLine>& lines,
                  std::uint64_t seed);

/// (pixel / 255 - mean) / deviation as 1 x 3 x height x width.
tensor::Tensor channels_first(const Picture& picture, const float (&mean)[3],
                              const float (&deviation)[3]);

/// pixel * scale + offset as 1 x height x width x channels; channels beyond three hold `fill`.
tensor::Tensor channels_last(const Picture& picture, std::size_t channels, float scale,
                             float offset, float fill);

/// Voiced sound at 16 kHz: harmonics of a wavering pitch, swelling four times a second, and noise.
std::vector<float> speech(std::size_t samples, std::uint64_t seed, double amplitude);

}  // namespace opdrift::evaluation
