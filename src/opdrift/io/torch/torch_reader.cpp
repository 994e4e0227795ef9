#include "opdrift/io/torch/torch_reader.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/io/archive/zip_archive.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/torch/torch_pickle.hpp"

namespace opdrift::io {

namespace {

using Kind = PickleNode::Kind;
using tensor::DType;

constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
                                        14);
constexpr std::uint64_t kMaxPickleBytes = 64ULL << 20;
constexpr int kMaxWrappers = 8;  // parameter around subclass around tensor is the deepest known
constexpr std::size_t kMaxAxes = 64;

struct NamedType {
  std::string_view name;
  DType dtype;
};

constexpr NamedType kStorages[] = {
    {"FloatStorage", DType::f32},        {"DoubleStorage", DType::f64},
    {"HalfStorage", DType::f16},         {"BFloat16Storage", DType::bf16},
    {"CharStorage", DType::i8},          {"ByteStorage", DType::u8},
    {"ShortStorage", DType::i16},        {"IntStorage", DType::i32},
    {"LongStorage", DType::i64},         {"BoolStorage", DType::boolean},
    {"ComplexFloatStorage", DType::c64}, {"ComplexDoubleStorage", DType::c128},
    {"UntypedStorage", DType::raw},
};

constexpr NamedType kDtypes[] = {
    {"float32", DType::f32},         {"float", DType::f32},        {"float64", DType::f64},
    {"double", DType::f64},          {"float16", DType::f16},      {"half", DType::f16},
    {"bfloat16", DType::bf16},       {"int8", DType::i8},          {"uint8", DType::u8},
    {"int16", DType::i16},           {"short", DType::i16},        {"uint16", DType::u16},
    {"int32", DType::i32},           {"int", DType::i32},          {"uint32", DType::u32},
    {"int64", DType::i64},           {"long", DType::i64},         {"uint64", DType::u64},
    {"bool", DType::boolean},        {"complex32", DType::c32},    {"chalf", DType::c32},
    {"complex64", DType::c64},       {"cfloat", DType::c64},       {"complex128", DType::c128},
    {"cdouble", DType::c128},        {"float8_e5m2", DType::e5m2}, {"float8_e4m3fn", DType::e4m3fn},
    {"float8_e8m0fnu", DType::e8m0},
};

template <std::size_t N>
std::optional<DType> type_named(const NamedType (&table)[N], std::string_view name) {
  for (const NamedType& row : table) {
    if (row.name == name) {
      return row.dtype;
    }
  }
  return std::nullopt;
}

/// A tensor as the pickle tells it, before the storage is known.
struct TorchView {
  std::string key;
  DType dtype = DType::raw;
  std::uint64_t storage_elements = 0;
  std::uint64_t offset = 0;  // elements
  tensor::Shape shape;
  std::vector<std::int64_t> strides;
};

/// Turns the tree of a pickle into a tensor.
class TensorFinder {
 public:
  explicit TensorFinder(const PickleTree& tree) : tree_(tree) {}

  Result<TorchView> find(std::uint32_t position, int wrappers = 0) {
    const PickleNode& node = tree_[position];
    if (node.kind != Kind::call || wrappers > kMaxWrappers) {
      return refused(position);
    }
    const PickleNode& callable = tree_[node.children[0]];
    const PickleNode& arguments = tree_[node.children[1]];
    if (callable.kind != Kind::global || arguments.kind != Kind::tuple) {
      return refused(position);
    }
    const auto& given = arguments.children;
    if (is(callable, "_rebuild_parameter") || is(callable, "_rebuild_parameter_with_state")) {
      return given.empty() ? refused(position) : find(given[0], wrappers + 1);
    }
    if (callable.text == "torch._tensor\n_rebuild_from_type_v2" && given.size() >= 3) {
      return from_type(given, position);
    }
    return rebuild(callable, given, position);
  }

 private:
  static bool is(const PickleNode& callable, std::string_view name) {
    constexpr std::string_view kModule = "torch._utils\n";
    return callable.text.starts_with(kModule) && callable.text.substr(kModule.size()) == name;
  }

  Error refused(std::uint32_t position) const {
    return Error{ErrorCode::unsupported,
                 "expected one saved tensor, found " + describe(tree_, position)};
  }

  /// A subclass names the function that rebuilds the plain tensor inside it.
  Result<TorchView> from_type(const std::vector<std::uint32_t>& given, std::uint32_t position) {
    const PickleNode& function = tree_[given[0]];
    const PickleNode& inner = tree_[given[2]];
    if (function.kind != Kind::global || inner.kind != Kind::tuple) {
      return refused(position);
    }
    return rebuild(function, inner.children, position);
  }

  Result<TorchView> rebuild(const PickleNode& function, const std::vector<std::uint32_t>& given,
                            std::uint32_t position) {
    const bool third = is(function, "_rebuild_tensor_v3");
    const bool known =
        third || is(function, "_rebuild_tensor_v2") || is(function, "_rebuild_tensor");
    if (!known || given.size() < (third ? 7U : 4U)) {
      return refused(position);
    }
    TorchView view;
    OPDRIFT_CHECK_OK(read_storage(given[0], view));
    OPDRIFT_TRY(view.offset, unsigned_integer(given[1], "storage offset"));
    OPDRIFT_CHECK_OK(read_shape(given[2], given[3], view));
    if (third) {
      OPDRIFT_CHECK_OK(read_dtype(given[6], view));
    }
    if (view.dtype == DType::raw) {
      return Error{ErrorCode::unsupported_dtype,
                   "expected an element type for the untyped storage"};
    }
    return view;
  }

  Status read_storage(std::uint32_t position, TorchView& view) {
    const PickleNode& node = tree_[position];
    const PickleNode* id = node.kind == Kind::persistent_id ? &tree_[node.children[0]] : nullptr;
    if (id == nullptr || id->kind != Kind::tuple || id->children.size() < 5) {
      return Error{ErrorCode::malformed, "expected a storage, found " + describe(tree_, position)};
    }
    const PickleNode& type = tree_[id->children[1]];
    const PickleNode& key = tree_[id->children[2]];
    if (key.kind != Kind::text || type.kind != Kind::global) {
      return Error{ErrorCode::malformed, "expected a storage type and key"};
    }
    const std::string_view name = type.text.substr(type.text.find('\n') + 1);
    const std::optional<DType> dtype = type_named(kStorages, name);
    if (!dtype) {
      return Error{ErrorCode::unsupported_dtype,
                   "expected a torch storage type, found " + describe(tree_, id->children[1])};
    }
    if (id->children.size() > 5 && tree_[id->children[5]].kind != Kind::none) {
      return Error{ErrorCode::unsupported, "storages that are views of storages are not supported"};
    }
    view.key = std::string(key.text);
    view.dtype = *dtype;
    OPDRIFT_TRY(view.storage_elements, unsigned_integer(id->children[4], "storage size"));
    return Unit{};
  }

  /// The untyped storage of `_rebuild_tensor_v3` counts bytes.
  Status read_dtype(std::uint32_t position, TorchView& view) {
    const PickleNode& node = tree_[position];
    constexpr std::string_view kModule = "torch\n";
    const std::optional<DType> dtype = node.kind == Kind::global && node.text.starts_with(kModule)
                                           ? type_named(kDtypes, node.text.substr(kModule.size()))
                                           : std::nullopt;
    if (!dtype) {
      return Error{ErrorCode::unsupported_dtype,
                   "expected a torch element type, found " + describe(tree_, position)};
    }
    if (view.dtype == DType::raw) {
      view.storage_elements /= tensor::info(*dtype).bits / 8;
    }
    view.dtype = *dtype;
    return Unit{};
  }

  Result<std::uint64_t> unsigned_integer(std::uint32_t position, std::string_view what) {
    const PickleNode& node = tree_[position];
    if (node.kind != Kind::integer || node.integer < 0) {
      return Error{ErrorCode::malformed, "expected a number as " + std::string(what) + ", found " +
                                             describe(tree_, position)};
    }
    return static_cast<std::uint64_t>(node.integer);
  }

  Status read_shape(std::uint32_t sizes, std::uint32_t strides, TorchView& view) {
    const PickleNode& size = tree_[sizes];
    const PickleNode& stride = tree_[strides];
    if (size.kind != Kind::tuple || stride.kind != Kind::tuple ||
        size.children.size() != stride.children.size() || size.children.size() > kMaxAxes) {
      return Error{ErrorCode::bad_shape, "expected sizes and strides of one length, found " +
                                             describe(tree_, sizes) + " and " +
                                             describe(tree_, strides)};
    }
    for (std::size_t i = 0; i < size.children.size(); ++i) {
      OPDRIFT_TRY(const std::uint64_t extent, unsigned_integer(size.children[i], "size"));
      OPDRIFT_TRY(const std::uint64_t step, unsigned_integer(stride.children[i], "stride"));
      view.shape.push_back(extent);
      view.strides.push_back(static_cast<std::int64_t>(step));
    }
    return Unit{};
  }

  const PickleTree& tree_;
};

/// Elements from the first to the last one the view can reach; 0 for an empty view.
Result<std::uint64_t> reach(const TorchView& view) {
  OPDRIFT_TRY(const std::uint64_t count, tensor::element_count(view.shape));
  if (count == 0) {
    return std::uint64_t{0};
  }
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    std::uint64_t step = 0;
    if (__builtin_mul_overflow(view.shape[i] - 1, static_cast<std::uint64_t>(view.strides[i]),
                               &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return Error{ErrorCode::bad_shape, "strides reach beyond any storage"};
    }
  }
  return last + 1;
}

bool is_contiguous(const TorchView& view) {
  std::uint64_t expected = 1;
  for (std::size_t i = view.shape.size(); i > 0; --i) {
    if (view.shape[i - 1] != 1 && static_cast<std::uint64_t>(view.strides[i - 1]) != expected) {
      return false;
    }
    expected *= view.shape[i - 1];
  }
  return true;
}

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

/// Where the view lies in its storage. `available` are the bytes the storage has.
Result<ByteRange> range_in_storage(const TorchView& view, std::uint64_t available) {
  OPDRIFT_TRY(const std::uint64_t elements, reach(view));
  if (elements == 0) {
    return ByteRange{};
  }
  const std::uint64_t item = tensor::info(view.dtype).bits / 8;
  std::uint64_t end = 0;
  if (__builtin_add_overflow(view.offset, elements, &end) || end > available / item) {
    return Error{ErrorCode::data_mismatch,
                 "expected " + std::to_string(view.offset) + " + " + std::to_string(elements) +
                     " elements of " + std::to_string(item) + " bytes in the storage, found " +
                     std::to_string(available) + " bytes"};
  }
  return ByteRange{view.offset * item, elements * item};
}

FileTensor describe_tensor(const TorchView& view, bool big_endian) {
  FileTensor file_tensor;
  file_tensor.role = TensorRole::output;
  file_tensor.desc.dtype = view.dtype;
  file_tensor.desc.shape = view.shape;
  file_tensor.desc.original_shape = view.shape;
  file_tensor.desc.big_endian = big_endian;
  if (!is_contiguous(view)) {
    file_tensor.desc.strides = view.strides;
  }
  return file_tensor;
}

FileDump one_tensor(const std::string& path, FileTensor file_tensor, std::string version) {
  FileDump dump;
  dump.path = path;
  dump.format = "torch";
  dump.version = std::move(version);
  dump.tensors.push_back(std::move(file_tensor));
  return dump;
}

/// The members of a saved archive, found by their position under the one top folder.
class TorchArchive {
 public:
  explicit TorchArchive(std::shared_ptr<const ZipArchive> archive) : archive_(std::move(archive)) {}

  Result<FileDump> open(const std::string& path) {
    OPDRIFT_CHECK_OK(find_top());
    OPDRIFT_TRY(const std::size_t pickle, member("data.pkl"));
    if (archive_->members()[pickle].bytes > kMaxPickleBytes) {
      return Error{ErrorCode::limit, "data.pkl: expected at most 64 MiB"};
    }
    OPDRIFT_TRY(const Bytes pickled, archive_->load(pickle));
    OPDRIFT_TRY(const PickleTree tree, read_pickle(pickled.span));
    OPDRIFT_TRY(const TorchView view, TensorFinder(tree).find(tree.root));
    OPDRIFT_TRY(const bool big_endian, is_big_endian());
    OPDRIFT_TRY(FileTensor file_tensor, locate(view, big_endian));
    OPDRIFT_TRY(const std::string version, small_member("version"));
    return one_tensor(path, std::move(file_tensor), version);
  }

 private:
  Status find_top() {
    for (const ZipMember& member : archive_->members()) {
      if (base_name(member.name) == "data.pkl") {
        top_ = std::string(folder_of(member.name));
        return Unit{};
      }
    }
    return Error{ErrorCode::unsupported, "expected a saved tensor: no member data.pkl among " +
                                             std::to_string(archive_->members().size())};
  }

  Result<std::size_t> member(std::string_view name) const {
    const std::string wanted = top_ + std::string(name);
    const auto& members = archive_->members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].name == wanted) {
        return i;
      }
    }
    return Error{ErrorCode::not_found, "expected a member " + wanted + " in the archive"};
  }

  /// Text of an optional one-line member, "" when there is none.
  Result<std::string> small_member(std::string_view name) const {
    const Result<std::size_t> index = member(name);
    if (!index) {
      return std::string();
    }
    OPDRIFT_TRY(const Bytes bytes, archive_->head(*index, 32));
    std::string text(as_text(bytes.span));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
      text.pop_back();
    }
    return text;
  }

  Result<bool> is_big_endian() const {
    OPDRIFT_TRY(const std::string order, small_member("byteorder"));
    if (!order.empty() && order != "little" && order != "big") {
      return Error{ErrorCode::malformed, "byteorder: expected little or big, found " + order};
    }
    return order == "big";
  }

  Result<FileTensor> locate(const TorchView& view, bool big_endian) const {
    FileTensor file_tensor = describe_tensor(view, big_endian);
    OPDRIFT_TRY(const std::uint64_t needed, reach(view));
    if (needed == 0) {
      return file_tensor;
    }
    OPDRIFT_TRY(const std::size_t index, member("data/" + view.key));
    const ZipMember& storage = archive_->members()[index];
    OPDRIFT_TRY(const ByteRange range, range_in_storage(view, storage.bytes));
    file_tensor.size_bytes = range.count;
    file_tensor.loader = [archive = archive_, index, range]() -> Result<Bytes> {
      OPDRIFT_TRY(const Bytes bytes, archive->load(index));
      return bytes.part(range.offset, range.count);
    };
    return file_tensor;
  }

  std::shared_ptr<const ZipArchive> archive_;
  std::string top_;
};

/// The five pickles in front of the storages of a legacy file.
class LegacyFile {
 public:
  explicit LegacyFile(Bytes file) : file_(std::move(file)) {}

  Result<FileDump> open(const std::string& path) {
    OPDRIFT_TRY(const PickleTree magic, next());
    OPDRIFT_TRY(const PickleTree protocol, next());
    OPDRIFT_TRY(const PickleTree system, next());
    static_cast<void>(magic);
    OPDRIFT_TRY(const PickleTree object, next());
    OPDRIFT_TRY(const TorchView view, TensorFinder(object).find(object.root));
    OPDRIFT_TRY(const PickleTree keys, next());
    FileTensor file_tensor = describe_tensor(view, is_big_endian(system));
    OPDRIFT_TRY(const std::uint64_t needed, reach(view));
    if (needed > 0) {
      OPDRIFT_TRY(file_tensor.bytes, locate(keys, view, file_tensor.desc.big_endian));
      file_tensor.size_bytes = file_tensor.bytes.size();
    }
    const PickleNode& version = protocol[protocol.root];
    return one_tensor(path, std::move(file_tensor), std::to_string(version.integer));
  }

 private:
  Result<PickleTree> next() {
    OPDRIFT_TRY(PickleTree tree, read_pickle(file_.span.subspan(position_), position_));
    position_ += tree.consumed_bytes;
    return tree;
  }

  static bool is_big_endian(const PickleTree& system) {
    const PickleNode& root = system[system.root];
    for (std::size_t i = 0; root.kind == Kind::dict && i + 1 < root.children.size(); i += 2) {
      const PickleNode& value = system[root.children[i + 1]];
      if (system[root.children[i]].text == "little_endian" && value.kind == Kind::boolean) {
        return !value.boolean;
      }
    }
    return false;
  }

  /// Storages stand one behind the other; with one tensor there is one, so others are skipped only
  /// when a hooked-in file lists them and their element size is that of the tensor.
  Result<Bytes> locate(const PickleTree& keys, const TorchView& view, bool big_endian) {
    const PickleNode& root = keys[keys.root];
    if (root.kind != Kind::list || root.children.size() != 1 ||
        keys[root.children[0]].text != view.key) {
      return Error{ErrorCode::unsupported, "expected the storage " + view.key + " alone, found " +
                                               describe(keys, keys.root)};
    }
    ByteCursor cursor(file_.span.subspan(position_), position_);
    OPDRIFT_TRY(std::uint64_t count, cursor.u64("storage size"));
    count = big_endian ? __builtin_bswap64(count) : count;
    if (count != view.storage_elements) {
      return Error{ErrorCode::malformed, "expected a storage of " +
                                             std::to_string(view.storage_elements) +
                                             " elements, found " + std::to_string(count)};
    }
    OPDRIFT_TRY(const ByteRange range, range_in_storage(view, cursor.remaining()));
    return file_.part(position_ + sizeof(std::uint64_t) + range.offset, range.count);
  }

  Bytes file_;
  std::size_t position_ = 0;
};

}  // namespace

bool probe_torch(ByteSpan head, std::uint64_t file_size, std::string_view file_name) {
  static_cast<void>(file_size);
  const std::string_view text = as_text(head);
  if (text.starts_with(kLegacyMagic)) {
    return true;
  }
  const bool named = file_name.ends_with(".pt") || file_name.ends_with(".pth");
  return is_zip(head) && (named || text.find("/data.pkl") != std::string_view::npos);
}

Result<FileDump> parse_torch(const Bytes& file, const std::string& path) {
  if (as_text(file.span).starts_with(kLegacyMagic)) {
    return in_file(LegacyFile(file).open(path), path);
  }
  if (!is_zip(file.span)) {
    return Error{ErrorCode::malformed, "expected a zip archive or a legacy torch file", path};
  }
  Result<std::shared_ptr<const ZipArchive>> archive = ZipArchive::open(file);
  if (!archive) {
    return in_file(std::move(archive).error(), path);
  }
  return in_file(TorchArchive(std::move(archive).value()).open(path), path);
}

Result<FileDump> open_torch(const std::string& path) {
  OPDRIFT_TRY(const Bytes file, map_file(path));
  return parse_torch(file, path);
}

}  // namespace opdrift::io
