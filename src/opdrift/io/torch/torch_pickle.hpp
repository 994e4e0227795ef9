#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/result.hpp"

/// The part of Python's pickle format (protocol 2) that a saved tensor consists of:
///
///   pickle  = 80 02 opcode* "."
///   data    = "N" | 88 | 89 | "J" i32 | "K" u8 | "M" u16 | 8a n[1] bytes[n] | "G" f64 (big-endian)
///           | "X" n u32 utf-8[n] | "U" n u8 bytes[n]
///   groups  = "(" mark | "t" tuple to mark | 85 86 87 tuple of 1, 2, 3 | ")" "]" "}" empty ones
///           | "a" append | "e" appends to mark | "s" set item | "u" set items to mark
///   memo    = "q" u8 | "r" u32 put | "h" u8 | "j" u32 get
///   objects = "c" module "\n" name "\n" | "R" call | "b" build | "Q" persistent id
///
/// Nothing is executed or looked up: a name stays a name and a call stays a callable beside its
/// arguments. Whether a call makes sense is for the reader of the tree to decide.
namespace opdrift::io {

/// One value of a pickle. Children are positions in PickleTree::nodes; one value may be the child
/// of several others, or of itself.
struct PickleNode {
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    global,         ///< `text` is "module name"
    tuple,          ///< children in order
    list,           ///< children in order
    dict,           ///< children: key, value, key, value ...
    call,           ///< children: callable, arguments, then keys and values set on the result
    persistent_id,  ///< one child
  };
  Kind kind = Kind::none;
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0.0;
  std::string_view text;  ///< into the pickled bytes
  std::vector<std::uint32_t> children;
};

struct PickleTree {
  std::vector<PickleNode> nodes;
  std::uint32_t root = 0;
  std::uint64_t consumed_bytes = 0;  ///< up to and including STOP

  const PickleNode& operator[](std::uint32_t position) const { return nodes[position]; }
};

/// More nodes than any tensor file has; what a hostile file may cost is bounded by this.
inline constexpr std::size_t kMaxPickleNodes = 1 << 20;

/// Reads one pickle from the front of `bytes`, which must outlive the tree. `base_offset` is added
/// to offsets in errors. Fails with `truncated`, `malformed`, `limit`, or `unsupported` naming the
/// opcode.
Result<PickleTree> read_pickle(ByteSpan bytes, std::uint64_t base_offset = 0);

/// What a node is, for error messages: "a list of 3", "the name posix system".
std::string describe(const PickleTree& tree, std::uint32_t position);

}  // namespace opdrift::io
