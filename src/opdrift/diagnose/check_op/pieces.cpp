#include "opdrift/diagnose/check_op/pieces.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/engine/instrument.hpp"

namespace opdrift::diagnose {

namespace {

namespace onnx = io::onnx;

constexpr std::string_view kMark = "/opdrift_piece_";

bool is_random(const onnx::Node& node) {
  constexpr std::array<std::string_view, 6> kTypes = {"RandomNormal",  "RandomNormalLike",
                                                      "RandomUniform", "RandomUniformLike",
                                                      "Multinomial",   "Bernoulli"};
  return std::find(kTypes.begin(), kTypes.end(), node.op_type) != kTypes.end();
}

bool has_body(const onnx::Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const onnx::Attribute& attribute) { return !attribute.graphs.empty(); });
}

class Planner {
 public:
  Planner(const onnx::Graph& graph, const TargetValues& target) : graph_(graph), target_(target) {
    for (const std::string_view name : initializer_names(graph)) {
      constants_.emplace(name);
    }
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      const onnx::Node& node = graph.nodes[n];
      const bool shapes = depends_on_shapes(node);
      for (const std::string& output : node.outputs) {
        producers_.emplace(output, n);
        if (node.op_type == "Constant") {
          constants_.insert(output);
        } else if (shapes) {
          shape_values_.insert(output);
        }
      }
    }
  }

  std::vector<Piece> run() {
    std::vector<Piece> pieces;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].op_type != "Constant") {
        pieces.push_back(plan(n, pieces.size()));
      }
    }
    return pieces;
  }

 private:
  bool known_from_shapes(const std::string& value) const {
    return constants_.contains(value) || shape_values_.contains(value);
  }

  /// Whether what the node makes follows from shapes and constants alone.
  bool depends_on_shapes(const onnx::Node& node) const {
    if (node.op_type == "Shape" || node.op_type == "Size") {
      return true;
    }
    return !is_random(node) && !has_body(node) &&
           std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& value) {
             return value.empty() || known_from_shapes(value);
           });
  }

  Piece plan(std::size_t node, std::size_t number) {
    piece_ = {};
    piece_.node = node;
    piece_.mark = std::string(kMark) + std::to_string(number);
    merged_ = nullptr;
    find_outputs(graph_.nodes[node]);
    if (piece_.outputs.empty()) {
      refuse("none of its outputs were dumped");
    } else if (is_random(graph_.nodes[node])) {
      refuse("makes random numbers");
    } else {
      add_nodes(node);
    }
    return std::move(piece_);
  }

  void find_outputs(const onnx::Node& node) {
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
      const auto found = target_.made.find(node.outputs[i]);
      if (node.outputs[i].empty() || found == target_.made.end()) {
        continue;
      }
      piece_.outputs.push_back({i, node.outputs[i], node.outputs[i] + piece_.mark, found->second});
      const auto merged = target_.merged.find(node.outputs[i]);
      merged_ = merged == target_.merged.end() ? merged_ : &merged->second;
    }
  }

  /// The node and what its piece has to make for it. No recursion: chains may be of any length.
  void add_nodes(std::size_t last) {
    joined_ = {last};
    open_ = {last};
    while (!open_.empty()) {
      const std::size_t node = open_.back();
      open_.pop_back();
      provide_inputs(node);
    }
    joined_.erase(last);
    piece_.nodes.assign(joined_.begin(), joined_.end());
    std::sort(piece_.nodes.begin(), piece_.nodes.end());  // the order of the file
    piece_.nodes.push_back(last);
  }

  void provide_inputs(std::size_t n) {
    const onnx::Node& node = graph_.nodes[n];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].empty() && !constants_.contains(node.inputs[i])) {
        provide(node.inputs[i], n, i);
      }
    }
    for (const std::string& value : engine::captured_values(node)) {
      if (!constants_.contains(value)) {
        provide_captured(value);
      }
    }
  }

  void provide(const std::string& value, std::size_t reader, std::size_t position) {
    const std::string& name = graph_.nodes[reader].name;
    const auto own = target_.inputs.find(own_input_key(name, position));
    if (reader == piece_.node && merged_ == nullptr && own != target_.inputs.end()) {
      add_input({value, value + piece_.mark + "_" + std::to_string(position), own->second});
      return;
    }
    const auto made = target_.made.find(value);
    if (made != target_.made.end()) {
      add_input({value, value, made->second});
      return;
    }
    const auto producer = producers_.find(value);
    if (producer == producers_.end()) {
      refuse("the network input '" + value + "' was not dumped");
    } else if (shape_values_.contains(value) || is_merged(producer->second)) {
      join(producer->second);
    } else {
      refuse("input '" + value + "', made by '" + graph_.nodes[producer->second].name +
             "', was not dumped");
    }
  }

  void provide_captured(const std::string& value) {
    const auto made = target_.made.find(value);
    if (made != target_.made.end()) {
      add_input({value, value, made->second});
    } else {
      refuse("'" + value + "', which its body reads, was not dumped");
    }
  }

  bool is_merged(std::size_t node) const {
    return merged_ != nullptr && merged_->contains(graph_.nodes[node].name);
  }

  void join(std::size_t node) {
    if (piece_.reason.empty() && joined_.insert(node).second) {
      open_.push_back(node);
    }
  }

  void add_input(PieceInput input) {
    const auto same =
        std::find_if(piece_.inputs.begin(), piece_.inputs.end(),
                     [&](const PieceInput& known) { return known.name == input.name; });
    if (same == piece_.inputs.end()) {
      piece_.inputs.push_back(std::move(input));
    }
  }

  void refuse(std::string reason) {
    piece_.complete = false;
    if (piece_.reason.empty()) {
      piece_.reason = std::move(reason);
    }
  }

  const onnx::Graph& graph_;
  const TargetValues& target_;
  std::unordered_set<std::string> constants_;
  std::unordered_set<std::string> shape_values_;
  std::unordered_map<std::string, std::size_t> producers_;
  const std::unordered_set<std::string>* merged_ = nullptr;
  Piece piece_;
  std::unordered_set<std::size_t> joined_;  // nodes of the piece
  std::vector<std::size_t> open_;           // of these, those whose inputs are still to be provided
};

}  // namespace

std::vector<Piece> cut_into_pieces(const onnx::Graph& graph, const TargetValues& target) {
  return Planner(graph, target).run();
}

std::string without_marks(std::string text) {
  for (std::size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at)) {
    std::size_t end = at + kMark.size();
    while (end < text.size() &&
           (text[end] == '_' || std::isdigit(static_cast<unsigned char>(text[end])) != 0)) {
      ++end;
    }
    text.erase(at, end - at);
  }
  return text;
}

}  // namespace opdrift::diagnose
