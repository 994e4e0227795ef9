#include "opdrift/pipeline/stats/stats_record.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "opdrift/base/file_kind.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/archive/inflate.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/msprobe/json_stream.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/stats/stats_csv.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {

namespace {

using io::JsonNode;
using io::JsonTree;

constexpr std::string_view kSchema = "opdrift-stats/1";

std::uint32_t checksum(const tensor::View& view) {
  constexpr std::uint64_t kChunk = 65536;
  const unsigned bits = tensor::info(view.tensor.desc.dtype).bits;
  std::vector<std::byte> bytes(kChunk * bits / 8 + 16);
  std::uint32_t crc = 0;
  for (std::uint64_t first = 0; first < view.count(); first += kChunk) {
    const std::uint64_t count = std::min(kChunk, view.count() - first);
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    tensor::gather(view, first, count, bytes.data());
    const auto used = static_cast<std::size_t>((count * bits + 7) / 8);
    crc = io::crc32_of(ByteSpan(bytes).first(used), crc);
  }
  return crc;
}

Result<TensorRecord> measure_tensor(const io::FileTensor& file_tensor) {
  if (file_tensor.problem) {
    return *file_tensor.problem;
  }
  OPDRIFT_TRY(const tensor::Tensor tensor, io::load_tensor(file_tensor));
  OPDRIFT_TRY(const tensor::View view, tensor::stored_view(tensor));
  OPDRIFT_TRY(TensorRecord record, measure_record(view));
  record.role = file_tensor.role;
  record.index = file_tensor.index;
  record.name = file_tensor.name;
  return record;
}

void put_number(double value, std::string& out) {
  if (std::isfinite(value)) {
    graph::append_python_float(value, out);
  } else {
    out += std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
  }
}

class RecordWriter {
 public:
  void text(std::string_view key, std::string_view value) {
    name(key);
    graph::append_json_text(value, out_);
  }
  void integer(std::string_view key, std::uint64_t value) {
    name(key);
    out_ += std::to_string(value);
  }
  void number(std::string_view key, double value) {
    name(key);
    put_number(value, out_);
  }
  void name(std::string_view key) {
    out_ += first_ ? "" : ", ";
    first_ = false;
    graph::append_json_text(key, out_);
    out_ += ": ";
  }
  void open(std::string_view bracket) {
    out_ += bracket;
    first_ = true;
  }
  void close(std::string_view bracket) {
    out_ += bracket;
    first_ = false;
  }
  void separate(bool needed) { out_ += needed ? ",\n  " : "\n  "; }
  std::string& out() { return out_; }

 private:
  std::string out_;
  bool first_ = true;
};

void put_sketch(const metrics::Sketch& sketch, RecordWriter& json) {
  json.name("sketch");
  json.out() += "[";
  for (std::size_t i = 0; i < sketch.buckets.size(); ++i) {
    json.out() += i > 0 ? ", " : "";
    put_number(sketch.buckets[i], json.out());
  }
  json.out() += "]";
}

void put_tensor(const TensorRecord& tensor, RecordWriter& json) {
  json.open("{");
  if (!tensor.operator_name.empty()) {
    json.text("operator", tensor.operator_name);
    json.text("step", tensor.step);
  }
  json.text("role", io::to_string(tensor.role));
  json.integer("index", tensor.index);
  json.text("name", tensor.name);
  json.text("dtype", tensor.dtype);
  json.name("shape");
  json.out() += "[" + tensor::to_string(tensor.shape, ", ") + "]";
  json.integer("count", tensor.count);
  json.number("min", tensor.min);
  json.number("max", tensor.max);
  json.number("mean", tensor.mean);
  json.number("l2", tensor.l2);
  json.integer("nan", tensor.nan);
  json.integer("positive_inf", tensor.positive_inf);
  json.integer("negative_inf", tensor.negative_inf);
  json.integer("zero", tensor.zero);
  json.integer("subnormal", tensor.subnormal);
  if (tensor.crc32) {
    json.text("crc32", tensor.checksum_text());
  }
  if (tensor.sketch) {
    put_sketch(*tensor.sketch, json);
  }
  json.close("}");
}

void put_source(const FileRecord& record, RecordWriter& json) {
  json.name("source");
  json.open("{");
  json.text("name", record.name);
  json.text("format", record.format);
  json.integer("bytes", record.bytes);
  json.integer("modified_ns",
               static_cast<std::uint64_t>(std::max<std::int64_t>(record.modified_ns, 0)));
  json.text("op_name", record.op_name);
  json.close("}");
}

/// Takes fields from a JSON object, remembering the first that is missing or of the wrong kind.
class FieldReader {
 public:
  FieldReader(const JsonTree& tree, const JsonNode& object) : tree_(tree), object_(object) {}

  std::string text(std::string_view key) {
    const JsonNode* node = find(key, JsonNode::Kind::text);
    return node == nullptr ? std::string() : std::string(node->text);
  }
  std::uint64_t integer(std::string_view key) {
    const JsonNode* node = find(key, JsonNode::Kind::integer);
    const auto value = node == nullptr ? std::nullopt : parse_u64(node->text);
    if (node != nullptr && !value) {
      note(key);
    }
    return value.value_or(0);
  }
  double number(std::string_view key) {
    const JsonNode* node = tree_.find(object_, key);
    const auto value = node == nullptr ? std::nullopt : graph::python_number(node->text);
    if (!value) {
      note(key);
    }
    return value.value_or(0.0);
  }
  /// "" when it is not there.
  std::string optional_text(std::string_view key) {
    return tree_.find(object_, key) == nullptr ? std::string() : text(key);
  }
  const JsonNode* list(std::string_view key) { return find(key, JsonNode::Kind::list); }
  const std::string& missing() const { return missing_; }
  void note(std::string_view key) {
    if (missing_.empty()) {
      missing_ = key;
    }
  }

 private:
  const JsonNode* find(std::string_view key, JsonNode::Kind kind) {
    const JsonNode* node = tree_.find(object_, key);
    if (node == nullptr || node->kind != kind) {
      note(key);
      return nullptr;
    }
    return node;
  }

  const JsonTree& tree_;
  const JsonNode& object_;
  std::string missing_;
};

/// Eight hex digits.
std::optional<std::uint32_t> parse_hex32(const std::string& text) {
  if (text.size() != 8 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 16));
}

std::optional<io::TensorRole> role_named(std::string_view name) {
  for (const io::TensorRole role : {io::TensorRole::input, io::TensorRole::output,
                                    io::TensorRole::buffer, io::TensorRole::space}) {
    if (io::to_string(role) == name) {
      return role;
    }
  }
  return std::nullopt;
}

void read_identity(const JsonTree& tree, const JsonNode& object, FieldReader& fields,
                   TensorRecord& tensor) {
  if (tree.find(object, "tensor") != nullptr) {
    if (!read_label(fields.text("tensor"), tensor)) {
      fields.note("tensor");
    }
    return;
  }
  const auto role = role_named(fields.text("role"));
  if (role) {
    tensor.role = *role;
  } else {
    fields.note("role");
  }
  tensor.index = static_cast<std::uint32_t>(fields.integer("index"));
  tensor.name = fields.text("name");
  tensor.operator_name = fields.optional_text("operator");
  tensor.step = fields.optional_text("step");
}

/// Element count of a shape of reasonable extents; nothing otherwise.
std::optional<tensor::Shape> read_shape(const JsonTree& tree, const JsonNode& list) {
  tensor::Shape shape;
  for (const JsonNode* dim = tree.first_child(list); dim != nullptr; dim = tree.next(*dim)) {
    const auto extent = parse_u64(dim->text);
    if (!extent) {
      return std::nullopt;
    }
    shape.push_back(*extent);
  }
  return tensor::element_count(shape) ? std::optional(shape) : std::nullopt;
}

void read_numbers(const JsonTree& tree, const JsonNode& object, FieldReader& fields,
                  TensorRecord& tensor) {
  tensor.min = fields.number("min");
  tensor.max = fields.number("max");
  tensor.mean = fields.number("mean");
  tensor.nan = fields.integer("nan");
  tensor.positive_inf = fields.integer("positive_inf");
  tensor.negative_inf = fields.integer("negative_inf");
  tensor.zero = fields.integer("zero");
  tensor.subnormal = fields.integer("subnormal");
  if (tree.find(object, "rms") != nullptr) {
    const std::uint64_t nonfinite = tensor.nan + tensor.positive_inf + tensor.negative_inf;
    tensor.l2 = fields.number("rms") *
                std::sqrt(static_cast<double>(tensor.count - std::min(tensor.count, nonfinite)));
  } else {
    tensor.l2 = fields.number("l2");
  }
}

void read_sketch(const JsonTree& tree, FieldReader& fields, TensorRecord& tensor) {
  const JsonNode* list = fields.list("sketch");
  if (list == nullptr) {
    return;
  }
  metrics::Sketch sketch;
  std::size_t buckets = 0;
  for (const JsonNode* value = tree.first_child(*list);
       value != nullptr && buckets <= metrics::kSketchBuckets; value = tree.next(*value)) {
    const auto number = graph::python_number(value->text);
    if (!number || buckets == metrics::kSketchBuckets) {
      fields.note("sketch");
      return;
    }
    sketch.buckets[buckets++] = *number;
  }
  if (buckets != metrics::kSketchBuckets) {
    fields.note("sketch");
  }
  sketch.count = tensor.count;
  sketch.nonfinite = tensor.nan + tensor.positive_inf + tensor.negative_inf;
  tensor.sketch = sketch;
}

Result<TensorRecord> read_tensor(const JsonTree& tree, const JsonNode& object) {
  FieldReader fields(tree, object);
  TensorRecord tensor;
  read_identity(tree, object, fields, tensor);
  tensor.dtype = fields.text("dtype");
  const JsonNode* list = fields.list("shape");
  if (const auto shape = list == nullptr ? std::nullopt : read_shape(tree, *list)) {
    tensor.shape = *shape;
    tensor.count = tensor::element_count(*shape).value_or(0U);
  } else {
    fields.note("shape");
  }
  if (tree.find(object, "count") != nullptr) {
    tensor.count = fields.integer("count");
  }
  read_numbers(tree, object, fields, tensor);
  if (tree.find(object, "crc32") != nullptr) {
    const auto crc = parse_hex32(fields.text("crc32"));
    if (!crc) {
      fields.note("crc32");
    }
    tensor.crc32 = crc;
  }
  if (tree.find(object, "sketch") != nullptr) {
    read_sketch(tree, fields, tensor);
  }
  if (!fields.missing().empty()) {
    return Error{ErrorCode::malformed, "a tensor lacks a proper '" + fields.missing() + "'"};
  }
  return tensor;
}

/// A tensor that a table lists without numbers.
bool has_problem(const JsonTree& tree, const JsonNode& object) {
  const JsonNode* problem = tree.find(object, "problem");
  return problem != nullptr && !problem->text.empty();
}

class RecordReader : public io::JsonVisitor {
 public:
  bool expands(std::string_view key) override {
    static_cast<void>(key);
    return false;
  }
  Status not_an_object(std::string_view key) override {
    return Error{ErrorCode::malformed, "expected an object under " + std::string(key)};
  }
  Status member(std::string_view section, std::string_view key, const JsonTree& value) override {
    static_cast<void>(section);
    const JsonNode& root = value.root();
    if (key == "schema") {
      schema_ = root.text;
    } else if (key == "source") {
      FieldReader fields(value, root);
      record.name = fields.text("name");
      record.format = fields.text("format");
      record.bytes = fields.integer("bytes");
      record.modified_ns = static_cast<std::int64_t>(fields.integer("modified_ns"));
      record.op_name = fields.text("op_name");
      if (!fields.missing().empty()) {
        return Error{ErrorCode::malformed, "source lacks a proper '" + fields.missing() + "'"};
      }
    } else if (key == "tensors") {
      for (const JsonNode* one = value.first_child(root); one != nullptr; one = value.next(*one)) {
        if (has_problem(value, *one)) {
          continue;
        }
        OPDRIFT_TRY(TensorRecord tensor, read_tensor(value, *one));
        record.tensors.push_back(std::move(tensor));
      }
    }
    return Unit{};
  }
  Status finish() const {
    if (schema_ != kSchema) {
      return Error{ErrorCode::unsupported,
                   "expected schema " + std::string(kSchema) + ", found '" + schema_ + "'"};
    }
    return Unit{};
  }
  FileRecord record;

 private:
  std::string schema_;
};

}  // namespace

bool read_label(std::string_view label, TensorRecord& tensor) {
  const std::size_t last = label.rfind(':');
  const std::size_t middle = last == std::string_view::npos || last == 0
                                 ? std::string_view::npos
                                 : label.rfind(':', last - 1);
  if (middle == std::string_view::npos) {
    return false;
  }
  const auto role = role_named(label.substr(middle + 1, last - middle - 1));
  const auto index = parse_u64(label.substr(last + 1));
  if (!role || !index || *index > 0xFFFFFFFF) {
    return false;
  }
  tensor.operator_name = label.substr(0, middle);
  tensor.role = *role;
  tensor.index = static_cast<std::uint32_t>(*index);
  return true;
}

std::string TensorRecord::checksum_text() const {
  std::array<char, 12> text{};
  if (crc32) {
    std::snprintf(text.data(), text.size(), "%08x", *crc32);
  }
  return text.data();
}

Result<TensorRecord> measure_record(const tensor::View& view, const CancelFlag* cancel) {
  OPDRIFT_TRY(const metrics::SideStats stats, metrics::measure_side(view, {.cancel = cancel}));
  TensorRecord record;
  record.dtype = tensor::name_of(view.tensor.desc.dtype);
  record.shape = view.shape();
  record.count = view.count();
  record.min = stats.min;
  record.max = stats.max;
  record.mean = stats.mean();
  record.l2 = std::sqrt(stats.sum_squares);
  record.nan = stats.classes.nan;
  record.positive_inf = stats.classes.positive_inf;
  record.negative_inf = stats.classes.negative_inf;
  record.zero = stats.classes.zero;
  record.subnormal = stats.classes.subnormal;
  record.crc32 = checksum(view);
  OPDRIFT_TRY(record.sketch, metrics::sketch_of(view));
  return record;
}

Result<FileRecord> measure_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return system_error(errno, "stat", path);
  }
  OPDRIFT_TRY(const io::FileDump dump, io::open_file(path));
  FileRecord record;
  record.name = io::base_name(path);
  record.format = dump.format;
  record.bytes = static_cast<std::uint64_t>(info.st_size);
  record.modified_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  record.op_name = dump.op_name;
  if (dump.tensors.empty()) {
    return Error{ErrorCode::unsupported, "the file holds no tensor", path};
  }
  for (const io::FileTensor& tensor : dump.tensors) {
    OPDRIFT_TRY(TensorRecord measured, io::in_file(measure_tensor(tensor), path));
    record.tensors.push_back(std::move(measured));
  }
  return record;
}

std::string to_json(const FileRecord& record) {
  RecordWriter json;
  json.open("{");
  json.text("schema", kSchema);
  if (!record.name.empty()) {
    put_source(record, json);
  }
  json.name("tensors");
  json.open("[");
  for (std::size_t i = 0; i < record.tensors.size(); ++i) {
    json.separate(i > 0);
    put_tensor(record.tensors[i], json);
  }
  json.close("]}\n");
  return std::move(json.out());
}

Result<FileRecord> read_stats_record(const std::string& path) {
  if (is_stats_csv(file_head(path, 128))) {
    return read_stats_csv(path);
  }
  OPDRIFT_TRY(const io::JsonFile file, io::open_json(path));
  graph::TextArena arena;
  RecordReader reader;
  OPDRIFT_CHECK_OK(io::in_file(io::stream_json(file, arena, reader), path));
  OPDRIFT_CHECK_OK(io::in_file(reader.finish(), path));
  return std::move(reader.record);
}

bool is_stats_file(const std::string& path) {
  const std::string head = file_head(path, 128);
  return is_stats_csv(head) ||
         (head.starts_with('{') && head.find("\"" + std::string(kSchema) + "\"") != head.npos);
}

}  // namespace opdrift::pipeline
