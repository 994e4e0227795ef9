#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/engine/inputs.hpp"

/// Operators that ONNX Runtime does not know: the golden model goes without them. Each node of such
/// a type is taken out, and its outputs become inputs of the graph, filled from the device dump.
///
///   type                output  device operator
///   DeformableConv2D    0       type Conv2D, name <node>_conv2d
///   BatchMultiClassNMS  those   same type, name with the same first two parts between "_"
///                       read
///   RoiExtractor        0       as above
namespace opdrift::diagnose::offline {

/// The types above.
const std::vector<std::string>& custom_op_types();

/// Splits "A,B" and checks the names. Fails with bad_parameter.
Outcome<std::vector<std::string>> parse_custom_ops(const std::string& text);

struct CustomModel {
  std::string model;                      ///< path of the model without the operators
  std::vector<engine::InputFile> inputs;  ///< for the new inputs of the graph
};

/// Writes `<folder>/custom_<file name>` and an npy per new input. Fails with no_dump_file when the
/// device dump lacks an operator.
Outcome<CustomModel> take_out_custom_ops(const std::string& model,
                                         const std::vector<std::string>& types,
                                         const std::string& dump_folder, const std::string& folder);

}  // namespace opdrift::diagnose::offline
