#include <string>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/compare_compat.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/model_sides.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/cli/result_output.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/verdict/rejudge.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift compare npu_dump/ golden/ --graph model.onnx -o result/\n"
    "  opdrift compare npu/ golden/ --graph npu.json --graph model.onnx -o result/\n"
    "  opdrift compare npu/ golden/ --graph model.om --format csv,html -o result/\n"
    "  opdrift compare npu/ golden/ --graph model.onnx --format json | jq .summary\n"
    "  opdrift compare fp16/ fp32/ --rule cosine=0.999,rel_l2=0.02 --fail-on differ\n"
    "  opdrift compare npu_dump/ model.onnx --input x=x.npy -o result/\n"
    "  opdrift compare m.onnx m.onnx --target-options precision=fp16,optimize=all\n"
    "  opdrift compare a.npy b.npy --metrics cosine,rel_l2,ulp_max --plugin ./mine.so\n"
    "\nA side that is an .onnx file is run by ONNX Runtime, its dump kept below --output. Inputs\n"
    "that are not given are those that the other side's dump holds, else made up.\n"
    "\nWith the golden's model (given, or named by the manifest of an opdrift dump) every "
    "operator\n"
    "is judged by its own error: what it adds to the error of its inputs against what its\n"
    "precision explains (docs/verdict.md). No tolerance is needed. Without a model a tensor "
    "passes\n"
    "when its relative L2 error is within 32 unit roundoffs of the coarser dtype (at least 1e-3)\n"
    "and NaN and Inf stand in the same places.\n"
    "\nExit codes: 0 agree, 1 differ (see --fail-on), 2 trouble: nothing compared, a side\n"
    "unreadable, inputs of the two runs differ, interrupted (what was done is still written).\n";

struct Options {
  std::string target;
  std::string golden;
  std::vector<std::string> goldens;  ///< of --golden; the first one stands for a missing GOLDEN
  std::string baseline;
  std::vector<std::string> graphs;
  std::string target_weights;
  std::string rule;
  std::string assume;
  std::string only;
  std::string range;
  std::size_t jobs = 0;
  std::uint64_t max_elements = 0;
  std::string metrics;
  std::vector<std::string> plugins;
  bool profile = false;
  bool kl_divergence = false;
  bool no_explanations = false;
  bool compat = false;
  ModelSideOptions models;
  ResultOptions show;
};

void add_options(CLI::App& app, Options& options) {
  app.footer(kFooter);
  app.add_option("TARGET", options.target,
                 "dump of the suspected run: folder or file; or a model to run")
      ->required();
  app.add_option("GOLDEN", options.golden,
                 "dump of the trusted run: folder or file; or a model to run");
  app.add_option("--golden", options.goldens,
                 "the trusted run in place of GOLDEN, or a further run of it: several tell how far "
                 "apart fair runs are; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--baseline-precision", options.baseline,
                 "dump of a fair run in the target's precision: without a model a tensor passes "
                 "when it is about as near to the golden as this run is");
  app.add_option("-g,--graph", options.graphs,
                 "the target's compiled model (.om, json of atc --mode=1, ge_proto text), or the "
                 "golden's ONNX model; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--target-weights", options.target_weights,
                 "ONNX model with the weights that the target used, where they differ from the "
                 "golden's on purpose (quantised, pruned, tuned further)");
  app.add_option("--rule,--gate", options.rule,
                 "what decides: verdict[=LIMIT] (needs a model), or limits: cosine=X, rel_l2=X, "
                 "max_abs=X, max_rel=X, sqnr=DB, allclose[=RTOL:ATOL]");
  app.add_flag("--profile", options.profile,
               "keep error profiles, so that 'opdrift judge' can decide allclose");
  app.add_option("--assume", options.assume,
                 "what is known about the target's arithmetic instead of finding out: none, tf32, "
                 "bf16-products, half-accumulators, truncation, wider-inputs");
  app.add_flag("--no-explanations", options.no_explanations,
               "do not look for what would explain a wrong tensor");
  app.add_flag("--compat", options.compat,
               "write exactly the tables of the tool these dumps are made for (msprobe, msaccucmp) "
               "into --output, with its exit code");
  app.add_option("--select", options.only, "only operators whose name matches this expression");
  app.add_option("--range", options.range, "only these positions in execution order: FIRST:LAST");
  app.add_option("-j,--jobs", options.jobs, "threads; 0: one per processor")->capture_default_str();
  app.add_option("--max-elements", options.max_elements,
                 "compare only the first N elements of each tensor");
  app.add_flag("--kl", options.kl_divergence, "Kullback-Leibler divergence too (a second pass)");
  app.add_option("--metrics", options.metrics,
                 "metrics to show and write instead of the usual ones, by name: "
                 "cosine,rel_l2,ulp_99 or all; 'opdrift list metrics' shows them");
  app.add_option("--plugin", options.plugins,
                 "shared object with a metric of your own (C interface "
                 "opdrift/metrics/plugin.h); may be repeated")
      ->allow_extra_args(false);
  add_model_side_options(app, options.models);
  add_result_options(app, options.show);
}

Status read_range(const std::string& text, pipeline::CompareOptions& compare) {
  const auto ends = split(text, ':');
  const auto first = parse_u64(ends[0]);
  const auto last = ends.size() == 2 ? parse_u64(ends[1]) : std::nullopt;
  if (!first || !last || *first > *last) {
    return Error{ErrorCode::invalid_argument,
                 "--range '" + text + "': expected FIRST:LAST, for example 10:20"};
  }
  compare.first_order = *first;
  compare.last_order = *last;
  return Unit{};
}

Result<pipeline::CompareOptions> compare_options(const Options& options) {
  pipeline::CompareOptions compare;
  if (!options.rule.empty()) {
    OPDRIFT_TRY(const verdict::Rule rule, verdict::parse_rule(options.rule));
    compare.gates = rule.gates;
    compare.limit = rule.limit;
    compare.decided_by =
        rule.replay_budget ? pipeline::DecidedBy::verdict : pipeline::DecidedBy::gates;
  }
  if (!options.assume.empty()) {
    OPDRIFT_TRY(compare.assume, verdict::parse_assumptions(options.assume));
  }
  if (!options.range.empty()) {
    OPDRIFT_CHECK_OK(read_range(options.range, compare));
  }
  OPDRIFT_TRY(compare.metrics, pipeline::choose_metrics(options.metrics, options.plugins));
  compare.more_goldens = options.goldens;
  compare.baseline = options.baseline;
  compare.explain = !options.no_explanations;
  compare.graphs = options.graphs;
  compare.target_weights = options.target_weights;
  compare.only = options.only;
  compare.jobs = options.jobs;
  compare.max_elements = options.max_elements;
  compare.profile = options.profile;
  compare.kl_divergence = options.kl_divergence;
  compare.cancel = &interrupt_flag();
  return compare;
}

}  // namespace

int run_compare(std::span<const std::string> arguments) {
  CLI::App app("Compares two dumps operator by operator.", "opdrift compare");
  Options options;
  add_options(app, options);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  if (options.golden.empty() && !options.goldens.empty()) {
    options.golden = options.goldens.front();
    options.goldens.erase(options.goldens.begin());
  }
  if (options.golden.empty()) {
    return report_error({ErrorCode::invalid_argument,
                         "GOLDEN is required: the dump of the trusted run, or --golden"});
  }
  const auto fail_on = check_result_options(options.show);
  auto compare = compare_options(options);
  if (!fail_on || !compare) {
    return report_error(fail_on ? compare.error() : fail_on.error());
  }
  const auto sides = run_model_sides(options.target, options.golden, options.models,
                                     options.show.output, !options.show.quiet);
  if (!sides) {
    return report_error(sides.error());
  }
  if (options.compat) {
    return compare_as_reference(
        {sides->target(), sides->golden(), options.graphs, options.show.output, options.jobs});
  }
  add_model_of_sides(*sides, compare->graphs);
  Result<verdict::RunResult> result = Error{};
  {
    Progress progress("comparing", !options.show.quiet);
    compare->progress = [&](std::uint64_t done, std::uint64_t total, std::uint64_t bytes) {
      progress.update(done, total, bytes);
    };
    result = pipeline::compare_dumps(sides->target(), sides->golden(), *compare);
  }
  if (result) {
    sides->describe(*result);
  }
  return result ? show_result(*result, options.show, *fail_on) : report_error(result.error());
}

}  // namespace opdrift::cli
