#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/io/msprobe/api_run_reader.hpp"
#include "opdrift/io/msprobe/json_stream.hpp"

namespace opdrift::fuzz {

namespace {

/// Takes everything and keeps nothing.
class Sink : public io::JsonVisitor {
 public:
  bool expands(std::string_view key) override { return key == "data"; }
  Status member(std::string_view, std::string_view, const io::JsonTree&) override {
    ++members;
    return Unit{};
  }
  Status not_an_object(std::string_view key) override {
    return Error{ErrorCode::bad_json, "expected an object under " + std::string(key)};
  }
  std::size_t members = 0;
};

/// Files above 4 GiB are split by another reader; what it accepts must be what the index accepts.
void split_as_large(ByteSpan bytes) {
  graph::TextArena arena;
  Sink whole;
  Sink split;
  const io::JsonFile file = io::json_from(as_text(bytes));
  const bool indexed = io::stream_json(file, arena, whole).has_value();
  const bool accepted =
      bytes.empty() ? indexed : io::stream_json(file, arena, split, 0).has_value();
  OPDRIFT_CHECK(indexed == accepted);
  OPDRIFT_CHECK(!indexed || bytes.empty() || whole.members == split.members);
}

}  // namespace

void dump_json(ByteSpan bytes) {
  split_as_large(bytes);
  for (const bool debug : {false, true}) {
    const auto run = io::parse_api_run(io::json_from(as_text(bytes)), "fuzz", {.debug = debug});
    if (!run) {
      continue;
    }
    for (const graph::ApiLeaf& leaf : run->leaves) {
      OPDRIFT_CHECK(leaf.entry < run->entries.size() && leaf.dtype < run->dtypes.size());
    }
  }
}

}  // namespace opdrift::fuzz
