#include "opdrift/diagnose/offline/model_kind.hpp"

#include <filesystem>
#include <system_error>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxModel = std::uint64_t{32} << 30;

struct Ending {
  std::string_view text;
  ModelKind kind;
};

constexpr Ending kEndings[] = {
    {".onnx", ModelKind::onnx},     {".om", ModelKind::offline}, {".json", ModelKind::offline},
    {".txt", ModelKind::offline},   {".pb", ModelKind::frozen},  {".prototxt", ModelKind::caffe},
    {".mindir", ModelKind::mindir},
};

}  // namespace

Outcome<ModelKind> model_kind(const std::string& path) {
  std::error_code problem;
  if (fs::is_directory(path, problem)) {
    if (fs::exists(path + "/saved_model.pb", problem) && fs::exists(path + "/variables", problem)) {
      return ModelKind::saved_model;
    }
    return failed(Number::model_type,
                  "expected a model; a folder with saved_model.pb and "
                  "variables/ is one, this is not",
                  path);
  }
  const std::uint64_t size = fs::file_size(path, problem);
  if (problem) {
    return failed(Number::bad_path, "no such model: " + problem.message(), path);
  }
  if (size > kMaxModel) {
    return failed(Number::bad_path, "expected at most 32 GiB of model", path);
  }
  const std::string lower = to_lower(path);
  for (const Ending& ending : kEndings) {
    if (lower.ends_with(ending.text)) {
      return ending.kind;
    }
  }
  return failed(Number::model_type,
                "expected a model ending in .onnx, .om, .pb, .prototxt or .mindir", path);
}

std::string way_around(ModelKind kind, bool golden) {
  const std::string dumps = golden
                                ? "give its dumps with --golden-dump FOLDER"
                                : "compare its dumps with --my-path, --golden-path and --ops-json";
  const std::string atc = golden ? "" : ", then build that with atc --framework=5";
  switch (kind) {
    case ModelKind::frozen:
      return dumps +
             ", or convert it: python3 -m tf2onnx.convert --graphdef MODEL.pb --inputs "
             "IN:0 --outputs OUT:0 --output MODEL.onnx" +
             atc;
    case ModelKind::saved_model:
      return dumps +
             ", or convert it: python3 -m tf2onnx.convert --saved-model FOLDER --output "
             "MODEL.onnx" +
             atc;
    case ModelKind::caffe:
      return dumps +
             ", or convert it: python3 -m caffe2onnx.convert --prototxt MODEL.prototxt "
             "--caffemodel MODEL.caffemodel --onnx MODEL.onnx" +
             atc;
    case ModelKind::mindir:
      return dumps +
             ", or export the network from MindSpore again: mindspore.export(net, inputs, "
             "file_name=\"MODEL\", file_format=\"ONNX\")" +
             atc;
    default: return dumps;
  }
}

std::string stem_of(const std::string& path) {
  return fs::path(path).stem().string();
}

}  // namespace opdrift::diagnose::offline
