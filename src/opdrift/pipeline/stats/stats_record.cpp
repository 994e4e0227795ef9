#include "opdrift/pipeline/stats/stats_record.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/archive/inflate.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/msprobe/json_stream.hpp"
#include "opdrift/io/registry.hpp"
#include "opdrift/metrics/measure.hpp"
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
  OPDRIFT_TRY(const metrics::SideStats stats, metrics::measure_side(view));
  TensorRecord record;
  record.role = file_tensor.role;
  record.index = file_tensor.index;
  record.name = file_tensor.name;
  record.dtype = tensor::name_of(tensor.desc.dtype);
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

void put_tensor(const TensorRecord& tensor, RecordWriter& json) {
  json.open("{");
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
  std::array<char, 12> crc{};
  std::snprintf(crc.data(), crc.size(), "%08x", tensor.crc32);
  json.text("crc32", crc.data());
  json.name("sketch");
  json.out() += "[";
  for (std::size_t i = 0; i < tensor.sketch.buckets.size(); ++i) {
    json.out() += i > 0 ? ", " : "";
    put_number(tensor.sketch.buckets[i], json.out());
  }
  json.out() += "]";
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
    const auto value = node == nullptr ? std::nullopt : graph_integer(node->text);
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
  const JsonNode* list(std::string_view key) { return find(key, JsonNode::Kind::list); }
  const std::string& missing() const { return missing_; }
  void note(std::string_view key) {
    if (missing_.empty()) {
      missing_ = key;
    }
  }

 private:
  static std::optional<std::uint64_t> graph_integer(std::string_view text) {
    const auto value = graph::python_number(text);
    const bool fits = value && *value >= 0.0 && *value < 9.2e18;
    return fits ? parse_digits(text) : std::nullopt;
  }
  static std::optional<std::uint64_t> parse_digits(std::string_view text) {
    std::uint64_t value = 0;
    for (const char c : text) {
      if (c < '0' || c > '9') {
        return std::nullopt;
      }
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
  }
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

std::optional<io::TensorRole> role_named(std::string_view name) {
  for (const io::TensorRole role : {io::TensorRole::input, io::TensorRole::output,
                                    io::TensorRole::buffer, io::TensorRole::space}) {
    if (io::to_string(role) == name) {
      return role;
    }
  }
  return std::nullopt;
}

Result<TensorRecord> read_tensor(const JsonTree& tree, const JsonNode& object) {
  FieldReader fields(tree, object);
  TensorRecord tensor;
  const auto role = role_named(fields.text("role"));
  if (role) {
    tensor.role = *role;
  } else {
    fields.note("role");
  }
  tensor.index = static_cast<std::uint32_t>(fields.integer("index"));
  tensor.name = fields.text("name");
  tensor.dtype = fields.text("dtype");
  tensor.count = fields.integer("count");
  tensor.min = fields.number("min");
  tensor.max = fields.number("max");
  tensor.mean = fields.number("mean");
  tensor.l2 = fields.number("l2");
  tensor.nan = fields.integer("nan");
  tensor.positive_inf = fields.integer("positive_inf");
  tensor.negative_inf = fields.integer("negative_inf");
  tensor.zero = fields.integer("zero");
  tensor.subnormal = fields.integer("subnormal");
  const std::string crc = fields.text("crc32");
  tensor.crc32 = static_cast<std::uint32_t>(std::strtoul(crc.c_str(), nullptr, 16));
  if (const JsonNode* shape = fields.list("shape")) {
    for (const JsonNode* dim = tree.first_child(*shape); dim != nullptr; dim = tree.next(*dim)) {
      tensor.shape.push_back(
          static_cast<std::uint64_t>(graph::python_number(dim->text).value_or(0.0)));
    }
  }
  std::size_t buckets = 0;
  if (const JsonNode* sketch = fields.list("sketch")) {
    for (const JsonNode* value = tree.first_child(*sketch);
         value != nullptr && buckets < metrics::kSketchBuckets; value = tree.next(*value)) {
      tensor.sketch.buckets[buckets++] = graph::python_number(value->text).value_or(0.0);
    }
  }
  if (buckets != metrics::kSketchBuckets) {
    fields.note("sketch");
  }
  tensor.sketch.count = tensor.count;
  tensor.sketch.nonfinite = tensor.nan + tensor.positive_inf + tensor.negative_inf;
  if (!fields.missing().empty()) {
    return Error{ErrorCode::malformed, "a tensor lacks a proper '" + fields.missing() + "'"};
  }
  return tensor;
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
  json.name("source");
  json.open("{");
  json.text("name", record.name);
  json.text("format", record.format);
  json.integer("bytes", record.bytes);
  json.integer("modified_ns",
               static_cast<std::uint64_t>(std::max<std::int64_t>(record.modified_ns, 0)));
  json.text("op_name", record.op_name);
  json.close("}");
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
  OPDRIFT_TRY(const io::JsonFile file, io::open_json(path));
  graph::TextArena arena;
  RecordReader reader;
  OPDRIFT_CHECK_OK(io::in_file(io::stream_json(file, arena, reader), path));
  OPDRIFT_CHECK_OK(io::in_file(reader.finish(), path));
  return std::move(reader.record);
}

}  // namespace opdrift::pipeline
