#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/diagnose/fixes/aipp.hpp"
#include "opdrift/diagnose/fixes/customize_dtypes.hpp"
#include "opdrift/diagnose/fixes/fusion_switch.hpp"
#include "opdrift/diagnose/fixes/keep_dtype.hpp"
#include "opdrift/diagnose/fixes/mix_list.hpp"
#include "opdrift/diagnose/fixes/op_precision.hpp"
#include "opdrift/graph/atc_options.hpp"

namespace opdrift::fuzz {

namespace {

namespace fixes = diagnose::fixes;

/// What was read and written is the same when it is read and written again.
template <typename Parse, typename Write>
void check_round_trip(std::string_view text, const Parse& parse, const Write& write) {
  const auto first = parse(text);
  if (!first) {
    return;
  }
  const std::string written = write(*first);
  const auto second = parse(written);
  OPDRIFT_CHECK(second.has_value());
  OPDRIFT_CHECK(write(*second) == written);
}

}  // namespace

/// Files of the compiler's options, and its command line.
void config_files(ByteSpan bytes) {
  const std::string_view text = as_text(bytes);
  check_round_trip(text, &fixes::parse_aipp, &fixes::write_aipp);
  check_round_trip(text, &fixes::parse_customize_dtypes, &fixes::write_customize_dtypes);
  check_round_trip(text, &fixes::parse_fusion_switch, &fixes::write_fusion_switch);
  check_round_trip(text, &fixes::parse_mix_list, &fixes::write_mix_list);
  check_round_trip(text, &fixes::parse_op_precision, &fixes::write_op_precision);
  const std::string kept = fixes::write_keep_dtype(fixes::parse_keep_dtype(text));
  OPDRIFT_CHECK(fixes::write_keep_dtype(fixes::parse_keep_dtype(kept)) == kept);
  if (const auto operators = fixes::parse_aipp(text); operators && !operators->empty()) {
    static_cast<void>(fixes::check_aipp(operators->front(), {}));
  }
  static_cast<void>(graph::parse_atc_command(text));
}

}  // namespace opdrift::fuzz
