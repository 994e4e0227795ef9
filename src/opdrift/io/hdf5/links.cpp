#include "opdrift/io/hdf5/links.hpp"

#include <optional>
#include <string_view>

namespace opdrift::io::hdf5 {

namespace {

constexpr std::uint32_t kSymbolicLink = 2;
constexpr unsigned kMaxLevel = 16;

Status spend(std::uint64_t& budget, std::uint64_t offset) {
  if (budget == 0) {
    return Error{ErrorCode::limit, "the HDF5 file lists more members than it can hold", {}, offset};
  }
  --budget;
  return Unit{};
}

Status expect_magic(ByteCursor& cursor, std::string_view magic, std::string_view what) {
  const std::uint64_t offset = cursor.file_offset();
  OPDRIFT_TRY(const ByteSpan found, cursor.take(magic.size(), what));
  if (as_text(found) != magic) {
    return Error{ErrorCode::malformed, "expected an HDF5 " + std::string(what), {}, offset};
  }
  return Unit{};
}

/// Walks the tree of one group with a symbol table.
class SymbolTable {
 public:
  SymbolTable(const File& file, std::uint64_t& budget, Links& links)
      : file_(file), budget_(budget), links_(links) {}

  Status read(const Message& message) {
    ByteCursor cursor(message.data, message.offset);
    OPDRIFT_TRY(const auto tree, file_.address(cursor, "B-tree address"));
    OPDRIFT_TRY(const auto heap, file_.address(cursor, "heap address"));
    if (!tree || !heap) {
      return Unit{};
    }
    OPDRIFT_CHECK_OK(open_heap(*heap));
    return read_node(*tree, std::nullopt);
  }

 private:
  Status open_heap(std::uint64_t address) {
    OPDRIFT_TRY(ByteCursor cursor, file_.from(address));
    OPDRIFT_CHECK_OK(expect_magic(cursor, "HEAP", "local heap"));
    OPDRIFT_CHECK_OK(cursor.skip(4, "local heap"));
    OPDRIFT_TRY(const std::uint64_t bytes, file_.length(cursor, "heap size"));
    OPDRIFT_CHECK_OK(cursor.skip(file_.length_width(), "free list"));
    OPDRIFT_TRY(const auto data, file_.address(cursor, "heap data"));
    OPDRIFT_TRY(ByteCursor content, file_.at(data.value_or(file_.bytes().size()), bytes));
    OPDRIFT_TRY(const ByteSpan names, content.take(bytes, "heap data"));
    names_ = as_text(names);
    return Unit{};
  }

  /// Levels fall by one on the way down, so a tree cannot lead back to itself.
  Status read_node(std::uint64_t address, std::optional<unsigned> expected_level) {
    OPDRIFT_CHECK_OK(spend(budget_, address));
    OPDRIFT_TRY(ByteCursor cursor, file_.from(address));
    OPDRIFT_CHECK_OK(expect_magic(cursor, "TREE", "B-tree node"));
    OPDRIFT_CHECK_OK(cursor.skip(1, "node type"));
    OPDRIFT_TRY(const std::uint8_t level, cursor.u8("node level"));
    if (level > kMaxLevel || (expected_level && level != *expected_level)) {
      return Error{
          ErrorCode::malformed, "expected another level of an HDF5 B-tree node", {}, address};
    }
    OPDRIFT_TRY(const std::uint16_t count, cursor.u16("node entries"));
    OPDRIFT_CHECK_OK(cursor.skip(2ULL * file_.address_width(), "siblings"));
    for (unsigned i = 0; i < count; ++i) {
      OPDRIFT_CHECK_OK(cursor.skip(file_.length_width(), "key"));
      OPDRIFT_TRY(const auto child, file_.address(cursor, "child address"));
      const std::uint64_t target = child.value_or(file_.bytes().size());
      OPDRIFT_CHECK_OK(level == 0 ? read_leaf(target) : read_node(target, level - 1));
    }
    return Unit{};
  }

  Status read_leaf(std::uint64_t address) {
    OPDRIFT_CHECK_OK(spend(budget_, address));
    OPDRIFT_TRY(ByteCursor cursor, file_.from(address));
    OPDRIFT_CHECK_OK(expect_magic(cursor, "SNOD", "symbol table node"));
    OPDRIFT_CHECK_OK(cursor.skip(2, "symbol table node"));
    OPDRIFT_TRY(const std::uint16_t count, cursor.u16("symbols"));
    for (unsigned i = 0; i < count; ++i) {
      OPDRIFT_CHECK_OK(spend(budget_, address));
      OPDRIFT_CHECK_OK(read_symbol(cursor));
    }
    return Unit{};
  }

  Status read_symbol(ByteCursor& cursor) {
    OPDRIFT_TRY(const auto name_offset, file_.address(cursor, "name offset"));
    OPDRIFT_TRY(const auto header, file_.address(cursor, "object address"));
    OPDRIFT_TRY(const std::uint32_t kind, cursor.u32("symbol kind"));
    OPDRIFT_CHECK_OK(cursor.skip(4 + 16, "symbol"));
    if (kind == kSymbolicLink || !header) {
      ++links_.skipped;
      return Unit{};
    }
    if (!name_offset || *name_offset >= names_.size()) {
      return Error{
          ErrorCode::malformed, "expected a name inside the HDF5 heap", {}, cursor.file_offset()};
    }
    const std::string_view rest = names_.substr(static_cast<std::size_t>(*name_offset));
    links_.members.push_back(Link{std::string(rest.substr(0, rest.find('\0'))), *header});
    return Unit{};
  }

  const File& file_;
  std::uint64_t& budget_;
  Links& links_;
  std::string_view names_;
};

Status read_link(const File& file, const Message& message, Links& links) {
  ByteCursor cursor(message.data, message.offset);
  OPDRIFT_CHECK_OK(cursor.skip(1, "link version"));
  OPDRIFT_TRY(const std::uint8_t flags, cursor.u8("link flags"));
  std::uint8_t kind = 0;
  if ((flags & 8) != 0) {
    OPDRIFT_TRY(kind, cursor.u8("link kind"));
  }
  OPDRIFT_CHECK_OK(cursor.skip(((flags & 4) != 0 ? 8 : 0) + ((flags & 16) != 0 ? 1 : 0), "link"));
  OPDRIFT_TRY(const std::uint64_t bytes, read_number(cursor, 1U << (flags & 3), "name length"));
  OPDRIFT_TRY(const ByteSpan name, cursor.take(bytes, "link name"));
  if (kind != 0) {
    ++links.skipped;
    return Unit{};
  }
  OPDRIFT_TRY(const auto header, file.address(cursor, "object address"));
  links.members.push_back(Link{std::string(as_text(name)), header.value_or(file.bytes().size())});
  return Unit{};
}

/// Dense groups keep their links in a fractal heap, whose address stands here.
Status refuse_dense(const File& file, const Message& message) {
  ByteCursor cursor(message.data, message.offset);
  OPDRIFT_CHECK_OK(cursor.skip(1, "link info version"));
  OPDRIFT_TRY(const std::uint8_t flags, cursor.u8("link info flags"));
  OPDRIFT_CHECK_OK(cursor.skip((flags & 1) != 0 ? 8 : 0, "link info"));
  OPDRIFT_TRY(const auto heap, file.address(cursor, "fractal heap"));
  if (heap) {
    return Error{ErrorCode::unsupported,
                 "a group in the dense form of newer HDF5 libraries; rewrite the file with "
                 "h5repack --low=0 --high=0",
                 {},
                 message.offset};
  }
  return Unit{};
}

}  // namespace

Result<Links> read_links(const File& file, const std::vector<Message>& messages,
                         std::uint64_t& budget) {
  Links links;
  for (const Message& message : messages) {
    switch (message.type) {
      case MessageType::symbol_table:
        links.is_group = true;
        OPDRIFT_CHECK_OK(SymbolTable(file, budget, links).read(message));
        break;
      case MessageType::link_info:
        links.is_group = true;
        OPDRIFT_CHECK_OK(refuse_dense(file, message));
        break;
      case MessageType::link:
        links.is_group = true;
        OPDRIFT_CHECK_OK(spend(budget, message.offset));
        OPDRIFT_CHECK_OK(read_link(file, message, links));
        break;
      default: break;
    }
  }
  return links;
}

}  // namespace opdrift::io::hdf5
