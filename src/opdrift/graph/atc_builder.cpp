#include "opdrift/graph/atc_builder.hpp"

#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/graph/atc_json.hpp"

namespace opdrift::graph {

namespace {

using Field = FoundAttribute::Field;

constexpr std::string_view kOriginalNames = "_datadump_original_op_names";
constexpr std::string_view kL1Group = "_L1_fusion_sub_graph_no";
constexpr std::string_view kMultiOp = "_datadump_is_multiop";
constexpr std::string_view kOriginName = "_datadump_origin_name";
constexpr std::string_view kOriginIndex = "_datadump_origin_output_index";
constexpr std::string_view kDatadumpFormat = "_datadump_origin_format";
constexpr std::string_view kOriginFormat = "origin_format";
constexpr std::string_view kOriginShape = "origin_shape";

/// The field an attribute must come in, and the kind of its items when that is a list.
struct Expected {
  Field field = Field::odd;
  Field items = Field::none;
  const char* name = "";
};

Expected expected_of(std::string_view key) {
  if (key == kOriginalNames) {
    return {Field::list, Field::text, "\"list\" of \"s\""};
  }
  if (key == kOriginShape) {
    return {Field::list, Field::integer, "\"list\" of \"i\""};
  }
  if (key == kMultiOp) {
    return {Field::boolean, Field::none, "\"b\""};
  }
  if (key == kOriginIndex) {
    return {Field::integer, Field::none, "\"i\""};
  }
  return {Field::text, Field::none, "\"s\""};
}

/// A missing value stands for the default of its kind: writers leave defaults out.
Status check_kind(const FoundAttribute& found) {
  const Expected expected = expected_of(found.key);
  const bool field_fits = found.field == Field::none || found.field == expected.field;
  const bool items_fit =
      found.field != Field::list || found.items == Field::none || found.items == expected.items;
  if (field_fits && items_fit) {
    return Unit{};
  }
  return Error{ErrorCode::bad_json, std::string("expected ") + expected.name +
                                        " as value of attribute \"" + found.key +
                                        "\", found another kind"};
}

/// Extents of a list of integers; empty when one is unknown (negative).
tensor::Shape known_shape(const std::vector<std::int64_t>& dims) {
  tensor::Shape shape;
  for (const std::int64_t dim : dims) {
    if (dim < 0) {
      return {};
    }
    shape.push_back(static_cast<std::uint64_t>(dim));
  }
  return shape;
}

std::string single_text(const FoundAttribute& found) {
  return found.value.texts.empty() ? std::string() : unescape_c(found.value.texts.front());
}

std::string describe(const Operator& op, std::size_t number) {
  return "operator " + std::to_string(number) +
         (op.name.empty() ? "" : " \"" + printable(op.name) + "\"");
}

}  // namespace

void FoundAttribute::clear() {
  key.clear();
  field = Field::none;
  items = Field::none;
  value.kind = Attribute::Kind::other;
  value.integers.clear();
  value.reals.clear();
  value.texts.clear();
  keep = false;
}

bool is_pairing_attribute(AttributeOwner owner, std::string_view key) {
  if (owner == AttributeOwner::op) {
    return key == kOriginalNames || key == kL1Group || key == kMultiOp;
  }
  return owner == AttributeOwner::output &&
         (key == kOriginName || key == kOriginIndex || key == kDatadumpFormat ||
          key == kOriginFormat || key == kOriginShape);
}

bool AtcBuilder::wants(AttributeOwner owner, std::string_view key) const {
  if (owner == AttributeOwner::input) {
    return keep_attributes_ && key == kShapeRange;
  }
  return keep_attributes_ || is_pairing_attribute(owner, key);
}

void AtcBuilder::begin_graph() {
  graph.graph_names.emplace_back();
}

void AtcBuilder::begin_op() {
  op = Operator{};
  op.graph = graph.graph_names.size() - 1;
  name_seen_ = false;
  type_seen_ = false;
}

void AtcBuilder::begin_output() {
  output = OutputDesc{};
  output.described = false;
  origin_format_.clear();
}

void AtcBuilder::end_output() {
  if (output.origin_format.empty()) {
    output.origin_format = std::move(origin_format_);
  }
  if (output.described && !output.origin_index) {
    output.origin_index = static_cast<int>(op.outputs.size());
  }
  op.outputs.push_back(std::move(output));
}

void AtcBuilder::set_op_name(std::string name) {
  op.name = std::move(name);
  name_seen_ = true;
}

void AtcBuilder::set_op_type(std::string type) {
  op.type = std::move(type);
  type_seen_ = true;
}

void AtcBuilder::add_input(const std::string& entry) {
  constexpr std::string_view kControlEdge = ":-1";
  const bool control =
      entry.size() >= kControlEdge.size() &&
      std::string_view(entry).substr(entry.size() - kControlEdge.size()) == kControlEdge;
  if (entry.empty() && keep_attributes_) {
    op.absent_inputs.push_back(op.inputs.size());
  }
  if (!entry.empty() && !control) {
    op.inputs.push_back(parse_input_entry(entry));
  }
}

Status AtcBuilder::end_op() {
  if (!name_seen_ || !type_seen_) {
    return Error{ErrorCode::bad_json, std::string("expected element \"") +
                                          (name_seen_ ? "type" : "name") + "\" in " +
                                          describe(op, graph.operators.size()) + ", found none"};
  }
  if (!op.originals_given) {
    op.original_names = {op.name};
  }
  while (!op.absent_inputs.empty() && op.absent_inputs.back() == op.inputs.size()) {
    op.absent_inputs.pop_back();
  }
  graph.operators.push_back(std::move(op));
  return Unit{};
}

Status AtcBuilder::add_attribute(AttributeOwner owner, FoundAttribute& found) {
  if (is_pairing_attribute(owner, found.key)) {
    Status kind = check_kind(found);
    if (!kind.has_value()) {
      Error error = kind.error();
      error.message += " (" + describe(op, graph.operators.size()) + ")";
      return error;
    }
    OPDRIFT_CHECK_OK(owner == AttributeOwner::op ? add_op_attribute(found)
                                                 : add_output_attribute(found));
  }
  if (owner == AttributeOwner::input && found.key == kShapeRange) {
    input.ranges = std::move(found.value.integers);
  }
  if (keep_attributes_ && (owner == AttributeOwner::op || owner == AttributeOwner::model)) {
    auto& target = owner == AttributeOwner::op ? op.attributes : graph.attributes;
    target[found.key] = std::move(found.value);
  }
  return Unit{};
}

Status AtcBuilder::add_op_attribute(FoundAttribute& found) {
  if (found.key == kOriginalNames) {
    op.originals_given = true;
    op.original_names = found.value.texts;
    if (op.original_names.empty()) {
      op.original_names.emplace_back();
    }
    op.device_only = op.original_names.size() == 1 && op.original_names.front().empty();
  } else if (found.key == kL1Group) {
    op.l1_fusion_group = single_text(found);
  } else {
    op.multi_op = !found.value.integers.empty() && found.value.integers.front() != 0;
  }
  return Unit{};
}

Status AtcBuilder::add_output_attribute(FoundAttribute& found) {
  if (found.key == kOriginName) {
    output.origin_name = single_text(found);
  } else if (found.key == kOriginIndex) {
    const std::int64_t index = found.value.integers.empty() ? 0 : found.value.integers.front();
    if (index < 0 || index > kMaxOutputIndex) {
      return Error{ErrorCode::bad_json, "expected an output number in attribute \"" + found.key +
                                            "\" of " + describe(op, graph.operators.size()) +
                                            ", found " + std::to_string(index)};
    }
    output.origin_index = static_cast<int>(index);
  } else if (found.key == kDatadumpFormat) {
    output.origin_format = single_text(found);
  } else if (found.key == kOriginFormat) {
    origin_format_ = single_text(found);
  } else {
    output.origin_shape = known_shape(found.value.integers);
  }
  return Unit{};
}

}  // namespace opdrift::graph
