#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/offline/compare_run.hpp"
#include "opdrift/diagnose/offline/custom_ops.hpp"
#include "opdrift/diagnose/offline/shape_range.hpp"

namespace opdrift::diagnose::offline {

namespace {

constexpr std::uint64_t kMaxDevice = 255;

/// Options of which only some go together.
Done check_combinations(const CompareOptions& options) {
  if (!options.dump && (options.convert || !options.custom_op.empty())) {
    return failed(Number::bad_combination,
                  "--convert and --custom-op need all dumps; leave --dump out");
  }
  if (!options.dump && options.localise) {
    return failed(Number::bad_combination, "--locat needs all dumps; leave --dump out");
  }
  if (options.single_op && (!options.dump || !options.custom_op.empty() || options.localise)) {
    return failed(Number::bad_parameter,
                  "--single-op does not go together with --dump False, --custom-op or --locat");
  }
  const int paths = (options.target_path.empty() ? 0 : 1) + (options.golden_path.empty() ? 0 : 1) +
                    (options.rule.empty() ? 0 : 1);
  if (paths != 0 && paths != 3) {
    return failed(Number::bad_parameter,
                  "expected --my-path, --golden-path and --ops-json "
                  "together, or none of them");
  }
  if (paths == 3 && (options.localise || options.single_op)) {
    return failed(Number::bad_parameter,
                  "--locat and --single-op need the golden model; give -gm and -om");
  }
  return Unit{};
}

Done check_values(const CompareOptions& options) {
  const auto device = parse_u64(options.device);
  if (!device || *device > kMaxDevice) {
    return failed(Number::bad_device,
                  "--device '" + printable(options.device) + "': expected 0 to 255");
  }
  if (options.max_elements < 0) {
    return failed(Number::bad_parameter, "--max-cmp-size: expected 0 or more");
  }
  if (!options.fusion_switch.empty() && !options.fusion_switch.ends_with(".cfg")) {
    return failed(Number::bad_parameter, "--fusion-switch-file: expected a file ending in .cfg",
                  options.fusion_switch);
  }
  OPDRIFT_TRY([[maybe_unused]] const auto custom, parse_custom_ops(options.custom_op));
  if (!options.input_shape.empty()) {
    OPDRIFT_TRY([[maybe_unused]] const auto shapes, parse_shapes(options.input_shape));
  }
  if (!options.shape_range.empty()) {
    OPDRIFT_TRY([[maybe_unused]] const auto shapes,
                numbered(Number::bad_parameter, expand_ranges(options.shape_range)));
  }
  return Unit{};
}

}  // namespace

Done check_options(const CompareOptions& options) {
  OPDRIFT_CHECK_OK(check_combinations(options));
  return check_values(options);
}

}  // namespace opdrift::diagnose::offline
