#include "opdrift/graph/atc_json_handler.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/atc_builder.hpp"

namespace opdrift::graph {

namespace {

using nlohmann::json;
using Field = FoundAttribute::Field;

/// Where in the grammar of atc_json.hpp the reader stands; one per open array or object.
enum class Place : std::uint8_t {
  start,
  root,
  graphs,
  graph,
  operators,
  op,
  inputs,
  subgraphs,
  outputs,
  output,
  input_descs,
  input_desc,
  shape,
  dims,
  attrs,
  attr,
  value,
  value_list,
  value_items,
  range_lists,
  range_array,
  range,
  range_items,
  ignored,
};

enum class Kind : std::uint8_t { null, boolean, integer, real, text, array, object };

const char* name_of(Kind kind) {
  constexpr std::array<const char*, 7> kNames = {"null",   "a boolean", "an integer", "a number",
                                                 "a text", "an array",  "an object"};
  return kNames[static_cast<std::size_t>(kind)];
}

Field field_of(std::string_view key) {
  if (key == "s") {
    return Field::text;
  }
  if (key == "i") {
    return Field::integer;
  }
  if (key == "f") {
    return Field::real;
  }
  return key == "b" ? Field::boolean : Field::none;
}

/// True when a value of `kind` may stand in `field`. Single reals are written as text.
bool fits(Field field, Kind kind) {
  switch (field) {
    case Field::text: return kind == Kind::text;
    case Field::integer: return kind == Kind::integer;
    case Field::real: return kind == Kind::real || kind == Kind::integer || kind == Kind::text;
    case Field::boolean: return kind == Kind::boolean;
    default: return false;
  }
}

class Handler {
 public:
  explicit Handler(const AtcJsonOptions& options)
      : options_(options), builder_(options.attributes) {}

  Result<Graph> result(bool parsed);

  // Events of the JSON library; false ends the reading.
  bool null() { return scalar(Kind::null); }
  bool boolean(bool value);
  bool number_integer(json::number_integer_t value) { return integer(value); }
  bool number_unsigned(json::number_unsigned_t value);
  bool number_float(json::number_float_t value, const std::string& text);
  bool string(std::string& value);
  bool binary(json::binary_t& /*value*/) { return scalar(Kind::null); }
  bool start_object(std::size_t /*elements*/) { return open(Kind::object); }
  bool key(std::string& value);
  bool end_object() { return close(); }
  bool start_array(std::size_t /*elements*/) { return open(Kind::array); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string& last_token,
                   const json::exception& exception);

 private:
  Place place() const { return places_.back(); }
  bool open(Kind kind);
  bool close();
  Place child(Kind kind);
  Place child_of_op(Kind kind);
  Place child_of_attribute(Kind kind);
  Place need(Kind wanted, Kind found, Place next);
  void enter(Place next);
  Status leave(Place left);
  bool scalar(Kind kind);
  bool integer(std::int64_t value);
  bool collects(Kind kind);
  AttributeOwner owner() const;
  bool fail(const std::string& message);
  bool fail_kind(Kind wanted, Kind found);
  std::string element() const;

  AtcJsonOptions options_;
  AtcBuilder builder_;
  FoundAttribute attribute_;
  std::vector<Place> places_ = {Place::start};
  std::vector<std::int64_t> dims_;
  std::string key_;
  std::size_t ignored_depth_ = 0;
  std::optional<Error> error_;
  bool graphs_seen_ = false;
  bool ops_seen_ = false;
};

Result<Graph> Handler::result(bool parsed) {
  if (!parsed || error_) {
    return error_ ? *error_ : Error{ErrorCode::bad_json, "expected JSON, found something else"};
  }
  if (!graphs_seen_) {
    return Error{ErrorCode::bad_json, "expected element \"graph\", found none"};
  }
  return std::move(builder_.graph);
}

bool Handler::fail(const std::string& message) {
  if (!error_) {
    error_ = Error{ErrorCode::bad_json, message};
  }
  return false;
}

bool Handler::fail_kind(Kind wanted, Kind found) {
  return fail(std::string("expected ") + name_of(wanted) + " as " + element() + ", found " +
              name_of(found));
}

/// The element the reader stands before, for messages.
std::string Handler::element() const {
  std::string owner_text;
  for (const Place step : places_) {
    if (step == Place::op) {
      owner_text = " of operator " + std::to_string(builder_.graph.operators.size());
      owner_text += builder_.op.name.empty() ? "" : " \"" + printable(builder_.op.name) + "\"";
    } else if (step == Place::output) {
      owner_text.insert(0, " of output_desc " + std::to_string(builder_.op.outputs.size()));
    }
  }
  return (key_.empty() ? std::string("element") : "element \"" + printable(key_) + "\"") +
         owner_text;
}

bool Handler::parse_error(std::size_t position, const std::string& /*last_token*/,
                          const json::exception& exception) {
  if (!error_) {
    error_ = json_error(position, exception);
  }
  return false;
}

bool Handler::key(std::string& value) {
  if (ignored_depth_ == 0) {
    key_.swap(value);
  }
  return true;
}

bool Handler::open(Kind kind) {
  if (places_.size() + ignored_depth_ > options_.max_depth) {
    return fail("nesting deeper than " + std::to_string(options_.max_depth) + " levels");
  }
  if (ignored_depth_ != 0) {
    ++ignored_depth_;
    return true;
  }
  const Place next = child(kind);
  if (error_) {
    return false;
  }
  if (next == Place::ignored) {
    ignored_depth_ = 1;
    return true;
  }
  enter(next);
  places_.push_back(next);
  return true;
}

bool Handler::close() {
  if (ignored_depth_ != 0) {
    --ignored_depth_;
    return true;
  }
  const Place left = place();
  places_.pop_back();
  Status status = leave(left);
  if (!status.has_value()) {
    error_ = status.error();
    return false;
  }
  return true;
}

Place Handler::need(Kind wanted, Kind found, Place next) {
  if (wanted != found) {
    fail_kind(wanted, found);
    return Place::ignored;
  }
  return next;
}

/// What opening an array or object under the current key means.
Place Handler::child(Kind kind) {
  const bool array = kind == Kind::array;
  switch (place()) {
    case Place::start: return need(Kind::object, kind, Place::root);
    case Place::root:
      if (key_ == "graph") {
        return need(Kind::array, kind, Place::graphs);
      }
      return key_ == "attr" && array && options_.attributes ? Place::attrs : Place::ignored;
    case Place::graphs: return need(Kind::object, kind, Place::graph);
    case Place::graph:
      if (key_ == "op") {
        return need(Kind::array, kind, Place::operators);
      }
      return key_ == "name" ? need(Kind::text, kind, Place::ignored) : Place::ignored;
    case Place::operators: return need(Kind::object, kind, Place::op);
    case Place::op: return child_of_op(kind);
    case Place::inputs: return need(Kind::text, kind, Place::ignored);
    case Place::outputs: return need(Kind::object, kind, Place::output);
    case Place::input_descs: return kind == Kind::object ? Place::input_desc : Place::ignored;
    case Place::input_desc:
      if (key_ == "attr") {
        return array ? Place::attrs : Place::ignored;
      }
      return key_ == "shape" && !array ? Place::shape : Place::ignored;
    case Place::output:
      if (key_ == "attr") {
        return need(Kind::array, kind, Place::attrs);
      }
      return key_ == "shape" && !array ? Place::shape : Place::ignored;
    case Place::shape: return key_ == "dim" && array ? Place::dims : Place::ignored;
    case Place::attrs: return need(Kind::object, kind, Place::attr);
    case Place::attr:
    case Place::value:
    case Place::value_list: return child_of_attribute(kind);
    case Place::range_lists:
      return key_ == "list_list_i" && array ? Place::range_array : Place::ignored;
    case Place::range_array: return array ? Place::ignored : Place::range;
    case Place::range: return key_ == "list_i" && array ? Place::range_items : Place::ignored;
    default: return Place::ignored;
  }
}

Place Handler::child_of_op(Kind kind) {
  if (key_ == "input") {
    return need(Kind::array, kind, Place::inputs);
  }
  if (key_ == "output_desc") {
    return need(Kind::array, kind, Place::outputs);
  }
  if (key_ == "input_desc" && kind == Kind::array && builder_.wants_inputs()) {
    return Place::input_descs;
  }
  if (key_ == "attr") {
    return need(Kind::array, kind, Place::attrs);
  }
  if (key_ == "name" || key_ == "type") {
    return need(Kind::text, kind, Place::ignored);
  }
  if (key_ == "id") {
    return need(Kind::integer, kind, Place::ignored);
  }
  return key_ == "subgraph_name" && kind == Kind::array ? Place::subgraphs : Place::ignored;
}

/// Inside an attr entry nothing is refused here: the builder judges kinds once the key is known.
Place Handler::child_of_attribute(Kind kind) {
  const bool object = kind == Kind::object;
  if (place() == Place::attr) {
    if (key_ == "key") {
      return need(Kind::text, kind, Place::ignored);
    }
    if (key_ != "value") {
      return Place::ignored;
    }
    attribute_.field = object ? Field::none : Field::odd;
    return object && (attribute_.keep || attribute_.key.empty()) ? Place::value : Place::ignored;
  }
  if (place() == Place::value) {
    if (key_ == "list_list_int" && object &&
        (owner() == AttributeOwner::input || owner() == AttributeOwner::op)) {
      return Place::range_lists;
    }
    attribute_.field = key_ == "list" && object ? Field::list : Field::odd;
    return attribute_.field == Field::list ? Place::value_list : Place::ignored;
  }
  const Field field = field_of(key_);
  if (field == Field::none) {
    return Place::ignored;
  }
  attribute_.items = object ? Field::odd : field;
  return object ? Place::ignored : Place::value_items;
}

AttributeOwner Handler::owner() const {
  const auto inside = [this](Place step) {
    return std::find(places_.begin(), places_.end(), step) != places_.end();
  };
  if (inside(Place::output)) {
    return AttributeOwner::output;
  }
  if (inside(Place::input_desc)) {
    return AttributeOwner::input;
  }
  return inside(Place::op) ? AttributeOwner::op : AttributeOwner::model;
}

void Handler::enter(Place next) {
  switch (next) {
    case Place::graphs: graphs_seen_ = true; break;
    case Place::graph:
      builder_.begin_graph();
      ops_seen_ = false;
      break;
    case Place::operators: ops_seen_ = true; break;
    case Place::op: builder_.begin_op(); break;
    case Place::output: builder_.begin_output(); break;
    case Place::input_desc: builder_.begin_input(); break;
    case Place::dims: dims_.clear(); break;
    case Place::attrs:
      // An empty list still says that the output has attributes.
      builder_.output.described = true;
      break;
    case Place::attr:
      attribute_.clear();
      key_.clear();
      break;
    default: break;
  }
}

Status Handler::leave(Place left) {
  switch (left) {
    case Place::graph:
      if (!ops_seen_) {
        return Error{ErrorCode::bad_json,
                     "expected element \"op\" in graph " +
                         std::to_string(builder_.graph.graph_names.size() - 1) + ", found none"};
      }
      return Unit{};
    case Place::op: return builder_.end_op();
    case Place::output: builder_.end_output(); return Unit{};
    case Place::input_desc: builder_.end_input(); return Unit{};
    case Place::dims:
      if (places_[places_.size() - 2] == Place::input_desc) {
        builder_.input.dims = dims_;
        return Unit{};
      }
      for (const std::int64_t dim : dims_) {
        if (dim < 0) {
          return Unit{};
        }
      }
      builder_.output.shape.assign(dims_.begin(), dims_.end());
      return Unit{};
    case Place::attr: return builder_.add_attribute(owner(), attribute_);
    default: return Unit{};
  }
}

/// Judges a scalar outside attribute values; true while reading may go on.
bool Handler::scalar(Kind kind) {
  if (ignored_depth_ != 0) {
    return true;
  }
  switch (place()) {
    case Place::start: return fail_kind(Kind::object, kind);
    case Place::root: return key_ != "graph" || fail_kind(Kind::array, kind);
    case Place::graphs:
    case Place::operators: return fail_kind(Kind::object, kind);
    case Place::graph:
      if (key_ == "op") {
        return fail_kind(Kind::array, kind);
      }
      return key_ != "name" || kind == Kind::text || fail_kind(Kind::text, kind);
    case Place::op:
      if (key_ == "name" || key_ == "type") {
        return kind == Kind::text || fail_kind(Kind::text, kind);
      }
      if (key_ == "id") {
        return kind == Kind::integer || fail_kind(Kind::integer, kind);
      }
      if (key_ == "input" || key_ == "output_desc" || key_ == "attr") {
        return kind == Kind::null || fail_kind(Kind::array, kind);
      }
      return true;
    case Place::inputs: return kind == Kind::text || fail_kind(Kind::text, kind);
    case Place::outputs:
      if (kind != Kind::null) {
        return fail_kind(Kind::object, kind);
      }
      builder_.begin_output();
      builder_.end_output();
      return true;
    case Place::input_descs:
      builder_.begin_input();
      builder_.end_input();
      return true;
    case Place::output:
      if (key_ == "dtype") {
        return kind == Kind::text || fail_kind(Kind::text, kind);
      }
      return key_ != "attr" || kind == Kind::null || fail_kind(Kind::array, kind);
    case Place::attrs: return kind == Kind::null || fail_kind(Kind::object, kind);
    case Place::attr: return key_ != "key" || kind == Kind::text || fail_kind(Kind::text, kind);
    default: return true;
  }
}

/// Notes the kind of a scalar inside an attribute value; true when its value is to be stored.
bool Handler::collects(Kind kind) {
  if (place() == Place::attr && key_ == "value" && kind != Kind::null) {
    attribute_.field = Field::odd;
    return false;
  }
  if (place() == Place::value) {
    const Field field = field_of(key_);
    if (field != Field::none) {
      attribute_.field = fits(field, kind) ? field : Field::odd;
    } else if (key_ == "list" && kind == Kind::null) {
      attribute_.field = Field::list;
    } else {
      attribute_.field = Field::odd;
    }
    return attribute_.field != Field::odd && attribute_.field != Field::list;
  }
  if (place() == Place::value_items) {
    if (!fits(attribute_.items, kind)) {
      attribute_.items = Field::odd;
    }
    return attribute_.items != Field::odd;
  }
  return false;
}

bool Handler::boolean(bool value) {
  if (ignored_depth_ == 0 && collects(Kind::boolean)) {
    attribute_.value.kind =
        place() == Place::value_items ? Attribute::Kind::integers : Attribute::Kind::integer;
    attribute_.value.integers.push_back(value ? 1 : 0);
    return true;
  }
  return scalar(Kind::boolean);
}

bool Handler::number_unsigned(json::number_unsigned_t value) {
  // A number beyond 63 bits is no integer of the format.
  if (value > static_cast<json::number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
    return number_float(static_cast<double>(value), {});
  }
  return integer(static_cast<std::int64_t>(value));
}

bool Handler::integer(std::int64_t value) {
  if (ignored_depth_ != 0) {
    return true;
  }
  if (collects(Kind::integer)) {
    const bool list = place() == Place::value_items;
    attribute_.value.kind = list ? Attribute::Kind::integers : Attribute::Kind::integer;
    attribute_.value.integers.push_back(value);
    return true;
  }
  if (place() == Place::dims) {
    dims_.push_back(value);
    return true;
  }
  if (place() == Place::range_items) {
    attribute_.value.integers.push_back(value);
    return true;
  }
  if (place() == Place::op && key_ == "id") {
    builder_.op.id = value;
    return true;
  }
  return scalar(Kind::integer);
}

bool Handler::number_float(json::number_float_t value, const std::string& /*text*/) {
  if (ignored_depth_ == 0 && collects(Kind::real)) {
    const bool list = place() == Place::value_items;
    attribute_.value.kind = list ? Attribute::Kind::reals : Attribute::Kind::real;
    attribute_.value.reals.push_back(value);
    return true;
  }
  return scalar(Kind::real);
}

bool Handler::string(std::string& value) {
  if (ignored_depth_ != 0) {
    return true;
  }
  if (collects(Kind::text)) {
    const bool list = place() == Place::value_items;
    const Field field = list ? attribute_.items : attribute_.field;
    if (field == Field::real) {
      attribute_.value.kind = list ? Attribute::Kind::reals : Attribute::Kind::real;
      attribute_.value.reals.push_back(
          parse_double(value).value_or(std::numeric_limits<double>::quiet_NaN()));
      return true;
    }
    attribute_.value.kind = list ? Attribute::Kind::texts : Attribute::Kind::text;
    attribute_.value.texts.push_back(std::move(value));
    return true;
  }
  switch (place()) {
    case Place::graph:
      if (key_ == "name") {
        builder_.graph.graph_names.back() = std::move(value);
        return true;
      }
      break;
    case Place::op:
      if (key_ == "name") {
        builder_.set_op_name(std::move(value));
        return true;
      }
      if (key_ == "type") {
        builder_.set_op_type(std::move(value));
        return true;
      }
      break;
    case Place::root:
      if (key_ == "name") {
        builder_.graph.name = std::move(value);
        return true;
      }
      break;
    case Place::inputs: builder_.add_input(value); return true;
    case Place::subgraphs: builder_.op.subgraphs.push_back(std::move(value)); return true;
    case Place::output:
      if (key_ == "dtype") {
        builder_.output.dtype = std::move(value);
        return true;
      }
      if (key_ == "layout") {
        builder_.output.format = std::move(value);
        return true;
      }
      break;
    case Place::input_desc:
      if (key_ == "dtype") {
        builder_.input.dtype = std::move(value);
      } else if (key_ == "layout") {
        builder_.input.format = std::move(value);
      }
      return true;
    case Place::attr:
      if (key_ == "key") {
        attribute_.key = std::move(value);
        attribute_.keep = builder_.wants(owner(), attribute_.key);
        return true;
      }
      break;
    default: break;
  }
  return scalar(Kind::text);
}

}  // namespace

Result<Graph> run_atc_json_handler(ByteSpan text, const AtcJsonOptions& options) {
  Handler handler(options);
  const char* first = reinterpret_cast<const char*>(text.data());
  const bool parsed = json::sax_parse(first, first + text.size(), &handler);
  return handler.result(parsed);
}

}  // namespace opdrift::graph
