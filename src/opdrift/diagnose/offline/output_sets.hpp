#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"

/// What goes in and comes out of one network in up to three runs: the framework it was trained in,
/// its ONNX model, and the offline model. Which boundary does the error come in at?
///
///   set     = a folder of .npy and .bin files
///   pairing = by the name without ending where every file of the smaller set has a partner, else
///             by the first number in the names, then by name
///   bin     = numbers of the partner's type when the sizes agree, else f32, f16 or f64 by its size
///
///   inputs of two runs differ               preprocess
///   framework and ONNX outputs differ       export
///   those and the offline model's differ    model
///   all agree                               postprocess: look behind the outputs
///
/// Two arrays agree when their cosine is above 0.99 (a constant or single number: when their
/// relative L2 distance is below 0.01), and no NaN or infinity stands in other places.
namespace opdrift::diagnose::offline {

enum class Boundary : unsigned char { preprocess, export_model, model, postprocess };

std::string_view to_string(Boundary boundary);

/// How near two arrays are.
enum class Nearness : unsigned char { identical, close, near, different, unreadable };

std::string_view to_string(Nearness nearness);

struct ArrayPair {
  std::string golden;  ///< file names
  std::string target;
  Nearness nearness = Nearness::unreadable;
  double cosine = 0;
  double max_abs = 0;
  double relative_l2 = 0;
  std::string reason;  ///< why they cannot be compared
};

/// Two sets against each other.
struct SetComparison {
  std::string title;  ///< "outputs, onnx against framework"
  std::vector<ArrayPair> pairs;
  std::vector<std::string> lonely;  ///< files without partner

  bool agrees() const;
};

struct OutputSets {
  std::string framework;  ///< folders; "" for none
  std::string onnx;
  std::string offline;
  std::string framework_inputs;
  std::string onnx_inputs;
  std::string offline_inputs;
};

struct BoundaryReport {
  std::vector<SetComparison> inputs;
  std::vector<SetComparison> outputs;
  Boundary verdict = Boundary::postprocess;
  std::string culprit;  ///< title of the comparison the verdict rests on, "" for postprocess
};

/// Fails with invalid_argument (fewer than two sets of outputs, a set without files) and as listing
/// a folder does. Files that cannot be read are pairs of their own and do not agree.
Result<BoundaryReport> compare_output_sets(const OutputSets& sets);

}  // namespace opdrift::diagnose::offline
