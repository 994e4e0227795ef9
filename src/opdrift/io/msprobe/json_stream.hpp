#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/graph/text_arena.hpp"
#include "opdrift/io/msprobe/json_tree.hpp"

/// Large JSON files, one member at a time.
///
///   file   = "{" (key ":" value ",")* "}"       UTF-8, of any size
///   value  = JSON, and also NaN, Infinity, -Infinity as Python writes them
///
/// The file is mapped and indexed once; only one member exists as a tree at any moment. The index
/// holds 32-bit positions, so the members of a file above 4 GiB are first told apart by their
/// brackets and texts, and indexed one by one; a single member may not be larger than that. Nesting
/// beyond 512 levels is refused.
namespace opdrift::io {

/// Receives the members of the top-level object in file order, repeated keys as often as they
/// occur.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;

  /// True when the object under this top-level key shall be delivered member by member.
  virtual bool expands(std::string_view key) = 0;
  /// A top-level member, or (`section` not empty) a member of an expanded one. The tree is valid
  /// during the call; texts without escapes point into the file and live as long as it.
  virtual Status member(std::string_view section, std::string_view key, const JsonTree& value) = 0;
  /// The value of an expanded key is not an object.
  virtual Status not_an_object(std::string_view key) = 0;
};

/// What texts handed out by stream_json point into.
struct JsonFile {
  Bytes bytes;  ///< followed by at least 64 readable bytes
};

/// Maps a file so that it can be streamed; copied only when its last page leaves no room behind it.
Result<JsonFile> open_json(const std::string& path);

/// The same for text that is already there, which is copied.
JsonFile json_from(std::string_view text);

/// From this size on the members of a file are indexed one by one.
inline constexpr std::uint64_t kLargestIndexedJson = 0xFFFFFF00;

/// Streams a file. Texts with escapes are kept in `arena`. Fails with bad_json and the offset, with
/// limit, or with what the visitor returns.
Status stream_json(const JsonFile& file, graph::TextArena& arena, JsonVisitor& visitor,
                   std::uint64_t largest_indexed = kLargestIndexedJson);

}  // namespace opdrift::io
