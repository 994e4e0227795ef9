#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/text_arena.hpp"

/// The two files beside dump.json:
///
///   stack.json     = {name: [line]}                          old form
///                  | {number: [[name], [line]]}              new form: has a key "0"
///   line           = "File " path ", line " n ", in " function ", \n " code
///   construct.json = {name: null | parent | [parent, step]}, "megatron_micro_step_number" aside
namespace opdrift::io {

/// Where each call was made from. Calls may share one stack.
struct CallStacks {
  std::vector<std::vector<std::string_view>> stacks;  ///< lines
  std::unordered_map<std::string_view, std::uint32_t> of_call;
  graph::TextArena arena;
  std::shared_ptr<const void> owner;

  /// Lines of a call; nullptr when nothing was recorded.
  const std::vector<std::string_view>* find(std::string_view call) const;
};

/// The module each call ran in.
struct CallParents {
  std::unordered_map<std::string_view, std::string_view> parent_of;  ///< "" for null
  graph::TextArena arena;
  std::shared_ptr<const void> owner;
};

/// Fail with bad_json, or `malformed` when a line could run in a spreadsheet.
Result<CallStacks> read_call_stacks(const std::string& path);
Result<CallParents> read_call_parents(const std::string& path);

}  // namespace opdrift::io
