#include "in_memory_file.hpp"
#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/io/ascend/debug.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/dump_manifest.hpp"
#include "opdrift/io/msprobe/call_stacks.hpp"
#include "opdrift/io/msprobe/xlsx_reader.hpp"
#include "opdrift/io/msprobe/yaml_tree.hpp"

namespace opdrift::fuzz {

namespace {

constexpr io::NamePattern kPatterns[] = {
    io::NamePattern::offline, io::NamePattern::standard,       io::NamePattern::quant,
    io::NamePattern::numpy,   io::NamePattern::standard_numpy, io::NamePattern::offline_numpy,
    io::NamePattern::dump,    io::NamePattern::debug,          io::NamePattern::plugin,
};

/// Groups of a match lie inside the name.
void check_names(std::string_view name) {
  for (const io::NamePattern pattern : kPatterns) {
    for (const auto& group : io::match_name(pattern, name).value_or(io::NameGroups{})) {
      OPDRIFT_CHECK(!group || (group->data() >= name.data() &&
                               group->data() + group->size() <= name.data() + name.size()));
    }
  }
  static_cast<void>(io::parse_dump_name(name));
  static_cast<void>(io::slice_mode_of(name));
  static_cast<void>(io::without_lxslice(name));
  static_cast<void>(io::clean_op_name(name, true));
  static_cast<void>(io::clean_op_name(name, false));
}

}  // namespace

/// What stands beside tensors: file names, tables, mappings, call stacks, records, manifests.
void side_files(ByteSpan bytes) {
  check_names(as_text(bytes));
  static_cast<void>(io::parse_csv(as_text(bytes)));
  static_cast<void>(io::parse_debug_record(bytes));
  const InMemoryFile file(bytes);
  const std::string path = file.path();
  if (path.empty()) {
    return;
  }
  static_cast<void>(io::read_yaml(path));
  static_cast<void>(io::read_call_stacks(path));
  static_cast<void>(io::read_call_parents(path));
  static_cast<void>(io::read_dump_manifest(path));
  static_cast<void>(io::read_xlsx(path, [](const io::XlsxRow&) { return Status(Unit{}); }));
}

}  // namespace opdrift::fuzz
