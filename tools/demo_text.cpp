// The two ends of the demo's text-recognition model.
//
//   demo_text draw OUT.npy            an image of a word, as the model wants it
//   demo_text read DUMP KEYS.txt      the word in the final output of a dump
//
// The image is 1 x 3 x 48 x 320, float32, white ink (1) on black (-1), the same bytes everywhere.
// Reading follows connectionist temporal classification: the best class of each column, repeats
// and class 0 (no character) left out; class k is line k of KEYS, the last class a blank.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/tensor/decode.hpp"

namespace {

using namespace opdrift;

constexpr std::size_t kHeight = 48;
constexpr std::size_t kWidth = 320;
constexpr std::size_t kChannels = 3;

struct Point {
  double x;
  double y;
};

/// A letter: lines between points of a box one wide and one high, y downwards.
struct Glyph {
  char letter;
  std::vector<std::vector<Point>> strokes;
};

const std::vector<Glyph>& glyphs() {
  static const std::vector<Glyph> kGlyphs = {
      {'O',
       {{{.5, 0},
         {.85, .12},
         {1, .5},
         {.85, .88},
         {.5, 1},
         {.15, .88},
         {0, .5},
         {.15, .12},
         {.5, 0}}}},
      {'P', {{{0, 1}, {0, 0}, {.7, 0}, {.95, .12}, {.95, .4}, {.7, .52}, {0, .52}}}},
      {'D', {{{0, 0}, {0, 1}, {.55, 1}, {.9, .8}, {1, .5}, {.9, .2}, {.55, 0}, {0, 0}}}},
      {'R',
       {{{0, 1}, {0, 0}, {.7, 0}, {.95, .12}, {.95, .38}, {.7, .5}, {0, .5}}, {{.5, .5}, {1, 1}}}},
      {'I', {{{.5, 0}, {.5, 1}}}},
      {'F', {{{0, 1}, {0, 0}, {.95, 0}}, {{0, .48}, {.8, .48}}}},
      {'T', {{{0, 0}, {1, 0}}, {{.5, 0}, {.5, 1}}}},
  };
  return kGlyphs;
}

double distance_to_segment(Point p, Point a, Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double along = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy);
  const double t = std::clamp(along, 0.0, 1.0);
  const double rx = p.x - (a.x + t * dx);
  const double ry = p.y - (a.y + t * dy);
  return std::sqrt(rx * rx + ry * ry);
}

/// Ink of a line three pixels wide with soft edges, 0 to 1.
void draw_line(std::vector<float>& ink, Point a, Point b) {
  constexpr double kHalfWidth = 1.8;
  for (std::size_t y = 0; y < kHeight; ++y) {
    for (std::size_t x = 0; x < kWidth; ++x) {
      const Point p{static_cast<double>(x) + .5, static_cast<double>(y) + .5};
      const double cover = std::clamp(kHalfWidth + .5 - distance_to_segment(p, a, b), 0.0, 1.0);
      float& pixel = ink[y * kWidth + x];
      pixel = std::max(pixel, static_cast<float>(cover));
    }
  }
}

std::vector<float> draw_word(const std::string& word) {
  constexpr double kLetterWidth = 20;
  constexpr double kLetterHeight = 30;
  constexpr double kAdvance = 32;
  std::vector<float> ink(kHeight * kWidth, 0.0F);
  double left = 16;
  for (const char letter : word) {
    for (const Glyph& glyph : glyphs()) {
      for (const auto& stroke : glyph.strokes) {
        for (std::size_t i = 1; glyph.letter == letter && i < stroke.size(); ++i) {
          const auto place = [&](Point p) {
            return Point{left + p.x * kLetterWidth, 9 + p.y * kLetterHeight};
          };
          draw_line(ink, place(stroke[i - 1]), place(stroke[i]));
        }
      }
    }
    left += kAdvance;
  }
  return ink;
}

Status draw(const std::string& path) {
  const std::vector<float> ink = draw_word("OPDRIFT");
  std::vector<float> image;
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    for (const float cover : ink) {
      image.push_back(2 * cover - 1);
    }
  }
  OPDRIFT_TRY(io::NpyWriter writer,
              io::NpyWriter::create(path, tensor::DType::f32, {1, kChannels, kHeight, kWidth}));
  OPDRIFT_CHECK_OK(writer.write(std::as_bytes(std::span(image))));
  return writer.finish();
}

/// The file of the model's first output.
Result<std::string> final_output(const std::string& folder) {
  std::ifstream file(folder + "/manifest.json");
  const auto manifest = nlohmann::json::parse(file, nullptr, false);
  const Error missing{ErrorCode::bad_json, "expected the manifest of a dump", folder};
  if (manifest.is_discarded() || !manifest.contains("outputs")) {
    return missing;
  }
  for (const auto& op : manifest["operators"]) {
    for (const auto& output : op["outputs"]) {
      if (output["tensor"] == manifest["outputs"][0] && output.contains("file")) {
        return folder + "/" + output["file"].get<std::string>();
      }
    }
  }
  return missing;
}

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

Status read(const std::string& folder, const std::string& keys_path) {
  OPDRIFT_TRY(const std::string path, final_output(folder));
  OPDRIFT_TRY(const io::FileDump dump, io::open_npy(path));
  OPDRIFT_TRY(const tensor::Tensor scores, io::load_tensor(dump.tensors.at(0)));
  const tensor::Shape& shape = scores.desc.shape;
  if (shape.size() != 3) {
    return Error{ErrorCode::bad_shape, "expected batch, columns, classes", path};
  }
  const std::vector<std::string> keys = read_lines(keys_path);
  std::vector<float> row(shape[2]);
  std::string text;
  std::size_t previous = 0;
  for (std::uint64_t column = 0; column < shape[1]; ++column) {
    tensor::decode_to_float(scores.desc.dtype, scores.bytes.span.data(), column * shape[2],
                            shape[2], row.data());
    const auto best =
        static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    if (best != 0 && best != previous) {
      text += best <= keys.size() ? keys[best - 1] : " ";
    }
    previous = best;
  }
  std::printf("%s\n", text.c_str());
  return Unit{};
}

Status run(int count, char** arguments) {
  const std::string verb = count > 1 ? arguments[1] : "";
  if (verb == "draw" && count == 3) {
    return draw(arguments[2]);
  }
  if (verb == "read" && count == 4) {
    return read(arguments[2], arguments[3]);
  }
  return Error{ErrorCode::invalid_argument,
               "usage: demo_text draw OUT.npy | demo_text read DUMP KEYS.txt"};
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = run(argc, argv);
  if (!status) {
    std::fprintf(stderr, "demo_text: %s\n", status.error().to_string().c_str());
    return 2;
  }
  return 0;
}
