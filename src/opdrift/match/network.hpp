#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opdrift/graph/graph.hpp"

/// The target's graph as pairing sees it: operators in groups, one group per original operator or
/// fusion.
///
///   key of an operator  = its L1 fusion number, if it has one
///                       | its only original name
///                       | its original names, joined (several)
///                       | its own name (device-only)
///
///   group                                      relation
///   one operator, at most one original         one_to_one
///   one operator, several originals            many_to_one
///   several, the first has an L1 number        l1_fusion
///   several, the first has one original        one_to_many
///   several, otherwise                         many_to_many
namespace opdrift::match {

enum class Relation : std::uint8_t {
  one_to_one,
  many_to_one,
  l1_fusion,
  one_to_many,
  many_to_many
};

const char* to_string(Relation relation);

/// What one output of an operator was in the original graph.
struct Description {
  std::string origin_name;          ///< "" when it has no counterpart
  std::optional<int> origin_index;  ///< nothing: the number that was asked for
  std::string format;
  tensor::Shape shape;
  std::string dtype;
};

/// Why an operator gives no rows although its dump may be there.
enum class LeftOut : std::uint8_t {
  no,
  duplicate,   ///< an operator of the same name came first in its group
  quant_pair,  ///< works on quantised numbers between a quantise and a dequantise operator
  merged,      ///< another operator with the same first original was kept instead
};

const char* to_string(LeftOut reason);

/// One operator of the target's graph.
struct Node {
  std::string name;
  std::string type;
  std::int64_t id = 0;
  std::vector<graph::InputRef> inputs;
  std::vector<std::string> originals;
  std::vector<Description> outputs;
  std::string l1_group;
  bool multi_op = false;
  bool originals_given = false;
  std::size_t group = 0;
  LeftOut left_out = LeftOut::no;

  std::string joined_originals() const;
};

struct Group {
  Relation relation = Relation::one_to_one;
  std::vector<std::size_t> members;  ///< nodes in file order; empty when all were merged away

  bool shared() const { return members.size() > 1; }
};

struct NetworkOptions {
  /// Keep `_lxslice<n>` in operator names, so that manual slices are operators of their own.
  bool keep_slice_names = false;
};

class Network {
 public:
  Network() = default;
  explicit Network(const graph::Graph& graph, const NetworkOptions& options = {});
  /// From nodes that were changed: makes groups anew.
  static Network regroup(std::vector<Node> nodes);

  std::vector<Node> nodes;             ///< file order
  std::vector<Group> groups;           ///< order of first appearance; the position is the Index
  std::vector<std::size_t> run_order;  ///< nodes by id, stable

  /// The operator of that name; the first one when several groups have it.
  std::optional<std::size_t> find(std::string_view name) const;
  /// Makes an operator unknown to `find`.
  void forget(std::size_t node);
  /// Derives the relation of every group from its members.
  void judge_relations();
  /// Largest id of the graph; 0 when it is empty.
  std::int64_t last_id() const;
  /// Names of the network's inputs (operators of type Data).
  std::vector<std::string> input_names() const;

 private:
  void make_groups();
  void name_lone_outputs();

  std::unordered_map<std::string, std::size_t> by_name_;
};

/// Names as shown in tables: all members of the group, and the distinct originals (`*` for none).
std::string shown_target(const Network& network, const Group& group);
std::string shown_golden(const Network& network, const Group& group);

/// `name` without every `_lxslice<digits>`.
std::string without_slices(std::string_view name);

/// Operator name as written in dump file names: `/` and `.` become `_`.
std::string dump_key(std::string_view operator_name);

}  // namespace opdrift::match
