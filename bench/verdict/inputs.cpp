#include "inputs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "numbers.hpp"

namespace opdrift::evaluation {

namespace {

struct Glyph {
  char letter;
  std::uint8_t rows[7];  ///< five dots each, highest bit left
};

constexpr Glyph kFont[] = {
    {'A', {0x0E, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11}},
    {'B', {0x1E, 0x11, 0x11, 0x1E, 0x11, 0x11, 0x1E}},
    {'C', {0x0E, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0E}},
    {'E', {0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x1F}},
    {'H', {0x11, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11}},
    {'I', {0x0E, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0E}},
    {'L', {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1F}},
    {'N', {0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11}},
    {'O', {0x0E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E}},
    {'R', {0x1E, 0x11, 0x11, 0x1E, 0x14, 0x12, 0x11}},
    {'T', {0x1F, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04}},
    {'0', {0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E}},
    {'2', {0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F}},
    {'5', {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E}},
    {'7', {0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
};

constexpr std::size_t kChannels = 3;

class Canvas {
 public:
  Canvas(std::size_t height, std::size_t width) : picture_{height, width, {}} {
    picture_.pixels.resize(height * width * kChannels);
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        for (std::size_t c = 0; c < kChannels; ++c) {
          at(y, x, c) = static_cast<float>(
              205.0 + 25.0 * std::sin(static_cast<double>(x) / 37.0 + static_cast<double>(c)) +
              15.0 * std::cos(static_cast<double>(y) / 23.0));
        }
      }
    }
  }

  void draw(const TextLine& line, const float (&ink)[kChannels]) {
    std::size_t x = line.x;
    for (const char letter : line.text) {
      for (const Glyph& glyph : kFont) {
        if (glyph.letter == letter) {
          draw(glyph, line, x, ink);
        }
      }
      x += 6 * line.scale;
    }
  }

  /// Every pixel becomes the mean of itself, the one above and the one to its left (wrapping).
  void soften() {
    const Picture sharp = picture_;
    const auto old = [&](std::size_t y, std::size_t x, std::size_t c) {
      return sharp.pixels[(y * sharp.width + x) * kChannels + c];
    };
    for (std::size_t y = 0; y < sharp.height; ++y) {
      for (std::size_t x = 0; x < sharp.width; ++x) {
        const std::size_t above = (y + sharp.height - 1) % sharp.height;
        const std::size_t left = (x + sharp.width - 1) % sharp.width;
        for (std::size_t c = 0; c < kChannels; ++c) {
          at(y, x, c) = (old(y, x, c) + old(above, x, c) + old(y, left, c)) / 3.0F;
        }
      }
    }
  }

  Picture finish(Random& random) {
    for (float& pixel : picture_.pixels) {
      pixel = std::clamp(pixel + 3.0F * static_cast<float>(random.normal()), 0.0F, 255.0F);
    }
    return std::move(picture_);
  }

 private:
  float& at(std::size_t y, std::size_t x, std::size_t c) {
    return picture_.pixels[(y * picture_.width + x) * kChannels + c];
  }

  void draw(const Glyph& glyph, const TextLine& line, std::size_t left,
            const float (&ink)[kChannels]) {
    for (std::size_t dot = 0; dot < 35; ++dot) {
      const std::size_t row = dot / 5;
      const std::size_t column = dot % 5;
      if (((glyph.rows[row] >> (4 - column)) & 1U) == 0) {
        continue;
      }
      for (std::size_t i = 0; i < line.scale * line.scale; ++i) {
        const std::size_t y = line.y + row * line.scale + i / line.scale;
        const std::size_t x = left + column * line.scale + i % line.scale;
        for (std::size_t c = 0; c < kChannels && y < picture_.height && x < picture_.width; ++c) {
          at(y, x, c) = ink[c];
        }
      }
    }
  }

  Picture picture_;
};

}  // namespace

Picture draw_text(std::size_t height, std::size_t width, const std::vector<TextLine>& lines,
                  std::uint64_t seed) {
  Random random(seed);
  Canvas canvas(height, width);
  for (const TextLine& line : lines) {
    const float shade = 10.0F * static_cast<float>(random.normal());
    canvas.draw(line, {30.0F + shade, 35.0F + shade, 60.0F + shade});
  }
  canvas.soften();
  return canvas.finish(random);
}

tensor::Tensor channels_first(const Picture& picture, const float (&mean)[3],
                              const float (&deviation)[3]) {
  const std::size_t plane = picture.height * picture.width;
  std::vector<float> values(plane * kChannels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i / plane;
    const float pixel = picture.pixels[(i % plane) * kChannels + c];
    values[i] = (pixel / 255.0F - mean[c]) / deviation[c];
  }
  return make_floats({1, kChannels, picture.height, picture.width}, std::move(values));
}

tensor::Tensor channels_last(const Picture& picture, std::size_t channels, float scale,
                             float offset, float fill) {
  std::vector<float> values(picture.height * picture.width * channels, fill);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
    values[i / kChannels * channels + i % kChannels] = picture.pixels[i] * scale + offset;
  }
  return make_floats({1, picture.height, picture.width, channels}, std::move(values));
}

std::vector<float> speech(std::size_t samples, std::uint64_t seed, double amplitude) {
  Random random(seed);
  std::vector<float> sound(samples);
  double phase = 0.0;
  for (std::size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / 16000.0;
    const double pitch = 140.0 + 30.0 * std::sin(2.0 * std::numbers::pi * 3.0 * t);
    phase += 2.0 * std::numbers::pi * pitch / 16000.0;
    double voice = 0.0;
    for (int k = 1; k < 12; ++k) {
      voice += std::sin(k * phase) / k;
    }
    voice *= 0.55 + 0.45 * std::sin(2.0 * std::numbers::pi * 4.0 * t);
    sound[i] = static_cast<float>(amplitude * voice / 3.0 + 40.0 * random.normal());
  }
  return sound;
}

}  // namespace opdrift::evaluation
