#include "opdrift/graph/om/model_graph.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/atc_builder.hpp"
#include "opdrift/graph/atc_json.hpp"

namespace opdrift::graph {

namespace {

using Field = FoundAttribute::Field;
namespace number = field_number;

/// Most operators, inputs, outputs and attributes together, so that memory stays bounded.
constexpr std::size_t kMostParts = 8'000'000;
constexpr std::size_t kMostExpandedBytes = 64'000'000;

float real_of(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

/// A single real as the JSON rendering lets it be read.
double rendered_real(float value) {
  const std::string text = short_real(value);
  const auto rounded = text.empty() ? std::nullopt : parse_double(text);
  return rounded.value_or(static_cast<double>(value));
}

class GraphFiller {
 public:
  GraphFiller(const ModelDef& model, bool attributes)
      : model_(model), keep_(attributes), builder_(attributes) {}

  Result<Graph> fill() {
    builder_.graph.name = without_bad_utf8(model_.name());
    const std::vector<ProtobufField> graphs = model_.graphs();
    if (graphs.empty()) {
      return Error{ErrorCode::malformed,
                   "expected a graph in the description of the model, found none"};
    }
    for (const ProtobufField& graph : graphs) {
      OPDRIFT_CHECK_OK(add_graph(graph));
    }
    if (keep_) {
      OPDRIFT_TRY(const std::vector<ModelAttribute> attributes, model_.model_attributes());
      OPDRIFT_CHECK_OK(add_attributes(attributes, AttributeOwner::model));
    }
    return std::move(builder_.graph);
  }

 private:
  Status count(std::uint64_t offset) {
    if (++parts_ > kMostParts) {
      return Error{ErrorCode::limit,
                   "expected at most " + std::to_string(kMostParts) + " parts of a model",
                   {},
                   offset};
    }
    return Unit{};
  }

  /// Few bytes of a file may stand for many: numbers, and texts of the tables of compression.
  Status count_bytes(std::size_t bytes, std::uint64_t offset) {
    expanded_bytes_ += bytes;
    if (expanded_bytes_ > kMostExpandedBytes) {
      return Error{ErrorCode::limit, "expected at most 64 MB of lists in attributes", {}, offset};
    }
    return Unit{};
  }

  Status add_graph(const ProtobufField& graph) {
    builder_.begin_graph();
    return for_each_field(ProtobufCursor(graph), [this](const ProtobufField& field) -> Status {
      if (field.is(number::kName, WireType::bytes)) {
        builder_.graph.graph_names.back() = without_bad_utf8(as_text(field.bytes));
      } else if (field.is(number::kGraphOp, WireType::bytes)) {
        return add_operator(field);
      }
      return Unit{};
    });
  }

  Status add_operator(const ProtobufField& op) {
    OPDRIFT_CHECK_OK(count(op.offset));
    builder_.begin_op();
    OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(op), [this](const ProtobufField& field) {
      return add_operator_field(field);
    }));
    OPDRIFT_TRY(const std::vector<ModelAttribute> attributes,
                model_.attributes(op, number::kOpAttr, true));
    OPDRIFT_CHECK_OK(add_attributes(attributes, AttributeOwner::op));
    return builder_.end_op();
  }

  Status add_operator_field(const ProtobufField& field) {
    if (field.is(number::kOpId, WireType::varint)) {
      builder_.op.id = field.as_i64();
      return Unit{};
    }
    if (field.type != WireType::bytes) {
      return Unit{};
    }
    const std::string_view text = as_text(field.bytes);
    switch (field.number) {
      case number::kName:
        if (!text.empty()) {
          builder_.set_op_name(without_bad_utf8(text));
        }
        return Unit{};
      case number::kOpType:
        if (!text.empty()) {
          builder_.set_op_type(without_bad_utf8(text));
        }
        return Unit{};
      case number::kOpInput:
        OPDRIFT_CHECK_OK(count(field.offset));
        builder_.add_input(without_bad_utf8(text));
        return Unit{};
      case number::kOpSubgraph:
        OPDRIFT_CHECK_OK(count(field.offset));
        builder_.op.subgraphs.push_back(without_bad_utf8(text));
        return Unit{};
      case number::kOpOutputDesc: return add_output(field);
      case number::kOpInputDesc: return builder_.wants_inputs() ? add_input(field) : Status(Unit{});
      default: return Unit{};
    }
  }

  /// Type, layout and extents of a descriptor.
  static Status describe(const ProtobufField& descriptor, std::string& dtype, std::string& layout,
                         std::vector<std::int64_t>& dims) {
    return for_each_field(ProtobufCursor(descriptor), [&](const ProtobufField& field) -> Status {
      if (field.is(number::kDescDtype, WireType::varint)) {
        dtype = field.value == 0 ? "" : proto_dtype_text(field.value);
      } else if (field.is(number::kDescLayout, WireType::bytes)) {
        layout = without_bad_utf8(as_text(field.bytes));
      } else if (field.is(number::kDescShape, WireType::bytes)) {
        dims.clear();
        std::vector<std::uint64_t> values;
        OPDRIFT_CHECK_OK(
            for_each_field(ProtobufCursor(field), [&](const ProtobufField& dim) -> Status {
              return dim.number == 1 ? append_varints(dim, values, kMostFields) : Status(Unit{});
            }));
        dims.assign(values.begin(), values.end());
      }
      return Unit{};
    });
  }

  Status add_output(const ProtobufField& descriptor) {
    OPDRIFT_CHECK_OK(count(descriptor.offset));
    builder_.begin_output();
    std::vector<std::int64_t> dims;
    OPDRIFT_CHECK_OK(describe(descriptor, builder_.output.dtype, builder_.output.format, dims));
    bool known = true;
    for (const std::int64_t dim : dims) {
      known = known && dim >= 0;
    }
    if (known) {
      builder_.output.shape.assign(dims.begin(), dims.end());
    }
    OPDRIFT_TRY(const std::vector<ModelAttribute> attributes,
                model_.attributes(descriptor, number::kDescAttr, true));
    builder_.output.described = !attributes.empty();
    OPDRIFT_CHECK_OK(add_attributes(attributes, AttributeOwner::output));
    builder_.end_output();
    return Unit{};
  }

  Status add_input(const ProtobufField& descriptor) {
    OPDRIFT_CHECK_OK(count(descriptor.offset));
    builder_.begin_input();
    OPDRIFT_CHECK_OK(
        describe(descriptor, builder_.input.dtype, builder_.input.format, builder_.input.dims));
    OPDRIFT_TRY(const std::vector<ModelAttribute> attributes,
                model_.attributes(descriptor, number::kDescAttr, true));
    OPDRIFT_CHECK_OK(add_attributes(attributes, AttributeOwner::input));
    builder_.end_input();
    return Unit{};
  }

  Status add_attributes(const std::vector<ModelAttribute>& attributes, AttributeOwner owner) {
    owner_ = owner;
    for (const ModelAttribute& attribute : attributes) {
      found_.clear();
      found_.key = without_bad_utf8(attribute.key);
      found_.keep = builder_.wants(owner, found_.key);
      if (!found_.keep) {
        continue;
      }
      OPDRIFT_CHECK_OK(count(attribute.value.offset));
      OPDRIFT_CHECK_OK(count_bytes(attribute.key.size(), attribute.value.offset));
      OPDRIFT_CHECK_OK(read_value(attribute));
      OPDRIFT_CHECK_OK(builder_.add_attribute(owner, found_));
    }
    return Unit{};
  }

  Status read_value(const ModelAttribute& attribute) {
    OPDRIFT_TRY(const ProtobufField chosen, chosen_field(MessageKind::attribute, attribute.value));
    Attribute& value = found_.value;
    switch (chosen.number) {
      case 0:
      case number::kBytes: return Unit{};  // left out of the rendering
      case number::kAttrList:
        found_.field = Field::list;
        return read_list(chosen, attribute.numbered);
      case number::kText:
        found_.field = Field::text;
        value.kind = Attribute::Kind::text;
        value.texts.push_back(escape_c(as_text(chosen.bytes)));
        return Unit{};
      case number::kInteger:
        if (attribute.numbered) {
          found_.field = Field::text;
          value.kind = Attribute::Kind::text;
          value.texts.push_back(without_bad_utf8(model_.numbered_text(chosen.value)));
          return count_bytes(value.texts.back().size(), chosen.offset);
        }
        found_.field = Field::integer;
        value.kind = Attribute::Kind::integer;
        value.integers.push_back(chosen.as_i64());
        return Unit{};
      case number::kReal:
        found_.field = Field::real;
        value.kind = Attribute::Kind::real;
        value.reals.push_back(rendered_real(chosen.as_float()));
        return Unit{};
      case number::kBoolean:
        found_.field = Field::boolean;
        value.kind = Attribute::Kind::integer;
        value.integers.push_back(chosen.value != 0 ? 1 : 0);
        return Unit{};
      case number::kAttrIntegerLists: found_.field = Field::odd; return read_lists(chosen);
      default: found_.field = Field::odd; return Unit{};
    }
  }

  Status read_list(const ProtobufField& list, bool numbered) {
    return for_each_field(ProtobufCursor(list), [&](const ProtobufField& field) -> Status {
      const FieldRule* rule = find_rule(MessageKind::list, field);
      if (rule == nullptr || !rule->repeated) {
        return Unit{};
      }
      return rule->number == number::kText ? add_text(field) : add_numbers(*rule, field, numbered);
    });
  }

  Status add_text(const ProtobufField& field) {
    OPDRIFT_CHECK_OK(count(field.offset));
    found_.items = Field::text;
    found_.value.kind = Attribute::Kind::texts;
    found_.value.texts.push_back(without_bad_utf8(as_text(field.bytes)));
    return Unit{};
  }

  Status add_numbers(const FieldRule& rule, const ProtobufField& field, bool numbered) {
    OPDRIFT_CHECK_OK(count_bytes(field.bytes.size() + 1, field.offset));
    Attribute& value = found_.value;
    switch (rule.number) {
      case number::kInteger:
        found_.items = numbered ? Field::text : Field::integer;
        value.kind = numbered ? Attribute::Kind::texts : Attribute::Kind::integers;
        if (numbered) {
          return add_numbered_texts(rule, field);
        }
        return for_each_number(rule, field, [&](std::uint64_t item) {
          value.integers.push_back(static_cast<std::int64_t>(item));
        });
      case number::kBoolean:
        found_.items = Field::boolean;
        value.kind = Attribute::Kind::integers;
        return for_each_number(
            rule, field, [&](std::uint64_t item) { value.integers.push_back(item != 0 ? 1 : 0); });
      case number::kReal:
        found_.items = Field::real;
        value.kind = Attribute::Kind::reals;
        return for_each_number(rule, field, [&](std::uint64_t item) {
          value.reals.push_back(static_cast<double>(real_of(item)));
        });
      default: return Unit{};
    }
  }

  Status add_numbered_texts(const FieldRule& rule, const ProtobufField& field) {
    Status status = Unit{};
    OPDRIFT_CHECK_OK(for_each_number(rule, field, [&](std::uint64_t item) {
      const std::string_view text = model_.numbered_text(item);
      status = status ? count_bytes(text.size(), field.offset) : status;
      if (status) {
        found_.value.texts.push_back(without_bad_utf8(text));
      }
    }));
    return status;
  }

  /// Ranges of an input, borders of an operator: all numbers of the inner lists, one behind the
  /// other.
  Status read_lists(const ProtobufField& lists) {
    if (owner_ != AttributeOwner::input && owner_ != AttributeOwner::op) {
      return Unit{};
    }
    std::vector<std::uint64_t> values;
    OPDRIFT_CHECK_OK(for_each_field(ProtobufCursor(lists), [&](const ProtobufField& one) -> Status {
      if (!one.is(1, WireType::bytes)) {
        return Unit{};
      }
      return for_each_field(ProtobufCursor(one), [&](const ProtobufField& item) -> Status {
        return item.number == 1 ? append_varints(item, values, kMostFields) : Status(Unit{});
      });
    }));
    found_.value.integers.assign(values.begin(), values.end());
    return Unit{};
  }

  const ModelDef& model_;
  bool keep_;
  AtcBuilder builder_;
  FoundAttribute found_;
  AttributeOwner owner_ = AttributeOwner::model;  // of the attributes being read
  std::size_t parts_ = 0;
  std::size_t expanded_bytes_ = 0;
};

}  // namespace

std::string short_real(float value) {
  constexpr int kMostCharacters = 9;
  std::array<char, 32> text{};
  const int size = std::snprintf(text.data(), text.size(), "%g", static_cast<double>(value));
  return size > kMostCharacters ? std::string() : std::string(text.data());
}

std::string proto_dtype_text(std::uint64_t number) {
  const std::string_view name = proto_dtype_name(number);
  return name.empty()
             ? "UNKNOWN_ENUM_VALUE_DataType_" + std::to_string(static_cast<std::int32_t>(number))
             : "DT_" + std::string(name);
}

Result<Graph> graph_of_model(const ModelDef& model, bool attributes) {
  return GraphFiller(model, attributes).fill();
}

}  // namespace opdrift::graph
