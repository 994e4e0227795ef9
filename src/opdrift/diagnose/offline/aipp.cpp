#include "opdrift/diagnose/offline/aipp.hpp"

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/io/ascend/dump.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;

/// r as a fraction.
struct Ratio {
  std::string_view format;
  std::uint64_t numerator;
  std::uint64_t denominator;
};

constexpr Ratio kRatios[] = {
    {"YUV420SP_U8", 2, 1}, {"RGB888_U8", 1, 1}, {"YUV400_U8", 3, 1}, {"XRGB8888_U8", 3, 4}};

constexpr std::uint64_t kMaxSide = 65536;

/// Axes of a dumped image.
struct Blocks {
  std::uint64_t n, c1, h, w, c0;
};

/// Element (n,c1,h,w,c) of the source goes to (n,c1,c,h,w).
std::vector<std::byte> channels_first(const Blocks& axes, std::uint64_t kept,
                                      const std::vector<float>& source) {
  std::vector<std::byte> out(axes.n * axes.c1 * kept * axes.h * axes.w * sizeof(float));
  const std::uint64_t plane = axes.h * axes.w;
  for (std::uint64_t block = 0; block < axes.n * axes.c1; ++block) {
    for (std::uint64_t channel = 0; channel < kept; ++channel) {
      for (std::uint64_t pixel = 0; pixel < plane; ++pixel) {
        const float value = source[(block * plane + pixel) * axes.c0 + channel];
        std::memcpy(out.data() + ((block * kept + channel) * plane + pixel) * sizeof(float), &value,
                    sizeof(float));
      }
    }
  }
  return out;
}

Outcome<tensor::Tensor> golden_image(const std::string& path, const tensor::Shape& wanted) {
  OPDRIFT_TRY(const io::FileDump dump, io::open_ascend_dump(path));
  const auto outputs = dump.of(io::TensorRole::output);
  if (outputs.empty()) {
    return failed(Number::out_of_bounds, "expected an output, found none", path);
  }
  OPDRIFT_TRY(const tensor::Tensor stored, io::load_tensor(*outputs.front()));
  OPDRIFT_TRY(const tensor::View view, tensor::stored_view(stored));
  OPDRIFT_TRY(const tensor::Tensor dense, tensor::materialise(view, stored.desc.format));
  OPDRIFT_TRY(const std::uint64_t elements, tensor::element_count(wanted));
  const tensor::Shape& found = dense.desc.shape;
  const Blocks axes = found.size() == 5 ? Blocks{found[0], found[1], found[2], found[3], found[4]}
                                        : Blocks{0, 0, 0, 0, 0};
  const std::uint64_t plane = axes.n * axes.c1 * axes.h * axes.w;
  const std::uint64_t kept = plane == 0 ? 0 : elements / plane;
  if (kept == 0 || kept > axes.c0 || kept * plane != elements) {
    return failed(Number::bad_data,
                  "expected an image in NC1HWC0 that holds (" + tensor::to_string(wanted) +
                      "), found (" + tensor::to_string(found) + ")",
                  path);
  }
  std::vector<float> values(view.count());
  tensor::decode_to_float(dense.desc.dtype, dense.bytes.span.data(), 0, values.size(),
                          values.data());
  tensor::Tensor image;
  image.desc.dtype = tensor::DType::f32;
  image.desc.shape = wanted;
  image.bytes = own_bytes(channels_first(axes, kept, values));
  return image;
}

}  // namespace

Outcome<std::uint64_t> aipp_image_bytes(const graph::AippOperator& aipp, std::uint64_t images,
                                        std::uint64_t channels) {
  const std::string format = aipp.setting("input_format");
  const auto height = parse_u64(aipp.setting("src_image_size_h"));
  const auto width = parse_u64(aipp.setting("src_image_size_w"));
  if (!height || !width || *height > kMaxSide || *width > kMaxSide || images > kMaxSide ||
      channels > kMaxSide) {
    return failed(Number::aipp_content,
                  "expected src_image_size_h and src_image_size_w in the AIPP configuration of the "
                  "model; give --input");
  }
  for (const Ratio& ratio : kRatios) {
    if (ratio.format == format) {
      return images * channels * *height * *width * ratio.denominator / ratio.numerator;
    }
  }
  return failed(Number::aipp_content,
                "expected an AIPP input_format of YUV420SP_U8, RGB888_U8, "
                "YUV400_U8 or XRGB8888_U8, found '" +
                    printable(format) + "'");
}

Done set_image_sizes(std::vector<WantedInput>& inputs, const graph::Graph& model) {
  const std::vector<graph::AippOperator> aipps = graph::aipp_operators(model);
  for (std::size_t i = 0; i < inputs.size() && i < aipps.size(); ++i) {
    const tensor::Shape shape = inputs[i].shape.value_or(tensor::Shape{});
    if (inputs[i].device_bytes || shape.size() != 4) {
      continue;
    }
    OPDRIFT_TRY(inputs[i].device_bytes, aipp_image_bytes(aipps[i], shape[0], shape[1]));
  }
  return Unit{};
}

Outcome<std::vector<engine::InputFile>> aipp_golden_inputs(const std::string& dump_folder,
                                                           const std::vector<WantedInput>& inputs,
                                                           const std::string& folder) {
  std::vector<std::string> images;
  OPDRIFT_TRY(const std::vector<DumpedOperator> dumped, list_dumped(dump_folder));
  for (const DumpedOperator& op : dumped) {
    if (op.op_type.starts_with("Aipp")) {
      images.push_back(op.path);
    }
  }
  if (images.size() != inputs.size()) {
    return failed(Number::out_of_bounds,
                  "expected one dump of an Aipp operator for each of the " +
                      std::to_string(inputs.size()) + " input(s), found " +
                      std::to_string(images.size()),
                  dump_folder);
  }
  std::error_code problem;
  fs::create_directories(folder, problem);
  std::vector<engine::InputFile> files;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].shape) {
      return failed(Number::bad_parameter, "the shape of input '" + printable(inputs[i].name) +
                                               "' is open; give --input-shape");
    }
    OPDRIFT_TRY(const tensor::Tensor image, golden_image(images[i], *inputs[i].shape));
    const std::string path = folder + "/" + std::to_string(i) + ".npy";
    OPDRIFT_CHECK_OK(write_tensor(path, image));
    files.push_back({inputs[i].name, path});
  }
  return files;
}

}  // namespace opdrift::diagnose::offline
