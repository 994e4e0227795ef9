#include "opdrift/graph/ge_text.hpp"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/text_format.hpp"

namespace opdrift::graph {

namespace {

/// Which message of the graph a brace opened.
enum class Level { graph, op, op_attribute, op_value, output, attribute, value, shape, other };

Level level_of(Level parent, std::string_view field) {
  switch (parent) {
    case Level::graph:
      return field == "op" ? Level::op : field == "graph" ? Level::graph : Level::other;
    case Level::op:
      return field == "output_desc" ? Level::output
             : field == "attr"      ? Level::op_attribute
                                    : Level::other;
    case Level::op_attribute: return field == "value" ? Level::op_value : Level::other;
    case Level::op_value: return field == "list" ? Level::op_value : Level::other;
    case Level::output:
      return field == "attr" ? Level::attribute : field == "shape" ? Level::shape : Level::other;
    case Level::attribute: return field == "value" ? Level::value : Level::other;
    case Level::value:
    case Level::shape:
    case Level::other: break;
  }
  return Level::other;
}

/// "Add_2:0" -> producer and index.
InputRef input_ref(std::string text) {
  InputRef ref;
  const std::size_t colon = text.rfind(':');
  constexpr std::int64_t kNone = -2;
  const std::int64_t index =
      colon == std::string::npos
          ? kNone
          : parse_i64(std::string_view(text).substr(colon + 1)).value_or(kNone);
  ref.producer = text.substr(0, index == kNone ? std::string::npos : colon);
  ref.well_formed = index >= -1 && index < (1 << 24);
  ref.index = ref.well_formed ? static_cast<int>(index) : 0;
  ref.text = std::move(text);
  return ref;
}

class GeTextHandler : public TextFormatHandler {
 public:
  Status begin_message(std::string_view field) override {
    levels_.push_back(level_of(levels_.back(), field));
    enter(levels_.back());
    return Unit{};
  }

  Status end_message() override {
    leave(levels_.back());
    levels_.pop_back();
    return Unit{};
  }

  bool wants(std::string_view field) const override { return wanted(levels_.back(), field); }

  Status value(std::string_view field, std::string value, bool /*quoted*/) override {
    assign(levels_.back(), field, std::move(value));
    return Unit{};
  }

  Graph take() {
    graph_.graph_names.push_back(graph_.name);
    return std::move(graph_);
  }

 private:
  static bool wanted(Level level, std::string_view name) {
    switch (level) {
      case Level::graph: return name == "name";
      case Level::op: return name == "name" || name == "type" || name == "input";
      case Level::output: return name == "dtype" || name == "layout";
      case Level::op_attribute:
      case Level::attribute: return name == "key";
      case Level::op_value: return name == "s" || name == "i" || name == "f" || name == "b";
      case Level::value: return name == "s";
      case Level::shape: return name == "dim";
      case Level::other: break;
    }
    return false;
  }

  void assign(Level level, std::string_view name, std::string value) {
    switch (level) {
      case Level::graph: graph_.name = std::move(value); break;
      case Level::op: assign_operator(name, std::move(value)); break;
      case Level::output:
        (name == "dtype" ? output_.dtype : output_.format) = std::move(value);
        break;
      case Level::op_attribute:
      case Level::attribute: key_ = std::move(value); break;
      case Level::op_value: add_to_attribute(name, std::move(value)); break;
      case Level::value: value_ = std::move(value); break;
      case Level::shape:
        if (const auto dim = parse_u64(value)) {
          output_.shape.push_back(*dim);
        }
        break;
      case Level::other: break;
    }
  }

  void add_to_attribute(std::string_view name, std::string value) {
    if (name == "s") {
      attribute_.texts.push_back(std::move(value));
    } else if (name == "f") {
      attribute_.reals.push_back(parse_double(value).value_or(0.0));
    } else if (name == "b") {
      attribute_.integers.push_back(value == "true" || value == "1" ? 1 : 0);
    } else if (const auto whole = parse_i64(value)) {
      attribute_.integers.push_back(*whole);
    }
  }

  /// Attributes of the compiler's own begin with an underscore.
  void keep_attribute() {
    using Kind = Attribute::Kind;
    if (key_.empty() || key_.front() == '_') {
      return;
    }
    attribute_.kind = !attribute_.texts.empty()      ? Kind::texts
                      : !attribute_.reals.empty()    ? Kind::reals
                      : !attribute_.integers.empty() ? Kind::integers
                                                     : Kind::other;
    operator_.attributes.insert_or_assign(key_, std::move(attribute_));
  }

  void assign_operator(std::string_view name, std::string value) {
    if (name == "name") {
      operator_.name = std::move(value);
    } else if (name == "type") {
      operator_.type = std::move(value);
    } else {
      operator_.inputs.push_back(input_ref(std::move(value)));
    }
  }

  void enter(Level level) {
    if (level == Level::op) {
      operator_ = Operator{};
    } else if (level == Level::output) {
      output_ = OutputDesc{};
    } else if (level == Level::attribute || level == Level::op_attribute) {
      key_.clear();
      value_.clear();
      attribute_ = Attribute{};
    }
  }

  void leave(Level level) {
    if (level == Level::op) {
      operator_.id = static_cast<std::int64_t>(graph_.operators.size());
      graph_.operators.push_back(std::move(operator_));
    } else if (level == Level::output) {
      operator_.outputs.push_back(std::move(output_));
    } else if (level == Level::op_attribute) {
      keep_attribute();
    } else if (level == Level::attribute && key_ == "_fx_tensor_name") {
      output_.tensor = value_;
    }
  }

  std::vector<Level> levels_ = {Level::graph};
  Graph graph_;
  Operator operator_;
  OutputDesc output_;
  Attribute attribute_;
  std::string key_;
  std::string value_;
};

}  // namespace

Result<Graph> parse_ge_text(std::string_view text) {
  GeTextHandler handler;
  OPDRIFT_CHECK_OK(scan_text_format(text, handler));
  return handler.take();
}

Result<Graph> read_ge_text(const std::string& path) {
  OPDRIFT_TRY(const auto file, MappedFile::open(path));
  Result<Graph> graph = parse_ge_text(as_text(file->bytes()));
  if (!graph) {
    Error error = graph.error();
    error.path = path;
    return error;
  }
  graph->source_path = path;
  return graph;
}

}  // namespace opdrift::graph
