#include "opdrift/io/hdf5_reader.hpp"

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/io/hdf5/chunks.hpp"
#include "opdrift/io/hdf5/file.hpp"
#include "opdrift/io/hdf5/links.hpp"
#include "opdrift/io/hdf5/messages.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

using hdf5::LayoutClass;
using hdf5::Message;
using hdf5::MessageType;

constexpr unsigned kMaxDepth = 32;
constexpr std::uint64_t kMaxMembers = 4'000'000;
constexpr std::uint64_t kMaxUnwrittenBytes = 64ULL << 20;
constexpr std::int64_t kDeviceCpu = 0;
constexpr std::int64_t kDeviceGpu = 1;

/// What the messages of a data set say.
struct Dataset {
  hdf5::Dataspace space;
  hdf5::Datatype type;
  hdf5::Layout layout;
  std::vector<hdf5::Filter> filters;
};

Result<Dataset> read_dataset(const hdf5::File& file, const std::vector<Message>& messages) {
  Dataset set;
  for (const Message& message : messages) {
    const ByteCursor cursor(message.data, message.offset);
    const bool wanted = message.type == MessageType::dataspace ||
                        message.type == MessageType::datatype ||
                        message.type == MessageType::layout || message.type == MessageType::filters;
    if (wanted && message.shared) {
      return Error{ErrorCode::unsupported,
                   "an HDF5 data set whose type is kept elsewhere",
                   {},
                   message.offset};
    }
    switch (message.type) {
      case MessageType::dataspace: {
        OPDRIFT_TRY(set.space, hdf5::parse_dataspace(file, cursor));
        break;
      }
      case MessageType::datatype: {
        OPDRIFT_TRY(set.type, hdf5::parse_datatype(cursor));
        break;
      }
      case MessageType::layout: {
        OPDRIFT_TRY(set.layout, hdf5::parse_layout(file, cursor));
        break;
      }
      case MessageType::filters: {
        OPDRIFT_TRY(set.filters, hdf5::parse_filters(cursor));
        break;
      }
      case MessageType::external_files:
        return Error{ErrorCode::unsupported,
                     "an HDF5 data set whose data lie in other files",
                     {},
                     message.offset};
      default: break;
    }
  }
  return set;
}

std::string value_text(const hdf5::Attribute& attribute) {
  std::vector<std::string> parts;
  for (const std::int64_t number : hdf5::integers_of(attribute)) {
    parts.push_back(std::to_string(number));
  }
  return join(parts, ",");
}

/// Strides that address only elements that are there; else nothing and a warning.
std::vector<std::int64_t> usable_strides(const std::vector<std::int64_t>& strides,
                                         const tensor::Shape& shape) {
  const std::uint64_t count = tensor::element_count(shape).value_or(0U);
  if (strides.size() != shape.size() || count == 0) {
    return {};
  }
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::uint64_t steps = shape[i] - 1;
    if (strides[i] < 0 || (steps > 0 && static_cast<std::uint64_t>(strides[i]) > count / steps)) {
      return {};
    }
    last += steps * static_cast<std::uint64_t>(strides[i]);
  }
  return last < count ? strides : std::vector<std::int64_t>{};
}

/// Walks the tree of groups and describes every data set.
class Walker {
 public:
  Walker(std::shared_ptr<const hdf5::File> file, std::string path) : file_(std::move(file)) {
    dump_.path = std::move(path);
    dump_.format = "hdf5";
  }

  Result<FileDump> walk() {
    OPDRIFT_CHECK_OK(visit(file_->root(), "", 0));
    return std::move(dump_);
  }

 private:
  Status visit(std::uint64_t address, const std::string& name, unsigned depth) {
    if (depth > kMaxDepth) {
      return Error{ErrorCode::limit, "expected at most 32 levels of HDF5 groups", {}, address};
    }
    OPDRIFT_TRY(const std::vector<Message> messages, file_->messages(address));
    OPDRIFT_TRY(const hdf5::Links links, hdf5::read_links(*file_, messages, budget_));
    if (!links.is_group) {
      if (depth > 0) {
        add_tensor(messages, name);
      }
      return Unit{};
    }
    if (!groups_.insert(address).second) {
      dump_.warnings.push_back("group " + name + " is another name of one that was read");
      return Unit{};
    }
    if (links.skipped > 0) {
      dump_.warnings.push_back("group " + name + "/: " + std::to_string(links.skipped) +
                               " symbolic or external links are not followed");
    }
    for (const hdf5::Link& link : links.members) {
      const std::string text = is_utf8(link.name) ? link.name : printable(link.name);
      std::string path = name;
      path += '/';
      path += text;
      OPDRIFT_CHECK_OK(visit(link.address, path, depth + 1));
    }
    return Unit{};
  }

  void add_tensor(const std::vector<Message>& messages, const std::string& name) {
    FileTensor tensor;
    tensor.name = name;
    if (const std::optional<TorchTensorName> parts = parse_torch_tensor_name(name)) {
      tensor.role = parts->role;
    }
    tensor.index = counts_[tensor.role]++;
    Result<Dataset> set = read_dataset(*file_, messages);
    const std::vector<std::int64_t> strides = read_attributes(messages, tensor);
    Status described = set ? describe(*set, tensor) : Status(set.error());
    if (!described) {
      tensor.problem = in_file(std::move(described).error(), dump_.path);
    } else {
      apply_strides(strides, tensor);
    }
    dump_.tensors.push_back(std::move(tensor));
  }

  /// Keeps the attributes; returns the Stride.
  std::vector<std::int64_t> read_attributes(const std::vector<Message>& messages,
                                            FileTensor& tensor) {
    std::vector<std::int64_t> strides;
    for (const Message& message : messages) {
      if (message.type != MessageType::attribute || message.shared) {
        continue;
      }
      const Result<hdf5::Attribute> attribute =
          hdf5::parse_attribute(*file_, ByteCursor(message.data, message.offset));
      if (!attribute) {
        dump_.warnings.push_back(tensor.name + ": " + attribute.error().to_string());
        continue;
      }
      tensor.attributes.emplace_back(printable(attribute->name), value_text(*attribute));
      if (attribute->name == "Stride") {
        strides = hdf5::integers_of(*attribute);
      }
    }
    return strides;
  }

  void apply_strides(const std::vector<std::int64_t>& strides, FileTensor& tensor) {
    const std::int64_t device = attribute_number(tensor, "DeviceType").value_or(-1);
    if (strides.empty() || (device != kDeviceCpu && device != kDeviceGpu)) {
      return;
    }
    tensor.desc.strides = usable_strides(strides, tensor.desc.shape);
    if (tensor.desc.strides.empty() && !tensor.desc.shape.empty()) {
      dump_.warnings.push_back(tensor.name + ": its Stride does not fit its shape [" +
                               tensor::to_string(tensor.desc.shape) + "]; read as stored");
    }
  }

  Status describe(const Dataset& set, FileTensor& tensor) {
    tensor.desc.dtype = set.type.dtype;
    tensor.desc.big_endian = set.type.big_endian && set.type.bytes > 1;
    tensor.desc.shape = set.space.null ? tensor::Shape{0} : set.space.shape;
    OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(tensor.desc.shape));
    if (set.type.dtype == tensor::DType::raw || set.type.bytes == 0) {
      return Error{ErrorCode::unsupported_dtype, "elements of " + std::to_string(set.type.bytes) +
                                                     " bytes that are no numbers of a known kind"};
    }
    if (count > (std::uint64_t{1} << 62) / set.type.bytes) {
      return Error{ErrorCode::bad_shape, "expected fewer than 2^62 bytes of data"};
    }
    tensor.size_bytes = count * set.type.bytes;
    return set.layout.kind == LayoutClass::compact || set.layout.kind == LayoutClass::contiguous
               ? place(set, tensor)
               : place_chunked(set, tensor);
  }

  /// Data in one piece.
  Status place(const Dataset& set, FileTensor& tensor) {
    const std::uint64_t needed = tensor.size_bytes;
    const bool compact = set.layout.kind == LayoutClass::compact;
    if (needed == 0) {
      return Unit{};
    }
    if (!compact && !set.layout.address) {
      return place_unwritten(tensor);
    }
    const std::uint64_t offset = compact ? set.layout.data_offset : *set.layout.address;
    const std::uint64_t size = file_->bytes().size();
    if (set.layout.bytes < needed || offset > size || size - offset < needed) {
      return Error{ErrorCode::truncated,
                   "expected " + std::to_string(needed) + " bytes of data, the file has " +
                       std::to_string(size) + " bytes",
                   {},
                   offset};
    }
    tensor.bytes = file_->bytes().part(offset, needed);
    return Unit{};
  }

  /// HDF5 gives data that were never written as zeros.
  static Status place_unwritten(FileTensor& tensor) {
    if (tensor.size_bytes > kMaxUnwrittenBytes) {
      return Error{ErrorCode::limit, "a data set that was never written"};
    }
    tensor.loader = [bytes = tensor.size_bytes]() -> Result<Bytes> {
      return own_bytes(std::vector<std::byte>(static_cast<std::size_t>(bytes)));
    };
    return Unit{};
  }

  Status place_chunked(const Dataset& set, FileTensor& tensor) {
    hdf5::ChunkedData data{set.layout, set.filters, tensor.desc.shape, set.type.bytes};
    OPDRIFT_CHECK_OK(hdf5::check_chunked(*file_, data));
    tensor.loader = [file = file_, data = std::move(data), path = dump_.path]() {
      return in_file(hdf5::load_chunked(*file, data), path);
    };
    return Unit{};
  }

  std::shared_ptr<const hdf5::File> file_;
  FileDump dump_;
  std::set<std::uint64_t> groups_;
  std::map<TensorRole, std::uint32_t> counts_;
  std::uint64_t budget_ = kMaxMembers;
};

}  // namespace

bool probe_hdf5(ByteSpan head, std::uint64_t /*file_size*/, std::string_view file_name) {
  return hdf5::is_hdf5(head) || file_name.ends_with(".h5") || file_name.ends_with(".hdf5");
}

Result<FileDump> parse_hdf5(Bytes bytes, const std::string& path) {
  OPDRIFT_TRY(hdf5::File file, in_file(hdf5::File::open(std::move(bytes)), path));
  Walker walker(std::make_shared<const hdf5::File>(std::move(file)), path);
  return in_file(walker.walk(), path);
}

Result<FileDump> open_hdf5(const std::string& path) {
  OPDRIFT_TRY(Bytes bytes, map_file(path));
  return parse_hdf5(std::move(bytes), path);
}

std::optional<TorchTensorName> parse_torch_tensor_name(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '/');
  if (parts.size() < 5 || !parts[0].empty() || (parts[3] != "input" && parts[3] != "output")) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> order = parse_u64(parts[2]);
  if (!order) {
    return std::nullopt;
  }
  TorchTensorName result;
  result.op = std::string(parts[1]);
  result.order = *order;
  result.role = parts[3] == "input" ? TensorRole::input : TensorRole::output;
  result.name = join(std::vector<std::string>(parts.begin() + 4, parts.end()), "/");
  return result;
}

std::optional<std::int64_t> attribute_number(const FileTensor& tensor, std::string_view name) {
  for (const auto& [key, value] : tensor.attributes) {
    if (key == name) {
      return parse_i64(value);
    }
  }
  return std::nullopt;
}

}  // namespace opdrift::io
