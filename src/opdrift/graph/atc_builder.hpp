#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"

namespace opdrift::graph {

/// Largest output number believed; keeps indices inside int.
inline constexpr int kMaxOutputIndex = 1'000'000;

/// What an attr list belongs to.
enum class AttributeOwner : std::uint8_t { model, op, output, input };

/// One `{key, value}` entry of an attr list as it was found, before its kind is judged.
struct FoundAttribute {
  enum class Field : std::uint8_t { none, text, integer, real, boolean, list, odd };

  std::string key;
  Field field = Field::none;  ///< none: value null or empty
  Field items = Field::none;  ///< of a list; none: empty list
  Attribute value;

  bool keep = false;  ///< the value is worth collecting

  void clear();
};

/// The attribute of an input that holds the extents it may have.
inline constexpr std::string_view kShapeRange = "shape_range";

/// True for the attributes that pairing uses; only their kinds are checked.
bool is_pairing_attribute(AttributeOwner owner, std::string_view key);

/// Collects a graph from parts found by the reader of `atc --mode=1` files. Calls come in file
/// order: begin_op, its fields and attributes, begin_output, end_output, end_op.
class AtcBuilder {
 public:
  explicit AtcBuilder(bool keep_attributes) : keep_attributes_(keep_attributes) {}

  /// True when the value of such an attribute is worth collecting.
  bool wants(AttributeOwner owner, std::string_view key) const;
  bool wants_inputs() const { return keep_attributes_; }

  Graph graph;
  Operator op;        ///< the one being read
  OutputDesc output;  ///< the one being read
  InputDesc input;    ///< the one being read

  void begin_graph();
  void begin_op();
  void begin_output();
  void begin_input() { input = InputDesc{}; }
  void end_input() { op.input_descs.push_back(std::move(input)); }
  /// Fails with bad_json when name or type was missing.
  Status end_op();
  void end_output();
  void set_op_name(std::string name);
  void set_op_type(std::string type);
  void add_input(const std::string& entry);
  /// Takes the attribute's value. Fails with bad_json when a used attribute has another kind.
  Status add_attribute(AttributeOwner owner, FoundAttribute& found);

 private:
  Status add_op_attribute(FoundAttribute& found);
  Status add_output_attribute(FoundAttribute& found);

  bool keep_attributes_;
  bool name_seen_ = false;
  bool type_seen_ = false;
  std::string origin_format_;  // used when _datadump_origin_format is absent or empty
  std::vector<std::string> originals_;
};

}  // namespace opdrift::graph
