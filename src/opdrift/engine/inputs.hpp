#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/tensor/view.hpp"

/// What a model is fed with.
///
/// From a file: npy (or any other format opdrift reads that holds one tensor) or `.bin`, the plain
/// bytes. Element type and fixed extents have to match the model; f16, bf16 and f64 files are
/// converted for an f32 input. From a tensor at hand: the same, where no file is named.
///
/// Made up, the same bytes on every machine: element i of input N is the i-th output z of
/// SplitMix64 started at mix(seed) xor FNV-1a(N), turned into
///
///   f32 f16 bf16   (z >> 40) / 2^24, uniform in [0, 1)        f64   (z >> 11) / 2^53
///   u8 i8          z mod 256, as bits
///   i16 ... u64    1: a token, a mask entry, a length that nearly every model takes
///   bool           true
///
/// Extents the model leaves open: as given by --dim (by symbol, or as `input:axis`), as a file
/// given for another input with that symbol tells, else 1 for axis 0, 224 for the axes from 2 on of
/// floating inputs of rank 3 and more, 16 for all others.
namespace opdrift::engine {

struct InputFile {
  std::string name;  ///< "" where the model has one input only
  std::string path;
};

/// A tensor that a caller has already, of another dump for example.
struct InputTensor {
  std::string name;
  tensor::View view;
  std::string path;    ///< for messages
  std::string source;  ///< as ModelInputs::sources tells
};

struct InputOptions {
  std::vector<InputFile> files;
  std::vector<InputTensor> tensors;
  std::map<std::string, std::uint64_t> dims;
  std::uint64_t seed = 0;
};

struct ModelInputs {
  std::vector<NamedTensor> tensors;             ///< in the model's order
  std::vector<std::string> sources;             ///< path, of a tensor what it says, or "seed N"
  std::map<std::string, std::uint64_t> chosen;  ///< extents taken from the defaults
};

/// Fails with invalid_argument (no such input or extent, wrong type or shape), unsupported (inputs
/// that are no tensors of numbers), limit (over 16 GiB) and what reading a file may fail with.
Result<ModelInputs> make_inputs(const io::onnx::Graph& graph, const InputOptions& options);

/// The inputs a caller has to give: those that are not initializers.
std::vector<const io::onnx::ValueInfo*> required_inputs(const io::onnx::Graph& graph);

}  // namespace opdrift::engine
