#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opdrift::match {

/// What pairing by name knows of one tensor of one side.
struct NamedTensor {
  std::string operator_name;
  std::string tensor_name;  ///< value name of the framework; "" when unknown
  std::string step;         ///< sub-folder or step; tensors pair only within matching steps
  bool output = true;
  std::uint32_t index = 0;
};

/// The rule that made a pair, strongest first.
enum class NameRule : std::uint8_t {
  tensor_name,      ///< equal value names
  operator_name,    ///< equal operator name, role and index
  normalised_name,  ///< equal after mapping `/ . : \` and blanks to `_` and ignoring case
  base_name,        ///< equal last component of the operator name, unique on both sides
};

const char* to_string(NameRule rule);

struct NamePair {
  std::size_t golden = 0;  ///< position in the golden list
  std::size_t target = 0;
  NameRule rule = NameRule::operator_name;
};

enum class UnpairedReason : std::uint8_t {
  no_counterpart,  ///< no tensor of that name on the other side
  duplicate,       ///< the name occurs again on this side; the first one was paired
  ambiguous,       ///< several candidates by a weak rule, so none was taken
};

const char* to_string(UnpairedReason reason);

struct Unpaired {
  std::size_t position = 0;
  UnpairedReason reason = UnpairedReason::no_counterpart;
};

struct NameMatch {
  std::vector<NamePair> pairs;  ///< in target order
  std::vector<Unpaired> unpaired_golden;
  std::vector<Unpaired> unpaired_target;
};

/// Pairs two lists one to one. Each rule runs over what stronger rules left over; a rule never
/// takes a name that is not unique on both sides, except that equal names in equal numbers pair in
/// order.
NameMatch match_names(const std::vector<NamedTensor>& golden,
                      const std::vector<NamedTensor>& target);

/// The name as the third rule sees it.
std::string normalise(std::string_view name);

}  // namespace opdrift::match
