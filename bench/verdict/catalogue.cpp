#include "catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "built_models.hpp"
#include "inputs.hpp"
#include "numbers.hpp"
#include "simplify.hpp"

#include "opdrift/engine/instrument.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::evaluation {

namespace {

namespace onnx = io::onnx;
using NetworkResult = Result<std::unique_ptr<Network>>;
using Inputs = std::vector<engine::NamedTensor>;

NetworkResult prepared(engine::Runtime& runtime, onnx::Model model, Inputs inputs) {
  OPDRIFT_TRY(onnx::Model simple, simplified(runtime, std::move(model), inputs));
  // An input that only chose branches is gone.
  std::erase_if(inputs, [&](const engine::NamedTensor& input) {
    return std::none_of(simple.graph.inputs.begin(), simple.graph.inputs.end(),
                        [&](const onnx::ValueInfo& info) { return info.name == input.name; });
  });
  return Network::open(runtime, std::move(simple), std::move(inputs));
}

NetworkResult from_file(engine::Runtime& runtime, const std::string& path, Inputs inputs) {
  OPDRIFT_TRY(onnx::Model model, onnx::open_model(path));
  if (inputs.size() == 1 && inputs[0].name.empty() && !model.graph.inputs.empty()) {
    inputs[0].name = model.graph.inputs[0].name;
  }
  return prepared(runtime, std::move(model), std::move(inputs));
}

tensor::Tensor sample_rate() {
  const std::vector<std::int64_t> rate = {16000};
  const ByteSpan bytes = std::as_bytes(std::span<const std::int64_t>(rate));
  tensor::Tensor made;
  made.desc.dtype = tensor::DType::i64;
  made.bytes = own_bytes({bytes.begin(), bytes.end()});
  return made;
}

tensor::Tensor states(std::size_t width, std::string_view seed, bool squashed) {
  Random random(seed);
  std::vector<float> values(2 * width);
  for (float& value : values) {
    const double draw = random.normal();
    value = static_cast<float>(squashed ? 0.3 * std::tanh(draw) : 0.5 * draw);
  }
  return make_floats({2, 1, width}, std::move(values));
}

tensor::Tensor sound(std::uint64_t seed, std::size_t first, std::size_t count) {
  std::vector<float> all = speech(4096, seed, 0.2 * 32768.0);
  std::vector<float> part(all.begin() + static_cast<std::ptrdiff_t>(first),
                          all.begin() + static_cast<std::ptrdiff_t>(first + count));
  for (float& value : part) {
    value /= 32768.0F;
  }
  return make_floats({1, count}, std::move(part));
}

// ---- text in pictures

constexpr float kHalf[3] = {0.5F, 0.5F, 0.5F};
constexpr float kMean[3] = {0.485F, 0.456F, 0.406F};
constexpr float kDeviation[3] = {0.229F, 0.224F, 0.225F};

NetworkResult ocr_det(engine::Runtime& runtime, const std::string& models) {
  const Picture picture = draw_text(96, 160, {{"HELLO 25", 10, 8, 3}, {"NORTH", 55, 20, 4}}, 1);
  return from_file(runtime, models + "/ocr-models/ch_PP-OCRv4_det_infer.onnx",
                   {{"x", channels_first(picture, kMean, kDeviation)}});
}

NetworkResult ocr_rec(engine::Runtime& runtime, const std::string& models) {
  const Picture picture = draw_text(48, 112, {{"HELLO", 12, 6, 3}}, 2);
  return from_file(runtime, models + "/ocr-models/ch_PP-OCRv4_rec_infer.onnx",
                   {{"x", channels_first(picture, kHalf, kHalf)}});
}

NetworkResult ocr_cls(engine::Runtime& runtime, const std::string& models) {
  const Picture picture = draw_text(48, 160, {{"BERLIN 0", 12, 8, 3}}, 3);
  return from_file(runtime, models + "/ocr-models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
                   {{"x", channels_first(picture, kHalf, kHalf)}});
}

NetworkResult face_front(engine::Runtime& runtime, const std::string& models) {
  const Picture picture = draw_text(128, 128, {{"COLA", 20, 10, 4}, {"OO", 70, 30, 7}}, 4);
  return from_file(runtime, models + "/face-models/face_detection_front_128x128_barracuda.onnx",
                   {{"", channels_last(picture, 3, 1.0F / 127.5F, -1.0F, 0.0F)}});
}

NetworkResult face_back(engine::Runtime& runtime, const std::string& models) {
  const Picture picture = draw_text(256, 256, {{"NORTH", 30, 20, 6}, {"OO", 120, 60, 14}}, 5);
  return from_file(runtime, models + "/face-models/face_detection_back_256x256_barracuda.onnx",
                   {{"", channels_last(picture, 3, 1.0F / 127.5F, -1.0F, 0.0F)}});
}

/// Halves the picture sizes that stand in a model as constants: extents of 40 to 160.
Status halve_extents(onnx::Graph& graph) {
  for (onnx::Tensor& constant : graph.initializers) {
    if (onnx::dtype_of(constant.data_type) != tensor::DType::i64) {
      continue;
    }
    OPDRIFT_TRY(const tensor::Tensor loaded, onnx::load(constant, "."));
    std::vector<std::int64_t> values(loaded.bytes.size() / sizeof(std::int64_t));
    std::memcpy(values.data(), loaded.bytes.span.data(), loaded.bytes.size());
    for (std::int64_t& value : values) {
      value = value >= 40 && value <= 160 ? value / 2 : value;
    }
    constant = onnx::make_tensor(constant.name, tensor::DType::i64, loaded.desc.shape,
                                 std::as_bytes(std::span<const std::int64_t>(values)));
  }
  return Unit{};
}

/// At 160 x 160 instead of 320 x 320: a quarter of the work.
NetworkResult line_tiny(engine::Runtime& runtime, const std::string& models) {
  OPDRIFT_TRY(onnx::Model model, onnx::open_model(models + "/line-models/mlsd_320x320_tiny.onnx"));
  OPDRIFT_CHECK_OK(halve_extents(model.graph));
  const Picture picture = draw_text(160, 160, {{"HELLO", 20, 10, 4}, {"TIN", 100, 20, 6}}, 6);
  Inputs inputs = {{model.graph.inputs.at(0).name, channels_last(picture, 4, 1.0F, 0.0F, 1.0F)}};
  engine::fix_input_shapes(model, inputs);
  return prepared(runtime, std::move(model), std::move(inputs));
}

// ---- sound

NetworkResult silero(engine::Runtime& runtime, const std::string& path, std::uint64_t seed) {
  return from_file(runtime, path,
                   {{"input", sound(seed, 2000, 576)},
                    {"state", states(128, "silero", true)},
                    {"sr", sample_rate()}});
}

NetworkResult silero_v5(engine::Runtime& runtime, const std::string& models) {
  return silero(runtime, models + "/vad-models/silero_vad_v5.onnx", 11);
}

NetworkResult silero_v6(engine::Runtime& runtime, const std::string& models) {
  return silero(runtime, models + "/vad-models/silero_vad_v6.onnx", 13);
}

NetworkResult silero_v4(engine::Runtime& runtime, const std::string& models) {
  return from_file(runtime, models + "/vad-models/silero_vad_legacy.onnx",
                   {{"input", sound(12, 1000, 1536)},
                    {"sr", sample_rate()},
                    {"h", states(64, "silero h", true)},
                    {"c", states(64, "silero c", false)}});
}

NetworkResult melspec(engine::Runtime& runtime, const std::string& models) {
  return from_file(runtime, models + "/wakeword-models/melspectrogram.onnx",
                   {{"input", make_floats({1, 8000}, speech(8000, 3, 4000.0))}});
}

/// The only output of a model as f32.
Result<std::vector<float>> output_of(engine::Runtime& runtime, const std::string& path,
                                     tensor::Tensor input) {
  OPDRIFT_TRY(onnx::Model model, onnx::open_model(path));
  const Inputs inputs = {{model.graph.inputs.at(0).name, std::move(input)}};
  const std::vector<std::string> wanted = {model.graph.outputs.at(0).name};
  OPDRIFT_TRY(const auto values,
              run_whole(runtime, std::move(model), inputs, wanted, engine::Optimization::none));
  if (!values[0] || values[0]->desc.dtype != tensor::DType::f32) {
    return Error{ErrorCode::unsupported, "the output is not float32", path};
  }
  const std::span<const float> floats = floats_of(*values[0]);
  return std::vector<float>(floats.begin(), floats.end());
}

constexpr std::size_t kBands = 32;
constexpr std::size_t kFrames = 76;  // of one window of the embedding model

/// Mel features as the embedding model wants them, frames x 32.
Result<std::vector<float>> features(engine::Runtime& runtime, const std::string& models,
                                    std::uint64_t seed, double seconds) {
  const auto samples = static_cast<std::size_t>(16000.0 * seconds);
  OPDRIFT_TRY(std::vector<float> mel,
              output_of(runtime, models + "/wakeword-models/melspectrogram.onnx",
                        make_floats({1, samples}, speech(samples, seed, 4000.0))));
  for (float& value : mel) {
    value = value / 10.0F + 2.0F;
  }
  return mel;
}

/// Windows of 76 frames that begin `step` frames apart.
tensor::Tensor windows(const std::vector<float>& mel, std::size_t count, std::size_t step) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = mel.begin() + static_cast<std::ptrdiff_t>(i * step * kBands);
    values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(kFrames * kBands));
  }
  return make_floats({count, kFrames, kBands, 1}, std::move(values));
}

NetworkResult ww_embed(engine::Runtime& runtime, const std::string& models) {
  OPDRIFT_TRY(const std::vector<float> mel, features(runtime, models, 5, 1.5));
  return from_file(runtime, models + "/wakeword-models/embedding_model.onnx",
                   {{"input_1", windows(mel, 2, 24)}});
}

/// A wake-word head over `count` embeddings.
NetworkResult head(engine::Runtime& runtime, const std::string& models, const std::string& file,
                   std::size_t count) {
  OPDRIFT_TRY(const std::vector<float> mel,
              features(runtime, models, 7, 1.4 + 0.08 * static_cast<double>(count)));
  OPDRIFT_TRY(
      std::vector<float> embeddings,
      output_of(runtime, models + "/wakeword-models/embedding_model.onnx", windows(mel, count, 8)));
  const tensor::Shape shape = {1, count, embeddings.size() / count};
  return from_file(runtime, models + "/wakeword-models/" + file,
                   {{"", make_floats(shape, std::move(embeddings))}});
}

NetworkResult ww_jarvis(engine::Runtime& runtime, const std::string& models) {
  return head(runtime, models, "hey_jarvis_v0.1.onnx", 16);
}

NetworkResult ww_rhasspy(engine::Runtime& runtime, const std::string& models) {
  return head(runtime, models, "hey_rhasspy_v0.1.onnx", 16);
}

NetworkResult ww_timer(engine::Runtime& runtime, const std::string& models) {
  return head(runtime, models, "timer_v0.1.onnx", 34);
}

NetworkResult ww_mycroft(engine::Runtime& runtime, const std::string& models) {
  return head(runtime, models, "hey_mycroft_v0.1.onnx", 16);
}

NetworkResult ww_weather(engine::Runtime& runtime, const std::string& models) {
  return head(runtime, models, "weather_v0.1.onnx", 22);
}

// ---- built here

NetworkResult tf_norm(engine::Runtime& runtime, const std::string& /*models*/) {
  return prepared(runtime, layer_norm_transformer(), {{"x", transformer_input()}});
}

NetworkResult mlp_int8(engine::Runtime& runtime, const std::string& /*models*/) {
  return prepared(runtime, quantised_perceptron(), {{"x", perceptron_input()}});
}

constexpr CatalogueEntry kCatalogue[] = {
    {"ocr_rec", Group::held, "text recogniser with attention", ocr_rec},
    {"line_tiny", Group::unseen, "line segments, MobileNet v2 with Resize", line_tiny},
    {"ocr_det", Group::shaped, "text detector", ocr_det},
    {"face_back", Group::unseen, "face detector, 256 x 256", face_back, false},
    {"face_front", Group::unseen, "face detector, 128 x 128", face_front},
    {"ocr_cls", Group::held, "text angle classifier", ocr_cls},
    {"ww_embed", Group::shaped, "speech embedding", ww_embed},
    {"silero_v4", Group::held, "speech detector, STFT and LSTM", silero_v4},
    {"silero_v5", Group::shaped, "speech detector, STFT and LSTM", silero_v5},
    {"silero_v6", Group::unseen, "speech detector, STFT and LSTM", silero_v6},
    {"melspec", Group::held, "mel spectrogram", melspec},
    {"tf_norm", Group::built, "transformer, LayerNormalization and Gelu", tf_norm},
    {"mlp_int8", Group::built, "int8 weights and activations", mlp_int8},
    {"ww_jarvis", Group::shaped, "wake word head", ww_jarvis},
    {"ww_rhasspy", Group::held, "wake word head", ww_rhasspy},
    {"ww_timer", Group::held, "wake word head", ww_timer},
    {"ww_mycroft", Group::unseen, "wake word head", ww_mycroft},
    {"ww_weather", Group::unseen, "wake word head", ww_weather},
};

}  // namespace

std::string_view to_string(Group group) {
  switch (group) {
    case Group::shaped: return "shaped";
    case Group::held: return "held";
    case Group::unseen: return "unseen";
    case Group::built: return "built";
  }
  return "";
}

std::span<const CatalogueEntry> catalogue() {
  return kCatalogue;
}

}  // namespace opdrift::evaluation
