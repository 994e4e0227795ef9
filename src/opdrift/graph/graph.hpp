#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/tensor/tensor.hpp"

namespace opdrift::graph {

/// One data input of an operator: which output of which operator feeds it.
struct InputRef {
  std::string producer;     ///< operator name; "" when absent
  int index = 0;            ///< output number of the producer
  std::string tensor;       ///< tensor name where the source has one (ONNX), else ""
  std::string text;         ///< the entry as written, for error messages
  bool well_formed = true;  ///< false when the entry is not "name:number"
};

/// One output of an operator and what it was in the original (framework) graph.
struct OutputDesc {
  std::string tensor;  ///< tensor name where the source has one, else ""
  std::string dtype;   ///< as written in the source ("DT_FLOAT16")
  std::string format;
  tensor::Shape shape;
  std::string origin_name;          ///< original operator that made this output; "" unknown
  std::optional<int> origin_index;  ///< its output number
  std::string origin_format;        ///< layout of the golden, "" unknown
  tensor::Shape origin_shape;
  bool described = true;  ///< false when the source says nothing about its origin (no attributes)
};

/// One input of an operator as the operator itself describes it.
struct InputDesc {
  std::string dtype;  ///< as written in the source ("DT_FLOAT16")
  std::string format;
  std::vector<std::int64_t> dims;    ///< -1: unknown extent; a lone -2: unknown rank
  std::vector<std::int64_t> ranges;  ///< least and most of every dim, -1: no limit; may be empty
};

/// Attribute values that replay and reports may need.
struct Attribute {
  enum class Kind { integer, real, text, integers, reals, texts, tensor, other };
  Kind kind = Kind::other;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  /// A tensor attribute: every value is in `reals`, whatever its type (64-bit integers are in
  /// `integers` as well), row-major in this shape.
  tensor::Shape tensor_shape;
  tensor::DType tensor_dtype = tensor::DType::raw;
};

/// One operator of a graph, whatever file it came from.
struct Operator {
  std::string name;
  std::string type;
  std::int64_t id = 0;  ///< position in execution order as the source says
  std::vector<InputRef> inputs;
  std::vector<OutputDesc> outputs;
  /// Optional inputs that nothing feeds and that stand before one that is fed: for each, how many
  /// of `inputs` come before it. Compiled models read with their attributes only.
  std::vector<std::size_t> absent_inputs;
  std::vector<InputDesc> input_descs;       ///< of a compiled model, where attributes are kept
  std::vector<std::string> original_names;  ///< operators of the original graph merged into this
  std::map<std::string, Attribute> attributes;
  std::string l1_fusion_group;         ///< "" when not part of an L1 fusion
  bool multi_op = false;               ///< one of several that replace an original
  bool device_only = false;            ///< has no counterpart in the original graph
  bool originals_given = false;        ///< false when `original_names` is only the own name
  std::size_t graph = 0;               ///< position in Graph::graph_names
  std::vector<std::string> subgraphs;  ///< names of the graphs this operator calls
  std::string domain;  ///< ONNX operator domain; "" for the default one and for other sources
  int opset = 0;       ///< ONNX operator set the type belongs to; 0 unknown (the newest is assumed)
};

/// Operators in file order. Names may repeat; pairing decides which one counts.
struct Graph {
  std::string name;
  std::string source_path;
  std::vector<std::string> graph_names;  ///< one per graph of the source, in file order
  std::vector<Operator> operators;
  std::map<std::string, Attribute> attributes;  ///< of the model, where the reader keeps them
  std::vector<std::string> warnings;            ///< what the reader had to leave out
};

}  // namespace opdrift::graph
