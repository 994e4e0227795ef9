#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/diagnose/offline/shape_range.hpp"
#include "opdrift/engine/inputs.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/tensor/dtype.hpp"

/// The inputs of both sides of one comparison:
///
///   <folder>/input_<i>.bin           what the device gets: the bytes of the given file, or random
///   <folder>/../golden_input/<i>.npy what the golden model gets, the same numbers
///
/// Random numbers are uniform in [0, 1), so integers are 0 and booleans true; the same on every
/// machine. For an AIPP model they are bytes of an image. Files that are in the folder already are
/// used again, by the first number in their names.
namespace opdrift::diagnose::offline {

/// One input as a model wants it.
struct WantedInput {
  std::string name;
  tensor::DType dtype = tensor::DType::f32;
  std::optional<tensor::Shape> shape;         ///< nothing while an extent is open
  std::optional<std::uint64_t> device_bytes;  ///< as the offline model takes it
  bool gears = false;                         ///< a file of fewer bytes is one of the smaller gears
  std::optional<tensor::DType> device_dtype;
};

/// Inputs of an ONNX model; open extents as `shapes` says. Fails with tensor_type for inputs that
/// are no tensors of numbers, with bad_parameter for a shape that does not fit the model.
Outcome<std::vector<WantedInput>> wanted_inputs(const io::onnx::Graph& golden,
                                                const std::vector<InputShape>& shapes);

/// Inputs of an offline model. Fails with bad_key for a type without a size.
Outcome<std::vector<WantedInput>> wanted_inputs(const graph::Graph& model,
                                                const std::vector<InputShape>& shapes);

/// Adds what the offline model says of its inputs, by position. Fails with bad_data when the
/// numbers of inputs differ.
Done add_device_sizes(std::vector<WantedInput>& inputs, const graph::Graph& model);

struct InputRequest {
  std::vector<std::string> files;  ///< .npy or .bin; none: random
  std::string folder;              ///< made if missing
  std::vector<WantedInput> wanted;
  bool image = false;  ///< an AIPP model: the golden side gets other inputs
};

struct InputFiles {
  std::vector<std::string> device;        ///< paths of bin files
  std::vector<engine::InputFile> golden;  ///< none for AIPP models
};

/// Fails with bad_path and bad_parameter (files), bad_data (their number, their element count),
/// bin_size (bytes the offline model does not take) and as writing does.
Outcome<InputFiles> make_input_files(const InputRequest& request);

}  // namespace opdrift::diagnose::offline
