#include "opdrift/cli/diagnose_options.hpp"

#include "opdrift/base/text.hpp"
#include "opdrift/cli/model_sides.hpp"
#include "opdrift/diagnose/flow/flow.hpp"

namespace opdrift::cli {

namespace {

namespace flow = diagnose::flow;

struct RoleOption {
  const char* role;
  const char* help;
};
constexpr RoleOption kRoles[] = {
    {"base", "dump of the run that is wrong"},
    {"golden", "dump of the reference, CPU or GPU"},
    {"high", "dump of the run in high precision"},
    {"nobuf", "dump of the run without buffer optimisation"},
    {"noreuse", "dump of the run without memory reuse"},
    {"nofuse", "dump of the run without fusion"},
    {"noaipp", "dump of the run without AIPP"},
    {"noquant", "dump of the run without quantisation"},
    {"framework", "outputs of the original framework"},
    {"repeat", "second dump of the base run: is it repeatable?"},
};

/// "NAME=VALUE" cut in two. Fails naming the option.
Result<std::pair<std::string, std::string>> pair_of(const char* option, const std::string& text) {
  const std::size_t cut = text.find('=');
  if (cut == std::string::npos || cut == 0) {
    return Error{ErrorCode::invalid_argument,
                 std::string(option) + ": expected NAME=VALUE, found '" + printable(text) + "'"};
  }
  return std::pair(text.substr(0, cut), text.substr(cut + 1));
}

void add_evidence_options(CLI::App& app, DiagnoseOptions& options) {
  auto& evidence = options.evidence;
  for (const RoleOption& role : kRoles) {
    app.add_option_function<std::string>(
           std::string("--") + role.role,
           [&evidence, name = std::string(role.role)](const std::string& folder) {
             evidence.dumps[name] = folder;
           },
           role.help)
        ->group("Evidence");
  }
  const auto add = [&](const char* name, auto& target, const char* help) {
    app.add_option(name, target, help)->group("Evidence");
  };
  add("--mixed", evidence.mixed, "dump of a round of the keep list; once per round, in order");
  add("--keep", evidence.keep, "keep_dtype file of the last round");
  add("--graph", options.graphs,
      "compiled model of the base run, or ROLE=FILE for that of another run");
  add("--model", evidence.model, "ONNX model of the golden");
  add("--weights", evidence.weights,
      "weights the ONNX model was exported from: npz, npy folder, safetensors or pt");
  add("--input-name", evidence.input_names,
      "name of an input of the original model; once per input");
  add("--command", evidence.command, "atc command of the base run, where the graph has none");
  add("--aipp", evidence.aipp, "AIPP file of the base run");
  add("--soc", evidence.device_soc, "chip the dumps were made on");
  add("--verdict", options.verdicts, "ROLE=pass or ROLE=fail, as the task's own metric says");
  add("--result", evidence.results,
      "finished comparison of base with golden, csv or json; or CANDIDATE.vs.REFERENCE=FILE");
  add("--online", evidence.online, "folder of input_* and output_* of the online run");
  add("--offline", evidence.offline, "the same of the offline run, on the same data");
  app.add_option("--facts", options.facts, "facts as JSON instead of all this (docs/diagnose.md)")
      ->group("Evidence");
}

void add_auto_options(CLI::App& app, DiagnoseOptions& options) {
  const auto add = [&](const char* name, auto& target, const char* help) {
    return app.add_option(name, target, help)->group("Experiments with ONNX Runtime");
  };
  auto& automatic = options.automatic;
  add("--auto", automatic.model, "ONNX model: make all runs here instead of asking for them");
  add("-i,--input", options.inputs, "NAME=FILE, or FILE for a single input; repeatable");
  add("--dim", options.dims, "NAME=N for an open extent; repeatable");
  add("--seed", automatic.inputs.seed, "seed of made-up inputs")->capture_default_str();
  add("--precision", options.precision, "of the run that is wrong: fp32, fp16 or bf16")
      ->capture_default_str();
  add("--optimize", options.optimize,
      "graph optimisation of that run: none, basic, extended or all")
      ->capture_default_str();
  add("--rule", options.rule,
      "what net outputs have to pass (as for judge), in place of the output limit");
  add("--max-rounds", automatic.max_rounds, "rounds of the keep list at most")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  add("--onnxruntime", automatic.library, "path of libonnxruntime.so");
  app.add_flag("--keep-dumps", automatic.keep_dumps, "leave the dumps in the output folder")
      ->group("Experiments with ONNX Runtime");
}

bool has_evidence(const diagnose::evidence::CollectOptions& options) {
  return !options.dumps.empty() || !options.mixed.empty() || !options.results.empty() ||
         !options.verdicts.empty() || !options.graph.empty() || !options.command.empty() ||
         !options.online.empty() || !options.weights.empty();
}

/// An option that says nothing without the model.
Status check_model_options(const diagnose::evidence::CollectOptions& options) {
  if (options.model.empty() && (!options.weights.empty() || !options.input_names.empty())) {
    return Error{ErrorCode::invalid_argument,
                 "--weights and --input-name are compared with an ONNX model: give --model"};
  }
  return Unit{};
}

}  // namespace

void add_diagnose_options(CLI::App& app, DiagnoseOptions& options) {
  add_evidence_options(app, options);
  add_auto_options(app, options);
  app.add_option("-o,--output", options.output,
                 "folder for the report and the files it refers to, made if missing");
  app.add_option("--step", options.step, "start at this step: C I X A P B F D or G")
      ->capture_default_str();
  app.add_option("--limit", options.limits,
                 "NAME=VALUE: output, difference or golden (cosines), flushed (a share), float16 "
                 "(largest value)");
  app.add_flag("--greedy", options.greedy,
               "keep list: every operator of a round with an error of its own, not only the "
               "first");
  app.add_flag("--strict", options.strict, "the high precision run is float32 throughout");
  app.add_flag("--json", options.json, "print the report as JSON");
  app.add_flag("-q,--quiet", options.quiet, "no progress");
  app.add_option("-j,--jobs", options.evidence.jobs, "threads; 0: one per processor")
      ->capture_default_str();
}

Result<flow::FlowOptions> flow_options(const DiagnoseOptions& options) {
  flow::FlowOptions made;
  made.greedy = options.greedy;
  made.strict = options.strict;
  if (options.step.size() != 1) {
    return Error{ErrorCode::invalid_argument, "--step: expected one letter"};
  }
  made.first_step = options.step[0];
  OPDRIFT_CHECK_OK(flow::check_first_step(made.first_step));
  for (const std::string& limit : options.limits) {
    OPDRIFT_TRY(const auto pair, pair_of("--limit", limit));
    const auto value = parse_double(pair.second);
    if (!value) {
      return Error{ErrorCode::invalid_argument,
                   "--limit: expected a number, found '" + printable(pair.second) + "'"};
    }
    OPDRIFT_CHECK_OK(flow::set_limit(made.limits, pair.first, *value));
  }
  return made;
}

Result<diagnose::evidence::CollectOptions> collect_options(const DiagnoseOptions& options) {
  diagnose::evidence::CollectOptions made = options.evidence;
  for (const std::string& verdict : options.verdicts) {
    OPDRIFT_TRY(auto pair, pair_of("--verdict", verdict));
    made.verdicts.push_back(std::move(pair));
  }
  for (const std::string& graph : options.graphs) {
    const std::size_t cut = graph.find('=');
    if (cut == std::string::npos) {
      made.graph = graph;
    } else {
      made.graphs[graph.substr(0, cut)] = graph.substr(cut + 1);
    }
  }
  OPDRIFT_CHECK_OK(check_model_options(made));
  if (!has_evidence(made)) {
    return Error{ErrorCode::invalid_argument,
                 "nothing to go by: give dumps (--base DIR --golden DIR), a result (--result), "
                 "verdicts or --facts"};
  }
  return made;
}

Result<diagnose::autorun::AutoOptions> auto_options(const DiagnoseOptions& options) {
  diagnose::autorun::AutoOptions made = options.automatic;
  OPDRIFT_TRY(made.flow, flow_options(options));
  if (options.output.empty()) {
    return Error{ErrorCode::invalid_argument, "--auto needs --output, a folder for its dumps"};
  }
  made.folder = options.output;
  OPDRIFT_CHECK_OK(read_input_words(options.inputs, options.dims, made.inputs));
  const auto precision = engine::precision_by_name(options.precision);
  const auto optimization = engine::optimization_by_name(options.optimize);
  if (!precision || !optimization) {
    return Error{ErrorCode::invalid_argument,
                 "--precision is fp32, fp16 or bf16, --optimize none, basic, extended or all"};
  }
  made.precision = *precision;
  made.optimization = *optimization;
  if (!options.rule.empty()) {
    OPDRIFT_TRY(made.rule, verdict::parse_gates(options.rule));
    made.rule_given = true;
  }
  return made;
}

}  // namespace opdrift::cli
