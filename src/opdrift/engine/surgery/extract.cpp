#include "opdrift/engine/surgery/extract.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;
using Kind = ExtractWarning::Kind;
using Nodes = std::vector<std::size_t>;

struct TypeName {
  std::string_view name;
  int element_type;
};

constexpr TypeName kTypeNames[] = {
    {"bool", 9},        {"int", 6},        {"intc", 6},     {"int32", 6},    {"intp", 7},
    {"int64", 7},       {"int8", 3},       {"int16", 5},    {"uint8", 2},    {"uint16", 4},
    {"uint32", 12},     {"uint64", 13},    {"float", 11},   {"float64", 11}, {"fp64", 11},
    {"float32", 1},     {"fp32", 1},       {"float16", 10}, {"fp16", 10},    {"complex", 15},
    {"complex128", 15}, {"complex64", 14},
};

struct KindText {
  Kind kind;
  std::string_view name;
  std::string_view before;
  std::string_view after;
};

constexpr KindText kKinds[] = {
    {Kind::start_unused, "start-unused", "start '", "' reaches no end: left out"},
    {Kind::end_unused, "end-unused", "end '", "' is reached by no start: left out"},
    {Kind::start_nested, "start-nested", "start '",
     "' lies behind another start: its inner values become no inputs"},
    {Kind::end_nested, "end-nested", "end '", "' lies before another end: it stays an output"},
    {Kind::override_unused, "override-unused", "'",
     "' is no input of the sub-graph: its shape or type is not used"},
};

const KindText& text_of(Kind kind) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&](const KindText& row) { return row.kind == kind; });
}

/// One extraction from names to part.
class Extractor {
 public:
  Extractor(const Workpiece& piece, const ExtractOptions& options)
      : piece_(piece), options_(options) {}

  Result<Extracted> run() {
    OPDRIFT_CHECK_OK(check_names());
    OPDRIFT_TRY(Nodes starts, resolve(options_.starts, "to start at"));
    OPDRIFT_TRY(Nodes ends, resolve(options_.ends, "to end at"));
    starts = options_.starts.empty() ? input_readers(piece_) : starts;
    ends = options_.ends.empty() ? output_makers(piece_) : ends;
    const NodeSet from_starts = downstream(piece_.graph, starts);
    const NodeSet to_ends = upstream(piece_.graph, ends);
    NodeSet kept(piece_.graph.size(), false);
    for (std::size_t node = 0; node < kept.size(); ++node) {
      kept[node] = from_starts[node] && to_ends[node];
    }
    if (std::find(kept.begin(), kept.end(), true) == kept.end()) {
      return Error{ErrorCode::mismatch, "no path leads from " + list(starts, "the inputs") +
                                            " to " + list(ends, "the outputs")};
    }
    check(starts, kept, Kind::start_unused, Kind::start_nested,
          [&](std::size_t node) { return piece_.graph.before(node); });
    check(ends, kept, Kind::end_unused, Kind::end_nested,
          [&](std::size_t node) { return piece_.graph.after(node); });
    return finish(std::move(kept), ends);
  }

 private:
  /// ONNX Runtime takes no two operators of one name, and results could not be told apart.
  Status check_names() const {
    std::unordered_set<std::string_view> names;
    for (std::size_t node = 0; node < piece_.graph.size(); ++node) {
      const std::string& name = piece_.graph.name(node);
      if (!names.insert(name).second) {
        return Error{ErrorCode::ambiguous,
                     "expected every operator to have a name of its own, found " +
                         std::to_string(piece_.graph.named(name).size()) + " called '" +
                         printable(name) + "'"};
      }
    }
    return Unit{};
  }

  Result<Nodes> resolve(const std::vector<std::string>& names, const std::string& what) const {
    Nodes nodes;
    for (const std::string& name : names) {
      OPDRIFT_TRY(const std::size_t node, find_node(piece_, name, what));
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
        nodes.push_back(node);
      }
    }
    return nodes;
  }

  std::string list(const Nodes& nodes, std::string_view none) const {
    std::string text;
    for (const std::size_t node : nodes) {
      text += (text.empty() ? "'" : ", '") + printable(piece_.graph.name(node)) + "'";
    }
    return text.empty() ? std::string(none) : text;
  }

  /// Drops the nodes that are not kept from a list and warns of these and of nested ones: those
  /// with a kept neighbour on the outer side have another start (or end) beyond it.
  template <typename Outside>
  void check(Nodes& nodes, const NodeSet& kept, Kind unused, Kind nested, const Outside& outside) {
    for (const std::size_t node : nodes) {
      const Nodes next = outside(node);
      if (!kept[node]) {
        warn(unused, piece_.graph.name(node));
      } else if (std::any_of(next.begin(), next.end(),
                             [&](std::size_t n) { return static_cast<bool>(kept[n]); })) {
        warn(nested, piece_.graph.name(node));
      }
    }
    std::erase_if(nodes, [&](std::size_t node) { return !kept[node]; });
  }

  void warn(Kind kind, const std::string& name) { result_.warnings.push_back({kind, name}); }

  Result<Extracted> finish(NodeSet kept, const Nodes& ends) {
    PartRequest request;
    request.nodes = std::move(kept);
    request.input_shapes = options_.input_shapes;
    request.input_types = options_.input_types;
    request.known = options_.known;
    for (const std::size_t node : ends) {
      for (const std::string& value : piece_.node(node).outputs) {
        if (!value.empty()) {
          request.outputs.push_back(value);
        }
      }
    }
    result_.part = make_part(piece_, request);
    for (const onnx::Node& node : result_.part.placed.model.graph.nodes) {
      result_.nodes.push_back(node.name);
    }
    warn_of_overrides();
    return std::move(result_);
  }

  void warn_of_overrides() {
    std::map<std::string, int> given = options_.input_types;
    for (const auto& [name, shape] : options_.input_shapes) {
      given.emplace(name, 0);
    }
    const std::vector<std::string>& inputs = result_.part.inputs;
    for (const auto& [name, type] : given) {
      if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) {
        warn(Kind::override_unused, name);
      }
    }
  }

  const Workpiece& piece_;
  const ExtractOptions& options_;
  Extracted result_;
};

/// Name and value of an entry "name:value"; the name may hold colons.
Result<std::pair<std::string, std::string_view>> name_and_value(std::string_view entry,
                                                                std::string_view wanted) {
  const std::size_t colon = entry.rfind(':');
  const std::string name(trim(entry.substr(0, colon == std::string_view::npos ? 0 : colon)));
  if (name.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "expected NAME:" + std::string(wanted) + ", found '" + printable(entry) + "'"};
  }
  return std::pair(name, trim(entry.substr(colon + 1)));
}

bool is_symbol(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits) &&
         !(text.front() >= '0' && text.front() <= '9');
}

Result<onnx::Dim> parse_extent(std::string_view text) {
  constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 62;
  if (text == "-1" || text == "?") {
    return onnx::Dim{};
  }
  if (const std::optional<std::uint64_t> value = parse_u64(text); value && *value < kMaxExtent) {
    return onnx::Dim{value, ""};
  }
  if (is_symbol(text)) {
    return onnx::Dim{std::nullopt, std::string(text)};
  }
  return Error{ErrorCode::invalid_argument,
               "expected an extent (a number, -1 or a symbol), found '" + printable(text) + "'"};
}

}  // namespace

std::string_view to_string(ExtractWarning::Kind kind) {
  return text_of(kind).name;
}

std::string describe(const ExtractWarning& warning) {
  const KindText& row = text_of(warning.kind);
  return std::string(row.before) + printable(warning.name) + std::string(row.after);
}

Result<Extracted> extract(const Workpiece& piece, const ExtractOptions& options) {
  return Extractor(piece, options).run();
}

Result<int> element_type_by_name(const std::string& name) {
  for (const TypeName& row : kTypeNames) {
    if (row.name == name) {
      return row.element_type;
    }
  }
  std::vector<std::string_view> names;
  for (const TypeName& row : kTypeNames) {
    names.push_back(row.name);
  }
  return Error{ErrorCode::unsupported_dtype,
               "unknown element type '" + printable(name) + "'" + did_you_mean(name, names)};
}

Result<std::map<std::string, std::vector<onnx::Dim>>> parse_shapes(std::string_view text) {
  std::map<std::string, std::vector<onnx::Dim>> shapes;
  for (const std::string_view entry : split(text, ';')) {
    if (trim(entry).empty()) {
      continue;
    }
    OPDRIFT_TRY(const auto pair, name_and_value(entry, "1,3,224,224"));
    std::vector<onnx::Dim>& shape = shapes[pair.first];
    shape.clear();
    for (const std::string_view part : split(pair.second, ',')) {
      if (pair.second.empty()) {
        break;  // a scalar
      }
      OPDRIFT_TRY(const onnx::Dim extent, parse_extent(trim(part)));
      shape.push_back(extent);
    }
  }
  return shapes;
}

Result<std::map<std::string, int>> parse_types(std::string_view text) {
  std::map<std::string, int> types;
  for (const std::string_view entry : split(text, ';')) {
    if (trim(entry).empty()) {
      continue;
    }
    OPDRIFT_TRY(const auto pair, name_and_value(entry, "TYPE"));
    OPDRIFT_TRY(types[pair.first], element_type_by_name(std::string(pair.second)));
  }
  return types;
}

}  // namespace opdrift::engine
