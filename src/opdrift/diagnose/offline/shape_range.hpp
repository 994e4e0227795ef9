#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Shapes of inputs as texts.
///
///   shapes  = input { ";" input }        input = name ":" dim { "," dim }
///   ranges  = the same with dim = part { "-" part }      part = number
///           | first "~" last | first "~" last "~" step
///
/// A name ends at the last colon, so it may hold colons itself. A range holds its last number when
/// the steps meet it.
namespace opdrift::diagnose::offline {

struct InputShape {
  std::string name;
  tensor::Shape dims;
};

/// Dims as they stand in the text ("-1", "2~8"), for the command line of an offline model.
struct RawShape {
  std::string name;
  std::vector<std::string> dims;
};

/// Fails with invalid_argument (no colon, empty name or dim, a character outside
/// _A-Za-z0-9,;:/.-~).
Result<std::vector<RawShape>> parse_raw_shapes(std::string_view text);

/// `name:1,3,224,224;name2:3,300`. Fails as parse_raw_shapes does, and for dims that are no natural
/// numbers or a name given twice.
Result<std::vector<InputShape>> parse_shapes(std::string_view text);

/// Most combinations that are run.
inline constexpr std::size_t kMaxShapes = 1'000'000;

/// All combinations of a range text, each as a text for parse_shapes: the dims of one input and the
/// inputs among each other as nested loops, the last one turning fastest. Fails with
/// invalid_argument (as above; an input of 50 characters or more, or of more than 4 dims; a step of
/// 0; a range that runs backwards) or limit (more than kMaxShapes).
Result<std::vector<std::string>> expand_ranges(std::string_view text);

/// Name of the folder for one combination: ":" and ";" become "-", "," and "/" become "_".
std::string shape_folder(std::string_view shapes);

/// Dims of an input by name; nothing known gives an empty pointer.
const InputShape* find_shape(const std::vector<InputShape>& shapes, std::string_view name);

}  // namespace opdrift::diagnose::offline
