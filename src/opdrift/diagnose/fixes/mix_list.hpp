#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"

/// The file of `--modify_mixlist`, for the mixed precision modes (strict JSON, Ascend IR types):
///
///   { "black-list": { "to-add": [TYPE…], "to-remove": [TYPE…] },
///     "white-list": { "to-add": [TYPE…], "to-remove": [TYPE…] } }
///
/// Types on the black list never get the lower precision, those on the white list do, the others
/// follow the operator before them. Adding to one list takes away from the other.
namespace opdrift::diagnose::fixes {

struct MixListChange {
  std::vector<std::string> to_add;
  std::vector<std::string> to_remove;

  bool empty() const { return to_add.empty() && to_remove.empty(); }
};

struct MixList {
  MixListChange black;
  MixListChange white;
};

/// Only the parts that are not empty are written.
std::string write_mix_list(const MixList& list);

/// Fails with bad_json.
Result<MixList> parse_mix_list(std::string_view text);

}  // namespace opdrift::diagnose::fixes
