#include "opdrift/io/ascend/slices.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "opdrift/base/json_text.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::io {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;

Error bad_slices(std::string message) {
  return Error{ErrorCode::slice_mismatch, "slice information: " + std::move(message)};
}

bool counts_as_false(const Json& value) {
  if (value.is_string()) {
    return value.get_ref<const std::string&>().empty();
  }
  if (value.is_number()) {
    return value.get<double>() == 0.0;
  }
  return value.is_null() || value == Json(false) || (value.is_structured() && value.empty());
}

/// `higher - lower` of one axis; nothing when it is not such an object or negative.
std::optional<std::uint64_t> slice_extent(const Json& axis) {
  if (!axis.is_object() || !axis.contains("lower") || !axis.contains("higher") ||
      !axis["lower"].is_number_integer() || !axis["higher"].is_number_integer()) {
    return std::nullopt;
  }
  const auto lower = axis["lower"].get<std::int64_t>();
  const auto higher = axis["higher"].get<std::int64_t>();
  if (higher < lower || (lower < 0 && higher > std::numeric_limits<std::int64_t>::max() + lower)) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(higher - lower);
}

Result<tensor::Shape> slice_shape(const Json& axes) {
  tensor::Shape shape;
  if (!axes.is_array()) {
    return bad_slices("expected a list of axes");
  }
  for (const Json& axis : axes) {
    const std::optional<std::uint64_t> extent = slice_extent(axis);
    if (!extent) {
      return bad_slices("expected {\"lower\": l, \"higher\": h} with l <= h");
    }
    shape.push_back(*extent);
  }
  return shape;
}

Result<std::optional<SliceShapes>> slice_shapes(const Json& object, const char* key) {
  if (!object.contains(key)) {
    return std::optional<SliceShapes>();
  }
  SliceShapes shapes;
  if (counts_as_false(object[key])) {
    return std::optional<SliceShapes>(shapes);
  }
  if (!object[key].is_array()) {
    return bad_slices(std::string(key) + ": expected a list");
  }
  for (const Json& thread : object[key]) {
    std::vector<tensor::Shape> of_thread;
    if (!thread.is_array()) {
      return bad_slices(std::string(key) + ": expected one list per thread");
    }
    for (const Json& axes : thread) {
      OPDRIFT_TRY(tensor::Shape shape, slice_shape(axes));
      of_thread.push_back(std::move(shape));
    }
    shapes.push_back(std::move(of_thread));
  }
  return std::optional<SliceShapes>(std::move(shapes));
}

Result<std::vector<std::vector<std::int64_t>>> cut_lists(const Json& object) {
  std::vector<std::vector<std::int64_t>> cuts;
  if (!object.contains("outputCutList") || !object["outputCutList"].is_array()) {
    return cuts;
  }
  for (const Json& output : object["outputCutList"]) {
    std::vector<std::int64_t> pieces;
    if (!output.is_array()) {
      return bad_slices("outputCutList: expected one list per output");
    }
    for (const Json& count : output) {
      if (!count.is_number_integer()) {
        return bad_slices("outputCutList: expected whole numbers");
      }
      pieces.push_back(count.get<std::int64_t>());
    }
    cuts.push_back(std::move(pieces));
  }
  return cuts;
}

Result<std::optional<SliceInfo>> parse_slice_info(const std::string& text) {
  const Result<Json> json =
      text.size() <= kMaxJsonBytes
          ? parse_json<Json>(text)
          : Error{ErrorCode::limit, "expected JSON of at most " + human_bytes(kMaxJsonBytes)};
  if (!json.has_value()) {
    return Error{ErrorCode::malformed, "first attribute: " + json.error().to_string()};
  }
  const Json& object = *json;
  if (counts_as_false(object)) {
    return std::optional<SliceInfo>();
  }
  if (!object.is_object() || !object.contains("threadMode")) {
    return bad_slices("expected an object with threadMode");
  }
  SliceInfo info;
  info.automatic = !counts_as_false(object["threadMode"]);
  if (object.contains("slice_instance_num") && object["slice_instance_num"].is_number_unsigned()) {
    info.slice_count = object["slice_instance_num"].get<std::uint64_t>();
  }
  OPDRIFT_TRY(info.output_cuts, cut_lists(object));
  OPDRIFT_TRY(info.inputs, slice_shapes(object, "input_tensor_slice"));
  OPDRIFT_TRY(info.outputs, slice_shapes(object, "output_tensor_slice"));
  return std::optional<SliceInfo>(std::move(info));
}

/// The shapes of one thread. An empty list has no shapes; a missing one is an error.
Result<std::vector<tensor::Shape>> shapes_of_thread(const std::optional<SliceShapes>& side,
                                                    std::uint64_t thread) {
  if (!side) {
    return bad_slices("expected input_tensor_slice and output_tensor_slice");
  }
  if (side->empty()) {
    return std::vector<tensor::Shape>();
  }
  if (thread >= side->size()) {
    return bad_slices("expected a thread below " + std::to_string(side->size()) + ", found " +
                      std::to_string(thread));
  }
  return (*side)[static_cast<std::size_t>(thread)];
}

std::vector<FileTensor*> tensors_of(FileDump& dump, TensorRole role) {
  std::vector<FileTensor*> found;
  for (FileTensor& file_tensor : dump.tensors) {
    if (file_tensor.role == role) {
      found.push_back(&file_tensor);
    }
  }
  return found;
}

/// Elements a tensor has by its own shape and bytes; surplus bytes do not count.
std::uint64_t held_elements(const FileTensor& source) {
  const unsigned bits = std::max(1U, tensor::info(source.desc.dtype).bits);
  const std::uint64_t available =
      source.size_bytes / bits * 8 + source.size_bytes % bits * 8 / bits;
  return std::min(available, tensor::element_count(source.desc.shape).value_or(available));
}

Error does_not_fill(const tensor::Shape& shape, std::uint64_t held) {
  return Error{ErrorCode::data_mismatch, "slice of shape [" + tensor::to_string(shape) +
                                             "]: expected as many elements, found " +
                                             std::to_string(held)};
}

void give_shape(FileTensor& file_tensor, const tensor::Shape& shape) {
  const std::uint64_t held = held_elements(file_tensor);
  if (!file_tensor.problem && tensor::element_count(shape).value_or(~held) != held) {
    file_tensor.problem = does_not_fill(shape, held);
  }
  file_tensor.desc.shape = shape;
  file_tensor.desc.has_shape = true;
}

Status apply_side(FileDump& dump, TensorRole role, const std::optional<SliceShapes>& side,
                  std::uint64_t thread) {
  OPDRIFT_TRY(const std::vector<tensor::Shape> shapes, shapes_of_thread(side, thread));
  const std::vector<FileTensor*> tensors = tensors_of(dump, role);
  if (tensors.empty()) {
    return Unit{};
  }
  if (shapes.size() != tensors.size()) {
    return bad_slices("expected " + std::to_string(tensors.size()) + " " +
                      std::string(to_string(role)) + " shapes, found " +
                      std::to_string(shapes.size()));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    give_shape(*tensors[i], shapes[i]);
  }
  return Unit{};
}

/// Axis along which output `index` was cut; nothing when it was not.
std::optional<std::size_t> first_cut_axis(const SliceInfo& info, std::size_t index) {
  if (index >= info.output_cuts.size()) {
    return std::nullopt;
  }
  const std::vector<std::int64_t>& pieces = info.output_cuts[index];
  const auto cut = std::find_if(pieces.begin(), pieces.end(), [](auto n) { return n != 1; });
  return cut == pieces.end() ? std::nullopt
                             : std::optional(static_cast<std::size_t>(cut - pieces.begin()));
}

bool has_any_cut(const SliceInfo& info) {
  for (std::size_t i = 0; i < info.output_cuts.size(); ++i) {
    if (first_cut_axis(info, i)) {
      return true;
    }
  }
  return false;
}

std::string_view time_of(const FileDump& dump) {
  const std::vector<std::string_view> parts = split(base_name(dump.path), '.');
  return parts.size() > 4 ? parts[4] : std::string_view();
}

/// One slice of an output, ready to be joined.
struct Piece {
  tensor::Shape shape;
  std::uint64_t bytes = 0;
  FileTensor source;
};

Result<Piece> make_piece(const FileTensor& source, tensor::Shape shape) {
  if (source.problem) {
    return *source.problem;
  }
  const unsigned bits = tensor::info(source.desc.dtype).bits;
  if (bits == 0 || bits % 8 != 0) {
    return Error{ErrorCode::unsupported_dtype, "slices: expected elements of whole bytes, found " +
                                                   std::string(tensor::name_of(source.desc.dtype))};
  }
  OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(shape));
  const std::uint64_t held = held_elements(source);
  if (count != held) {
    return does_not_fill(shape, held);
  }
  return Piece{std::move(shape), count * (bits / 8), source};
}

/// Bytes of one step along the axes before `axis`.
std::uint64_t chunk_bytes(const Piece& piece, std::size_t axis) {
  std::uint64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) {
    outer *= piece.shape[i];
  }
  return outer == 0 ? 0 : piece.bytes / outer;
}

Result<tensor::Shape> joined_shape(const std::vector<Piece>& pieces, std::size_t axis) {
  tensor::Shape joined = pieces.front().shape;
  if (axis >= joined.size()) {
    return bad_slices("expected a cut axis below " + std::to_string(joined.size()) + ", found " +
                      std::to_string(axis));
  }
  joined[axis] = 0;
  for (const Piece& piece : pieces) {
    tensor::Shape rest = piece.shape;
    const std::uint64_t extent = axis < rest.size() ? std::exchange(rest[axis], joined[axis]) : 0;
    if (rest != joined || piece.source.desc.dtype != pieces.front().source.desc.dtype) {
      return Error{ErrorCode::data_mismatch,
                   "slices: expected [" + tensor::to_string(pieces.front().shape) +
                       "] up to the cut axis, found [" + tensor::to_string(piece.shape) + "]"};
    }
    joined[axis] += extent;
  }
  OPDRIFT_CHECK_OK(tensor::element_count(joined));
  return joined;
}

Result<Bytes> join(const std::vector<Piece>& pieces, std::size_t axis) {
  std::uint64_t total = 0;
  std::vector<Bytes> loaded;
  for (const Piece& piece : pieces) {
    OPDRIFT_TRY(const tensor::Tensor whole, load_tensor(piece.source));
    loaded.push_back(whole.bytes);
    total += piece.bytes;
  }
  std::vector<std::byte> joined(static_cast<std::size_t>(total));
  std::vector<std::uint64_t> done(pieces.size(), 0);
  std::size_t at = 0;
  while (at < joined.size()) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::uint64_t count = chunk_bytes(pieces[i], axis);
      if (count > 0) {
        std::memcpy(joined.data() + at, loaded[i].span.data() + done[i],
                    static_cast<std::size_t>(count));
      }
      done[i] += count;
      at += static_cast<std::size_t>(count);
    }
  }
  return own_bytes(std::move(joined));
}

/// Output `index` of all files as one tensor.
Result<FileTensor> merge_output(const std::vector<std::vector<FileTensor*>>& outputs,
                                const SliceInfo& info, SliceMode mode, std::size_t index) {
  std::vector<Piece> pieces;
  for (std::size_t file = 0; file < outputs.size(); ++file) {
    tensor::Shape shape = outputs[file][index]->desc.shape;
    if (mode == SliceMode::automatic) {
      OPDRIFT_TRY(const std::vector<tensor::Shape> shapes, shapes_of_thread(info.outputs, file));
      if (index >= shapes.size()) {
        return bad_slices("expected a shape for output " + std::to_string(index));
      }
      shape = shapes[index];
    }
    OPDRIFT_TRY(Piece piece, make_piece(*outputs[file][index], std::move(shape)));
    pieces.push_back(std::move(piece));
  }
  FileTensor merged = *outputs.front()[index];
  merged.desc.shape = pieces.front().shape;
  const std::optional<std::size_t> axis = first_cut_axis(info, index);
  if (!axis) {
    return merged;
  }
  OPDRIFT_TRY(merged.desc.shape, joined_shape(pieces, *axis));
  merged.size_bytes = 0;
  for (const Piece& piece : pieces) {
    merged.size_bytes += piece.bytes;
  }
  merged.bytes = {};
  merged.loader = [kept = std::make_shared<const std::vector<Piece>>(std::move(pieces)),
                   cut = *axis] { return join(*kept, cut); };
  return merged;
}

std::string reported_path(const std::string& path) {
  std::string name(folder_of(path));
  const std::vector<std::string_view> parts = split(base_name(path), '.');
  for (std::size_t i = 0; i < std::min<std::size_t>(4, parts.size()); ++i) {
    name += std::string(parts[i]) + ".";
  }
  return name + "*";
}

Status merge_outputs(std::vector<FileDump>& files, const SliceInfo& info, SliceMode mode,
                     MergedDump& merged) {
  std::vector<std::vector<FileTensor*>> outputs;
  for (FileDump& file : files) {
    outputs.push_back(tensors_of(file, TensorRole::output));
    if (outputs.back().size() != outputs.front().size()) {
      return Error{ErrorCode::malformed,
                   "slices: expected " + std::to_string(outputs.front().size()) +
                       " outputs, found " + std::to_string(outputs.back().size()),
                   file.path};
    }
  }
  std::vector<FileTensor> joined;
  for (std::size_t i = 0; i < outputs.front().size(); ++i) {
    OPDRIFT_TRY(FileTensor output, merge_output(outputs, info, mode, i));
    joined.push_back(std::move(output));
  }
  merged.dump = files.front();
  const std::vector<FileTensor*> targets = tensors_of(merged.dump, TensorRole::output);
  for (std::size_t i = 0; i < joined.size(); ++i) {
    *targets[i] = std::move(joined[i]);
  }
  return Unit{};
}

}  // namespace

Result<std::optional<SliceInfo>> slice_info(const FileDump& dump) {
  if (dump.attributes.empty()) {
    return std::optional<SliceInfo>();
  }
  return in_file(parse_slice_info(dump.attributes.front().second), dump.path);
}

Status apply_slice_shapes(FileDump& dump, const std::string& path) {
  OPDRIFT_TRY(const std::optional<SliceInfo> info, slice_info(dump));
  if (!info || !info->automatic) {
    return Unit{};
  }
  const std::vector<std::string_view> parts = split(path, '.');
  const std::optional<std::uint64_t> thread =
      parts.size() >= 2 ? parse_u64(parts[parts.size() - 2]) : std::nullopt;
  if (!thread) {
    return Error{ErrorCode::not_found, "file name: expected a thread number before the last dot",
                 path};
  }
  const Status inputs = apply_side(dump, TensorRole::input, info->inputs, *thread);
  if (!inputs) {
    return in_file(inputs.error(), dump.path);
  }
  return in_file(apply_side(dump, TensorRole::output, info->outputs, *thread), dump.path);
}

Result<MergedDump> merge_slices(std::vector<FileDump> files, SliceMode mode) {
  OPDRIFT_CHECK(!files.empty());
  MergedDump merged;
  if (files.size() == 1 || mode == SliceMode::normal) {
    merged.dump = std::move(files.back());
    return merged;
  }
  OPDRIFT_TRY(const std::optional<SliceInfo> info, slice_info(files.front()));
  if (!info) {
    return in_file(bad_slices("expected it in the first of several files"), files.front().path);
  }
  merged.complete = files.size() == info->slice_count;
  if (!merged.complete) {
    merged.warnings.push_back(files.front().path + ": expected " +
                              std::to_string(info->slice_count) + " slices, found " +
                              std::to_string(files.size()));
  }
  if (!has_any_cut(*info)) {
    const auto newest = std::max_element(
        files.begin(), files.end(),
        [](const FileDump& x, const FileDump& y) { return time_of(x) < time_of(y); });
    merged.warnings.push_back(newest->path + ": no output was cut, the newest file is used alone");
    merged.dump = std::move(*newest);
    return merged;
  }
  const Status status = merge_outputs(files, *info, mode, merged);
  if (!status) {
    return in_file(status.error(), files.front().path);
  }
  merged.dump.op_name = without_lxslice(merged.dump.op_name);
  merged.dump.path = reported_path(files.front().path);
  return merged;
}

}  // namespace opdrift::io
