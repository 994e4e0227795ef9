#include <algorithm>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/cli/result_output.hpp"
#include "opdrift/verdict/rejudge.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift judge result/result.json --rule cosine=0.99,max_rel=0.01\n"
    "  opdrift judge result/result.json --rule verdict=8 -o stricter/ --format junit\n"
    "  opdrift judge result/result.json --tolerances\n"
    "\nNo tensor is read: the result holds what every rule needs. Rules:\n"
    "  verdict[=LIMIT]  an operator's own error against its budget (4 unless told)\n"
    "  cosine=X, rel_l2=X, max_abs=X, max_rel=X, sqnr=DB, allclose[=RTOL:ATOL]\n"
    "                   limits, separated by commas; allclose needs a result made\n"
    "                   with --profile\n"
    "\nExit codes: 0 agree, 1 differ (see --fail-on), 2 trouble.\n";

struct Options {
  std::string result;
  std::string rule;
  bool tolerances = false;
  ResultOptions show;
};

/// The tightest limits with which the run would have passed, as --rule takes them.
std::string tolerance_lines(const verdict::RunResult& result) {
  const auto tolerances = verdict::smallest_tolerances(result);
  if (tolerances.empty()) {
    return "no limit would let this run pass: NaN or Inf stand in other places\n";
  }
  std::string text = "would pass with\n";
  for (const verdict::Tolerance& tolerance : tolerances) {
    std::string shown = "  " + tolerance.text();
    shown.resize(std::max<std::size_t>(shown.size(), 24), ' ');
    text += shown + "  needed by " + printable(result.tensors[tolerance.tensor].label()) + "\n";
  }
  return text;
}

}  // namespace

int run_judge(std::span<const std::string> arguments) {
  CLI::App app("Applies another rule to a result, without the tensors.", "opdrift judge");
  Options options;
  app.footer(kFooter);
  app.add_option("RESULT", options.result, "result.json of a comparison")->required();
  app.add_option("--rule", options.rule, "verdict[=LIMIT] or limits; as before when not given");
  app.add_flag("--tolerances", options.tolerances, "show the tightest limits that would pass");
  add_result_options(app, options.show);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto fail_on = check_result_options(options.show);
  if (!fail_on) {
    return report_error(fail_on.error());
  }
  if (options.tolerances && prints_format(options.show)) {
    return report_error({ErrorCode::invalid_argument,
                         "--tolerances come with the table; give --output beside --format"});
  }
  auto result = read_result(options.result);
  if (!result) {
    return report_error(result.error());
  }
  if (!options.rule.empty()) {
    const auto rule = verdict::parse_rule(options.rule);
    if (!rule) {
      return report_error(rule.error());
    }
    if (const Status judged = verdict::rejudge(*rule, *result); !judged) {
      return report_error(judged.error());
    }
  }
  const int code = show_result(*result, options.show, *fail_on);
  if (options.tolerances) {
    write_output(tolerance_lines(*result));
  }
  return code;
}

}  // namespace opdrift::cli
