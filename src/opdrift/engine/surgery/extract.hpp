#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/engine/surgery/part.hpp"

/// Cutting a sub-graph out of a model.
///
///   kept    = downstream(starts) and upstream(ends) at once
///   inputs  = what kept nodes read from elsewhere, by first use in node order
///   outputs = all outputs of the end nodes, in the order of the ends
///
/// Without starts these are all readers of graph inputs, without ends all makers of graph outputs.
/// A start that reaches no end, and an end that no start reaches, is left out whole; a start or end
/// inside the region makes no input out of an inner value. Both are warned about.
namespace opdrift::engine {

struct ExtractOptions {
  std::vector<std::string> starts;
  std::vector<std::string> ends;
  std::map<std::string, std::vector<io::onnx::Dim>> input_shapes;
  std::map<std::string, int> input_types;  ///< TensorProto.DataType
  ValueTypes known;                        ///< types of values that the model leaves open
};

/// Something to know about the result.
struct ExtractWarning {
  enum class Kind : std::uint8_t {
    start_unused,     ///< reaches no end
    end_unused,       ///< reached by no start
    start_nested,     ///< another start reaches it
    end_nested,       ///< it reaches another end
    override_unused,  ///< a shape or type for what is no input
  };
  Kind kind = Kind::override_unused;
  std::string name;
};

/// "start-nested" and so on.
std::string_view to_string(ExtractWarning::Kind kind);
/// A sentence for people.
std::string describe(const ExtractWarning& warning);

struct Extracted {
  Part part;
  std::vector<std::string> nodes;  ///< names, in the order of the part
  std::vector<ExtractWarning> warnings;
};

/// Fails with not_found (a start or end the model has not), ambiguous (two operators of one name,
/// wherever they are) or mismatch (no path from the starts to the ends).
Result<Extracted> extract(const Workpiece& piece, const ExtractOptions& options);

/// TensorProto.DataType by the name numpy has for it or a short form (fp16): bool int int8 ...
/// int64 intc intp uint8 ... uint64 float float16 float32 float64 fp16 fp32 fp64 complex complex64
/// complex128. `int` and `intc` are int32, `float` is float64, `complex` complex128. Fails with
/// unsupported_dtype.
Result<int> element_type_by_name(const std::string& name);

/// "t:1,3;u:batch,-1": shapes by name. A name ends at the last colon of its entry; -1 and ? leave
/// an extent open, a word is a symbol. Fails with invalid_argument.
Result<std::map<std::string, std::vector<io::onnx::Dim>>> parse_shapes(std::string_view text);

/// "t:fp16;u:int8": types by name.
Result<std::map<std::string, int>> parse_types(std::string_view text);

}  // namespace opdrift::engine
