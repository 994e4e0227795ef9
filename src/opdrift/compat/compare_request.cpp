#include "opdrift/compat/compare_request.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::compat {

namespace {

constexpr std::array<std::string_view, 10> kAlgorithms = {
    "CosineSimilarity",          "MaxAbsoluteError",          "AccumulatedRelativeError",
    "RelativeEuclideanDistance", "KullbackLeiblerDivergence", "StandardDeviation",
    "MeanAbsoluteError",         "RootMeanSquareError",       "MaxRelativeError",
    "MeanRelativeError"};

constexpr long long kMaxTop = 10000;
constexpr long long kMinLines = 10000;
constexpr long long kMaxLines = 1000000;

Error refused(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

bool is_integer_word(std::string_view word) {
  if (!word.empty() && (word.front() == '-' || word.front() == '+')) {
    word.remove_prefix(1);
  }
  return is_digits(word);
}

OptionSpec path_option(std::string_view key, std::vector<std::string_view> flags,
                       std::string_view help, bool required = false) {
  return {.key = key,
          .flags = std::move(flags),
          .help = help,
          .required = required,
          .rule = ValueRule::safe_path};
}

OptionSpec flag_option(std::string_view key, std::vector<std::string_view> flags,
                       std::string_view help) {
  return {.key = key, .flags = std::move(flags), .help = help, .takes_value = false};
}

OptionSpec integer_option(std::string_view key, std::vector<std::string_view> flags,
                          std::string_view help, std::vector<std::string_view> choices = {}) {
  return {.key = key,
          .flags = std::move(flags),
          .help = help,
          .rule = ValueRule::integer,
          .choices = std::move(choices)};
}

Status check_selection(const Arguments& arguments) {
  const bool range = arguments.has("range");
  const bool select = arguments.has("select");
  if ((range || select) && arguments.text("fusion_rule_file").empty()) {
    return refused("expected -f together with -r or -s");
  }
  if ((range || select) && arguments.has("op_name")) {
    return refused("expected either -op, or -r or -s, found both");
  }
  if (range && select) {
    return refused("expected either -r or -s, found both");
  }
  if ((range && trim(arguments.text("range")).empty()) ||
      (select && trim(arguments.text("select")).empty())) {
    return refused("expected numbers behind -r or -s, found nothing");
  }
  if (arguments.integer("max_cmp_size", 0) < 0) {
    return refused("expected -max of 0 or more, found " + arguments.text("max_cmp_size"));
  }
  return Unit{};
}

Status check_mapping(const Arguments& arguments) {
  for (const char* key : {"op_name", "output_tensor", "input_tensor"}) {
    if (arguments.has(key)) {
      return refused("expected no option for a single operator together with -map");
    }
  }
  if (arguments.text("fusion_rule_file").empty() &&
      arguments.text("quant_fusion_rule_file").empty()) {
    return refused("expected -f or -q together with -map");
  }
  return Unit{};
}

Status check_single_operator(const Arguments& arguments) {
  if (arguments.has("op_name")) {
    return Unit{};
  }
  for (const char* key :
       {"output_tensor", "input_tensor", "topn", "max_line", "ignore_single_op_result"}) {
    if (arguments.has(key)) {
      return refused("expected -op together with -o, -i, -n, -ml or --ignore_single_op_result");
    }
  }
  return Unit{};
}

Result<std::uint32_t> tensor_number(const std::string& text) {
  const std::optional<std::uint64_t> number = is_digits(text) ? parse_u64(text) : std::nullopt;
  if (!number || *number > 0xFFFFFFFFU) {
    return refused("expected a natural number as tensor index, found \"" + printable(text) + "\"");
  }
  return static_cast<std::uint32_t>(*number);
}

Status read_single_operator(const Arguments& arguments, CompareRequest& request) {
  request.op_name = arguments.text("op_name");
  if (!arguments.has("op_name")) {
    return Unit{};
  }
  request.output_tensor = !arguments.has("input_tensor");
  const std::string tensor =
      arguments.text(request.output_tensor ? "output_tensor" : "input_tensor", "0");
  OPDRIFT_TRY(request.tensor, tensor_number(tensor));
  const long long top = arguments.integer("topn", static_cast<long long>(request.top));
  if (top < 1 || top > kMaxTop) {
    return Error{ErrorCode::out_of_range, "expected -n from 1 to " + std::to_string(kMaxTop) +
                                              ", found " + arguments.text("topn")};
  }
  const long long lines = arguments.integer("max_line", kMaxLines);
  if (lines < kMinLines || lines > kMaxLines) {
    return refused("expected -ml from " + std::to_string(kMinLines) + " to " +
                   std::to_string(kMaxLines) + ", found " + arguments.text("max_line"));
  }
  request.top = static_cast<std::uint64_t>(top);
  request.max_lines = static_cast<std::uint64_t>(lines);
  request.listing = !arguments.has("ignore_single_op_result");
  return Unit{};
}

void read_switches(const Arguments& arguments, CompareRequest& request, ReferenceLog& log) {
  request.mapping = arguments.has("mapping");
  request.overflow = arguments.has("overflow_detection");
  request.advisor = arguments.has("advisor");
  request.ffts = arguments.has("ffts");
  if (request.advisor && (request.partial() || !request.op_name.empty())) {
    log.warning("-advisor has no effect together with -r, -s or -op");
    request.advisor = false;
  }
  request.overflow = request.overflow || request.advisor;
  request.version = arguments.integer("version", 2);
  if (request.version == 1) {
    log.warning("version 1 is read like version 2");
  }
  if (arguments.has("post_process")) {
    request.post_process = arguments.integer("post_process", 0);
  }
}

}  // namespace

std::span<const std::string_view> reference_algorithms() {
  return kAlgorithms;
}

CommandSpec compare_command() {
  CommandSpec command;
  command.program = "msaccucmp compare";
  command.summary = "Compare the dumps of two runs of a network, one operator, or two files.";
  command.options = {
      path_option("my_dump_path", {"-m", "--my_dump_path"}, "dump folder or file to judge", true),
      path_option("golden_dump_path", {"-g", "--golden_dump_path"}, "dump folder or file to trust",
                  true),
      path_option("fusion_rule_file", {"-f", "--fusion_rule_file"},
                  "graph json (or .om) of the model of -m; a folder of them compares many models"),
      path_option("quant_fusion_rule_file", {"-q", "--quant_fusion_rule_file"},
                  "graph json (or .om) of the quantised original"),
      path_option("close_fusion_rule_file", {"-cf", "--close_fusion_rule_file"},
                  "graph json (or .om) of the model built with fusion switched off"),
      path_option("output", {"-out", "--output"}, "folder of the results"),
      path_option("custom_script_path", {"-c", "--custom_script_path"}, "folder of plug-ins"),
      {.key = "algorithm_options",
       .flags = {"-a", "--algorithm_options"},
       .help = "name:key=value,key=value;name2:..."},
      {.key = "algorithm",
       .flags = {"-alg", "--algorithm"},
       .help = "all, or numbers and names of algorithms"},
      flag_option("mapping", {"-map", "--mapping"}, "write which dumps belong together, only"),
      flag_option("overflow_detection", {"-overflow_detection"}, "add the column OverFlow"),
      {.key = "range", .flags = {"-r", "--range"}, .help = "start,end,step of operator ids"},
      {.key = "select", .flags = {"-s", "--select"}, .help = "operator ids"},
      integer_option("post_process", {"-p", "--post_process"}, "PyTorch: extract the bad rows",
                     {"0", "1"}),
      integer_option("max_cmp_size", {"-max", "--max_cmp_size"},
                     "compare the first elements of each tensor only"),
      flag_option("advisor", {"-advisor"}, "judge the result"),
      integer_option("version", {"-v", "--version"}, "version of the dump files; both read alike",
                     {"1", "2"}),
      {.key = "op_name", .flags = {"-op", "--op_name"}, .help = "list one operator in detail"},
      {.key = "output_tensor",
       .flags = {"-o", "--output_tensor"},
       .help = "with -op: index of the output",
       .exclusive_group = 1},
      {.key = "input_tensor",
       .flags = {"-i", "--input_tensor"},
       .help = "with -op: index of the input",
       .exclusive_group = 1},
      flag_option("ignore_single_op_result", {"--ignore_single_op_result"},
                  "with -op: no listing of all elements"),
      integer_option("topn", {"-n", "--topn"}, "with -op: length of the lists of worst elements"),
      integer_option("max_line", {"-ml", "--max_line"}, "with -op: lines per file of the listing"),
      flag_option("ffts", {"-ffts"}, "take sliced operators one by one"),
      flag_option("compat", {"--compat"}, "accepted: the tables are the reference's in any case"),
  };
  return command;
}

std::vector<std::string> join_algorithm_numbers(std::span<const std::string> args) {
  std::vector<std::string> joined;
  for (std::size_t i = 0; i < args.size(); ++i) {
    joined.push_back(args[i]);
    const bool is_option = args[i] == "-alg" || args[i] == "--algorithm";
    const bool many = is_option && i + 2 < args.size() && args[i + 2].size() == 1 &&
                      is_digits(args[i + 2]) && is_integer_word(args[i + 1]);
    if (!many) {
      continue;
    }
    std::string numbers;
    while (i + 1 < args.size() && is_integer_word(args[i + 1])) {
      numbers += (numbers.empty() ? "" : ",") + args[++i];
    }
    joined.push_back(numbers);
  }
  return joined;
}

Result<std::vector<std::string>> choose_algorithms(const std::string& text, ReferenceLog& log) {
  if (trim(text).empty()) {
    return refused("expected algorithms, found nothing");
  }
  if (to_lower(trim(text)) == "all") {
    return std::vector<std::string>(kAlgorithms.begin(), kAlgorithms.end());
  }
  std::vector<std::string> chosen;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view entry = trim(part);
    std::string_view name = entry;
    if (is_digits(entry)) {
      const std::uint64_t number = parse_u64(entry).value_or(kAlgorithms.size());
      name = number < kAlgorithms.size() ? kAlgorithms[static_cast<std::size_t>(number)] : "";
    }
    if (std::find(kAlgorithms.begin(), kAlgorithms.end(), name) == kAlgorithms.end()) {
      log.warning("algorithm \"" + std::string(entry) + "\" is not known and left out");
      continue;
    }
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) {
      chosen.emplace_back(name);
    }
  }
  if (chosen.empty()) {
    return Error{ErrorCode::unsupported, "expected a known algorithm, found \"" + text + "\""};
  }
  return chosen;
}

Status check_algorithm_options(const std::string& text) {
  if (text.empty()) {
    return Unit{};
  }
  for (const std::string_view algorithm : split(text, ';')) {
    const std::size_t colon = algorithm.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return refused("expected name:key=value in -a, found \"" + printable(algorithm) + "\"");
    }
    for (const std::string_view setting : split(algorithm.substr(colon + 1), ',')) {
      const std::size_t equals = setting.find('=');
      if (equals == std::string_view::npos || equals == 0) {
        return refused("expected key=value in -a, found \"" + printable(setting) + "\"");
      }
    }
  }
  return Unit{};
}

Result<CompareRequest> read_compare_request(const Arguments& arguments, ReferenceLog& log) {
  OPDRIFT_CHECK_OK(check_selection(arguments));
  OPDRIFT_CHECK_OK(arguments.has("mapping") ? check_mapping(arguments)
                                            : check_single_operator(arguments));
  CompareRequest request;
  request.target = arguments.text("my_dump_path");
  request.golden = arguments.text("golden_dump_path");
  request.graph = arguments.text("fusion_rule_file");
  request.quantised = arguments.text("quant_fusion_rule_file");
  request.close_fusion = arguments.text("close_fusion_rule_file");
  request.output = arguments.text("output");
  request.custom_folder = arguments.text("custom_script_path");
  request.range = arguments.text("range");
  request.select = arguments.text("select");
  request.max_elements = static_cast<std::uint64_t>(arguments.integer("max_cmp_size", 0));
  OPDRIFT_CHECK_OK(read_single_operator(arguments, request));
  read_switches(arguments, request, log);
  OPDRIFT_CHECK_OK(check_algorithm_options(arguments.text("algorithm_options")));
  OPDRIFT_TRY(request.algorithms, choose_algorithms(arguments.text("algorithm", "all"), log));
  return request;
}

}  // namespace opdrift::compat
