#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/graph/atc_options.hpp"
#include "opdrift/graph/graph.hpp"

/// What a compiled model says about itself, from a graph read with attributes (graph_file.hpp).
///
/// Groups of fused operators and their relation are match::Network of the same graph; quantisers
/// and dequantisers are told by match::is_quantiser and is_dequantiser.
namespace opdrift::graph {

/// Text of a model or operator attribute with its C escapes undone; "" when there is none.
std::string text_attribute(const std::map<std::string, Attribute>& attributes,
                           std::string_view key);
/// Texts of a list attribute, or the single text of one that is no list.
std::vector<std::string> texts_attribute(const std::map<std::string, Attribute>& attributes,
                                         std::string_view key);
std::optional<std::int64_t> integer_attribute(const std::map<std::string, Attribute>& attributes,
                                              std::string_view key);

/// The command that built the model (`atc_cmdline`); no options when the model does not keep it.
AtcOptions build_options(const Graph& model);

/// How the inputs of a model may change:
///
///   batch   --dynamic_batch_size=1,4         gears of one number
///   image   --dynamic_image_size=h,w;h,w     gears of height and width
///   dims    --dynamic_dims=1,2;8,2           gears of every -1 in --input_shape
///   shape   --input_shape_range=...          ranges; or --input_shape with -1 or ~
struct DynamicInputs {
  enum class Kind : std::uint8_t { fixed, batch, image, dims, shape };
  Kind kind = Kind::fixed;
  std::string values;  ///< of the option, as written

  /// True for kinds whose operators stand in one sub-graph per gear.
  bool has_gears() const {
    return kind == Kind::batch || kind == Kind::image || kind == Kind::dims;
  }
  /// The numbers of each gear; empty for ranges.
  std::vector<std::vector<std::int64_t>> gears() const;
};

std::string_view to_string(DynamicInputs::Kind kind);
DynamicInputs dynamic_inputs(const AtcOptions& options);

/// One entry of `--input_shape`: "name:1,3,224,224;other:..." where the name ends at the last
/// colon. A dim is a number (-1 unknown) or a range low~high (high -1: no limit).
struct InputShape {
  struct Dim {
    std::int64_t low = 0;
    std::int64_t high = 0;
  };
  std::string name;
  std::vector<Dim> dims;
};

/// Nothing when the text does not follow that form.
std::optional<std::vector<InputShape>> parse_input_shapes(std::string_view text);

/// Names of the graphs that operators call, in order, each once.
std::vector<std::string> called_graphs(const Graph& model);

/// The operators to list: those of called graphs are left out, except for models with gears, whose
/// real operators stand there. Positions in Graph::operators.
std::vector<std::size_t> listed_operators(const Graph& model);

/// Number at the end of `..._ascend_mbatch_batch_<number>`.
std::optional<std::uint64_t> gear_of(std::string_view operator_name);

/// Image preprocessing built into the model: attribute `aipp_config_path`, "key:value,key:value".
struct AippOperator {
  std::size_t op = 0;                                         ///< position in Graph::operators
  std::string config;                                         ///< as written, with its escapes
  std::vector<std::pair<std::string, std::string>> settings;  ///< values without quotes

  /// The value of a setting such as "input_format" or "src_image_size_h"; "" when absent.
  std::string setting(std::string_view key) const;
};

std::vector<AippOperator> aipp_operators(const Graph& model);

/// Entries of `attr_model_out_nodes_name`: "node:index" or "node:index:tensor".
struct NetOutputName {
  std::string text;
  std::string node;
  std::int64_t index = 0;
  std::string tensor;
};

std::vector<NetOutputName> net_output_names(const Graph& model);

/// One input or output of the whole network.
struct NetTensor {
  std::string name;    ///< of the Data operator; of outputs the operator that makes it
  std::size_t op = 0;  ///< the Data or NetOutput operator, position in Graph::operators
  InputDesc desc;
  tensor::DType dtype = tensor::DType::raw;  ///< raw: a type without a known size
  /// Bytes of the tensor; nothing when an extent or the type is unknown.
  std::optional<std::uint64_t> bytes;
};

/// The Data operators of the graphs that are not called, by attribute `index` where given. The
/// operators that feed a gear selector (`ascend_mbatch_shape_data`) are not part of it.
std::vector<NetTensor> net_inputs(const Graph& model);
/// The inputs of NetOutput, with gears those of the first called graph that has one.
std::vector<NetTensor> net_outputs(const Graph& model);

/// Type of "DT_FLOAT16"; nothing for an unknown name.
std::optional<tensor::DType> dtype_of_proto_name(std::string_view name);

/// Graph-fusion passes (`pass_name`) and UB-fusion passes (`pass_name_ub`,
/// `_single_op_ub_pass_name`) that made an operator.
std::vector<std::string> fusion_passes(const Operator& op);
std::vector<std::string> ub_fusion_passes(const Operator& op);
/// Both, each once.
std::vector<std::string> all_fusion_passes(const Operator& op);

/// The names of originals worth showing: without empty ones; empty for an operator that stands for
/// itself.
std::vector<std::string> fused_originals(const Operator& op);

}  // namespace opdrift::graph
