#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opdrift/graph/api_run.hpp"

/// Which leaf of a golden run belongs to which leaf of a target run.
///
///   default   equal names; the call number of a backward call counts as its place among the
///             backward calls of the same prefix, because recomputation shifts the numbers
///   mapped    the target's name is translated first (data, cell, api, layer mapping)
///   fuzzy     equal names without call numbers, both sides walked in step
///
/// A pair whose element types differ is kept apart, unless both are floats of one framework, both
/// reduce to one kind (cross-framework), or the pairs were given name by name.
namespace opdrift::match {

inline constexpr std::uint32_t kNoLeaf = 0xFFFFFFFF;

/// Why a target leaf has no golden.
enum class ApiUnmatched : std::uint8_t { no, name, dtype };

struct ApiPair {
  std::uint32_t target = 0;        ///< position in the target's leaves
  std::uint32_t golden = kNoLeaf;  ///< kNoLeaf when unmatched
  ApiUnmatched unmatched = ApiUnmatched::no;
};

struct ApiMatch {
  std::vector<ApiPair> pairs;              ///< target order; repeated names pair each with each
  std::vector<std::uint32_t> golden_only;  ///< leaves no target leaf asked for
};

/// The golden name a target name stands for; nothing when it must stay unmatched.
using NameTranslation = std::function<std::optional<std::string>(std::string_view)>;

struct ApiMatchOptions {
  bool fuzzy = false;
  bool debug = false;            ///< debug.json: names are not renumbered
  bool cross_framework = false;  ///< types are compared by kind
  bool check_dtypes = true;
  NameTranslation translate;  ///< set for mapped matching
  std::size_t jobs = 0;       ///< threads; the result does not depend on it
};

ApiMatch match_api_runs(const graph::ApiRun& target, const graph::ApiRun& golden,
                        const ApiMatchOptions& options);

/// A name without its call number, as fuzzy matching sees it.
std::string fuzzy_name(std::string_view name);

/// True when values of these types may be compared.
bool comparable_dtypes(std::string_view target, std::string_view golden, bool cross_framework);

/// Names as keys: what default matching compares. Renumbered names are kept in the object.
class ApiKeys {
 public:
  ApiKeys(const graph::ApiRun& run, bool renumber_backward);
  std::string_view operator[](std::uint32_t leaf) const { return keys_[leaf]; }

 private:
  graph::TextArena arena_;
  std::vector<std::string_view> keys_;
};

}  // namespace opdrift::match
