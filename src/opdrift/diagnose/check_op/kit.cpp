#include "opdrift/diagnose/check_op/kit.hpp"

#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "opdrift/base/shell_words.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/check_op/feed.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"
#include "opdrift/pipeline/align_pair.hpp"

namespace opdrift::diagnose {

namespace {

namespace fs = std::filesystem;

std::string folder_name(const Piece& piece, const io::onnx::Node& node) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%05zu_", piece.node + 1);
  std::string name = number.data();
  for (const char c : node.op_type.substr(0, 64)) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

class KitWriter {
 public:
  KitWriter(const KitSource& source, std::string folder)
      : source_(source),
        node_(source.placed.model.graph.nodes[source.piece.node]),
        folder_(std::move(folder)) {}

  Result<std::string> run() {
    std::error_code problem;
    fs::create_directories(folder_, problem);
    if (problem) {
      return system_error(problem.value(), "cannot make the folder", folder_);
    }
    OPDRIFT_CHECK_OK(write_model());
    OPDRIFT_CHECK_OK(write_inputs());
    OPDRIFT_CHECK_OK(write_outputs());
    OPDRIFT_CHECK_OK(io::write_file(path("README.txt"), readme()));
    return folder_;
  }

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  Status write_model() const {
    const Piece* const pieces[] = {&source_.piece};
    engine::PlacedModel model{
        model_of_pieces(source_.placed.model, pieces, source_.given, PieceNames::original),
        source_.placed.folder};
    OPDRIFT_CHECK_OK(embed_external_data(model));
    return io::onnx::write_model(path("operator.onnx"), model.model);
  }

  Result<tensor::View> view_of(std::size_t position) const {
    OPDRIFT_TRY(const tensor::Tensor loaded, pipeline::load(source_.target.tensors[position]));
    return pipeline::logical_view(loaded);
  }

  Status write_inputs() {
    for (const PieceInput& input : source_.piece.inputs) {
      const GivenInput& given = source_.given.at(input.name);
      OPDRIFT_TRY(const tensor::View view, view_of(input.tensor));
      const tensor::DType dtype =
          io::onnx::dtype_of(given.element_type).value_or(tensor::DType::raw);
      OPDRIFT_TRY(const tensor::Tensor fed, as_fed(view, dtype));
      const std::string name = "input_" + std::to_string(bins_.size()) + ".bin";
      OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(path(name)));
      OPDRIFT_CHECK_OK(file.write(fed.bytes.span));
      OPDRIFT_CHECK_OK(file.commit());
      bins_.push_back(name);
      shapes_.push_back(input.value + ":" + tensor::to_string(given.shape));
      files_ += "  " + name + "  '" + printable(input.value) + "'  " +
                std::string(tensor::name_of(dtype)) + " [" + tensor::to_string(given.shape) + "]\n";
    }
    return Unit{};
  }

  Status write_outputs() {
    for (std::size_t i = 0; i < source_.piece.outputs.size(); ++i) {
      const PieceOutput& output = source_.piece.outputs[i];
      OPDRIFT_TRY(const tensor::View view, view_of(output.tensor));
      const std::string name = "target_" + std::to_string(i) + ".npy";
      const io::NpyWriteOptions options{
          .fortran_order = false, .raw_extension_types = true, .file = {}};
      OPDRIFT_CHECK_OK(io::write_npy(path(name), view, options));
      files_ += "  " + name + "  '" + printable(output.value) + "' as the target made it\n";
    }
    return Unit{};
  }

  std::string readme() const {
    std::vector<std::string> atc = {"atc", "--framework=5", "--model=operator.onnx",
                                    "--output=operator", "--soc_version=SOC"};
    if (!shapes_.empty()) {
      atc.push_back("--input_shape=" + join(shapes_, ";"));
    }
    const std::vector<std::string> run = {
        "python3",        "-m",       "ais_bench", "--model",  "operator.om", "--input",
        join(bins_, ","), "--output", "out",       "--outfmt", "NPY"};
    return "Operator '" + printable(node_.name) + "' (" + printable(node_.op_type) + ") of " +
           printable(source_.placed.model.path) + "\n" +
           "ONNX Runtime could not run it: " + printable(source_.piece.reason) +
           "\n\n  operator.onnx\n" + files_ +
           "\nRun operator.onnx on these inputs where it can be run, for example on a device\n"
           "(SOC is its name), and compare what comes out with what the target made:\n\n  " +
           shell_command(atc) + "\n  " + shell_command(run) +
           "\n  opdrift compare target_0.npy OUTPUT.npy\n";
  }

  const KitSource& source_;
  const io::onnx::Node& node_;
  std::string folder_;
  std::vector<std::string> bins_;
  std::vector<std::string> shapes_;
  std::string files_;
};

}  // namespace

Result<std::string> write_kit(const KitSource& source, const std::string& folder) {
  const io::onnx::Node& node = source.placed.model.graph.nodes[source.piece.node];
  return KitWriter(source, (fs::path(folder) / folder_name(source.piece, node)).string()).run();
}

}  // namespace opdrift::diagnose
