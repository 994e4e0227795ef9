#include "opdrift/tensor/layout_plugin.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/tensor/cut.hpp"

namespace opdrift::tensor {

namespace {

constexpr std::size_t kMessageBytes = 4096;

/// Layouts move elements and pad them, at worst each to a fractal of its own (512 one-byte
/// elements); a plugin that asks for more misread its shapes.
constexpr std::uint64_t kMaxGrowth = 1024;

using Message = std::array<char, kMessageBytes>;

Error refused(const std::string& path, const std::string& message) {
  return Error{ErrorCode::unsupported, message, path};
}

Status check_table(const opdrift_layout_plugin* table, const std::string& path) {
  if (table == nullptr) {
    return refused(path, "expected a table from opdrift_layout_plugin_entry, found none");
  }
  if (table->abi != OPDRIFT_LAYOUT_PLUGIN_ABI) {
    return refused(path, "expected a layout plugin of version " +
                             std::to_string(OPDRIFT_LAYOUT_PLUGIN_ABI) + ", found version " +
                             std::to_string(table->abi));
  }
  if (table->from == nullptr || table->to == nullptr || table->summary == nullptr ||
      table->result_shape == nullptr || table->convert == nullptr) {
    return refused(path, "expected two layouts, a summary and two functions, found a null pointer");
  }
  return Unit{};
}

Result<Format> known_format(const char* name, const std::string& path) {
  const auto format = format_by_name(name);
  if (!format) {
    return refused(path, "expected a layout such as NCHW, found '" + printable(name) + "'");
  }
  return *format;
}

Error failure(const opdrift_layout_plugin& table, Message& message, int code) {
  message.back() = '\0';
  const std::string why = printable(message.data());
  return Error{ErrorCode::conversion_failed,
               std::string("plugin from ") + table.from + " to " + table.to + ": " +
                   (why.empty() ? "failed with code " + std::to_string(code) : why)};
}

/// Extents the plugin wants, within the limits.
Result<Shape> result_shape(const opdrift_layout_plugin& table, const opdrift_layout_info& info,
                           std::uint64_t stored_bytes) {
  std::array<std::uint64_t, OPDRIFT_LAYOUT_MAX_RANK> extents{};
  Message message{};
  const int rank = table.result_shape(&info, extents.data(), message.data(), message.size());
  if (rank < 0) {
    return failure(table, message, rank);
  }
  if (static_cast<std::size_t>(rank) > extents.size()) {
    return Error{ErrorCode::conversion_failed,
                 "expected at most " + std::to_string(extents.size()) +
                     " extents from the layout plugin, found " + std::to_string(rank)};
  }
  Shape shape(extents.begin(), extents.begin() + rank);
  OPDRIFT_TRY(const std::uint64_t count, element_count(shape));
  if (count / kMaxGrowth > stored_bytes / info.element_bytes) {
    return Error{ErrorCode::limit, "the layout plugin asks for [" + to_string(shape) + "], " +
                                       std::to_string(count) + " elements out of " +
                                       std::to_string(stored_bytes) + " bytes"};
  }
  return shape;
}

/// True for layouts without blocks: only these show padding as elements to cut off.
bool is_plain(Format format) {
  constexpr Format kPlain[] = {Format::nchw,  Format::nhwc,  Format::nd,
                               Format::chwn,  Format::hwcn,  Format::ndhwc,
                               Format::ncdhw, Format::dhwcn, Format::dhwnc};
  return std::find(std::begin(kPlain), std::end(kPlain), format) != std::end(kPlain);
}

/// The bytes as a plugin gets them: row-major, in the byte order of this machine.
Result<Tensor> row_major(const Tensor& tensor) {
  OPDRIFT_TRY(const View stored, stored_view(tensor));
  if (stored.contiguous() && !tensor.desc.big_endian) {
    return tensor;
  }
  return materialise(stored, tensor.desc.format);
}

/// Size of one element; types that share bytes have none.
Result<std::size_t> element_bytes(DType dtype) {
  const unsigned bits = info(dtype).bits;
  if (bits == 0 || bits % 8 != 0) {
    return Error{ErrorCode::unsupported_dtype, "expected elements of whole bytes, found " +
                                                   std::string(name_of(dtype)) +
                                                   ": layout plugins do not get these"};
  }
  return bits / 8;
}

}  // namespace

Result<LayoutPlugin> LayoutPlugin::load(const std::string& path) {
  OPDRIFT_TRY(SharedObject library, SharedObject::open(path));
  using Entry = const opdrift_layout_plugin* (*)();
  OPDRIFT_TRY(void* const entry, library.function("opdrift_layout_plugin_entry"));
  const opdrift_layout_plugin* const table = reinterpret_cast<Entry>(entry)();
  OPDRIFT_CHECK_OK(check_table(table, path));
  OPDRIFT_TRY(const Format from, known_format(table->from, path));
  OPDRIFT_TRY(const Format to, known_format(table->to, path));
  if (from == to) {
    return refused(path, "expected two different layouts, found " + std::string(table->from));
  }
  return LayoutPlugin(std::move(library), table, from, to);
}

Result<Tensor> LayoutPlugin::run(const Tensor& tensor, const Shape& logical) const {
  OPDRIFT_TRY(const std::size_t bytes, element_bytes(tensor.desc.dtype));
  OPDRIFT_TRY(const Tensor source, row_major(tensor));
  const Shape& stored = source.desc.shape;
  const std::string dtype(name_of(source.desc.dtype));
  const opdrift_layout_info info = {dtype.c_str(),         bytes,          stored.data(),
                                    stored.size(),         logical.data(), logical.size(),
                                    source.desc.sub_format};
  OPDRIFT_TRY(const Shape shape, result_shape(*table_, info, source.bytes.size()));
  OPDRIFT_TRY(const std::uint64_t count, element_count(shape));
  std::vector<std::byte> buffer(count * bytes);
  Message message{};
  const int code = table_->convert(&info, source.bytes.span.data(), buffer.data(), message.data(),
                                   message.size());
  if (code != 0) {
    return failure(*table_, message, code);
  }
  Tensor made;
  made.desc = source.desc;
  made.desc.format = to_;
  made.desc.shape = shape;
  made.bytes = own_bytes(std::move(buffer));
  return made;
}

Result<ConvertedTensor> LayoutPlugin::convert(const Tensor& tensor,
                                              const Shape& target_shape) const {
  const Shape& logical = target_shape.empty() ? tensor.desc.original_shape : target_shape;
  OPDRIFT_TRY(const Tensor made, run(tensor, logical));
  ConvertedTensor result;
  OPDRIFT_TRY(result.view, stored_view(made));
  if (logical.empty() || !is_plain(to_)) {
    return result;
  }
  auto cut = cut_to_original(result.view, tensor.desc, to_, logical, !target_shape.empty());
  result.crop_failed = !cut.has_value();
  if (cut.has_value()) {
    result.view = *std::move(cut);
  } else {
    result.crop_problem = cut.error().message;
  }
  return result;
}

const LayoutPlugin* find_layout_plugin(std::span<const LayoutPlugin> plugins, Format from,
                                       Format to) {
  const auto found = std::find_if(plugins.rbegin(), plugins.rend(), [&](const LayoutPlugin& p) {
    return p.from() == from && p.to() == to;
  });
  return found == plugins.rend() ? nullptr : &*found;
}

}  // namespace opdrift::tensor
