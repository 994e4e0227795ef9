#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/hdf5/file.hpp"

/// Members of a group, in one of three forms:
///
///   symbol table message = B-tree O, heap O
///     node  = "TREE" type u8, level u8, n u16, left O, right O, (key L, child O)*n, key L
///     leaf  = "SNOD" 01 u8 n u16, (name offset O, header O, kind u32, u32, u8*16)*n
///             kind 2 is a symbolic link
///     heap  = "HEAP" 00 u8*3, bytes L, free L, data O; names end in a zero byte
///   link messages (new style, few members)
///     link  = 01 flags u8, [kind u8], [order u64], [charset u8], n u8..u64, name[n], target
///             kind 0 hard: header O
///   link info message with a fractal heap (new style, many members): unsupported
///
/// Only hard links are followed: the others may lead out of the file.
namespace opdrift::io::hdf5 {

struct Link {
  std::string name;
  std::uint64_t address = 0;  ///< of the object header
};

/// What a group holds.
struct Links {
  bool is_group = false;  ///< false when the messages are those of something else
  std::vector<Link> members;
  std::uint64_t skipped = 0;  ///< symbolic and external links
};

/// Reads the members of the object with these messages. `budget` is lowered by one for every tree
/// node and member; fails with limit when it is used up, else with malformed, truncated or
/// unsupported.
Result<Links> read_links(const File& file, const std::vector<Message>& messages,
                         std::uint64_t& budget);

}  // namespace opdrift::io::hdf5
