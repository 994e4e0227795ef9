#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/describe.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/pipeline/stats/stats.hpp"
#include "opdrift/report/csv_text.hpp"

namespace opdrift::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift stats dump/\n"
    "  opdrift stats --format csv dump/ > stats.csv\n"
    "  opdrift stats weights.safetensors --format json\n"
    "\nMinimum, maximum, mean, rms and std are over the finite elements; NaN and Inf are counted\n"
    "apart. Exit code 2 when a tensor could not be read.\n";

std::string text_line(const pipeline::TensorStats& line) {
  std::string text = printable(line.label) + "  " + describe(line.desc);
  if (!line.stats) {
    return text + "  unreadable: " + printable(line.problem) + "\n";
  }
  const metrics::SideStats& stats = *line.stats;
  text += "  max " + brief(stats.max) + "  min " + brief(stats.min) + "  mean " +
          brief(stats.mean()) + "  std " + brief(stats.standard_deviation());
  const std::uint64_t inf = stats.classes.positive_inf + stats.classes.negative_inf;
  if (stats.classes.nan > 0) {
    text += "  NaN " + std::to_string(stats.classes.nan);
  }
  if (inf > 0) {
    text += "  Inf " + std::to_string(inf);
  }
  return text + "\n";
}

std::string csv_line(const pipeline::TensorStats& line) {
  std::string text = report::csv_text(line.label) + "," +
                     std::string(tensor::name_of(line.desc.dtype)) + "," +
                     tensor::to_string(line.desc.shape, "x");
  if (!line.stats) {
    return text + ",,,,,,,,,,,," + report::csv_text(line.problem) + "\n";
  }
  const metrics::SideStats& s = *line.stats;
  for (const double value : {s.min, s.max, s.mean(), s.rms(), s.standard_deviation()}) {
    text += "," + shortest(value);
  }
  for (const std::uint64_t count : {s.classes.nan, s.classes.positive_inf, s.classes.negative_inf,
                                    s.classes.zero, s.classes.subnormal, s.classes.saturated}) {
    text += "," + std::to_string(count);
  }
  return text + ",\n";
}

Json json_of(const pipeline::TensorStats& line) {
  Json json = to_json(line.desc);
  json["tensor"] = line.label;
  json["file"] = line.path;
  json["problem"] = line.problem;
  if (line.stats) {
    const metrics::SideStats& s = *line.stats;
    json["finite"] = s.finite;
    json["min"] = to_json(s.min);
    json["max"] = to_json(s.max);
    json["mean"] = to_json(s.mean());
    json["rms"] = to_json(s.rms());
    json["std"] = to_json(s.standard_deviation());
    json["nan"] = s.classes.nan;
    json["positive_inf"] = s.classes.positive_inf;
    json["negative_inf"] = s.classes.negative_inf;
    json["zero"] = s.classes.zero;
    json["subnormal"] = s.classes.subnormal;
    json["saturated"] = s.classes.saturated;
  }
  return json;
}

std::string render(const std::vector<pipeline::TensorStats>& lines, const std::string& format) {
  std::string text;
  if (format == "json") {
    Json tensors = Json::array();
    for (const pipeline::TensorStats& line : lines) {
      tensors.push_back(json_of(line));
    }
    const Json json = {{"schema", "opdrift-stats/1"}, {"tensors", std::move(tensors)}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  if (format == "csv") {
    text =
        "tensor,dtype,shape,min,max,mean,rms,std,nan,positive_inf,negative_inf,zero,subnormal,"
        "saturated,problem\n";
  }
  for (const pipeline::TensorStats& line : lines) {
    text += format == "csv" ? csv_line(line) : text_line(line);
  }
  return text;
}

std::vector<pipeline::TensorStats> collect(const pipeline::DumpIndex& index, std::size_t jobs) {
  Progress progress("reading", true);
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> bytes{0};
  return pipeline::measure_stats(index, jobs, &interrupt_flag(), [&](std::uint64_t size) {
    bytes += size;
    progress.update(++done, index.tensors.size(), bytes);
  });
}

}  // namespace

int run_stats(std::span<const std::string> arguments) {
  CLI::App app("Minimum, maximum, mean, NaN and Inf of every tensor.", "opdrift stats");
  app.footer(kFooter);
  std::string path;
  std::string format = "text";
  std::size_t jobs = 0;
  app.add_option("PATH", path, "dump file or folder")->required();
  app.add_option("-f,--format", format, "text, csv or json")
      ->check(CLI::IsMember({"text", "csv", "json"}));
  app.add_option("-j,--jobs", jobs, "threads; 0: one per processor")->capture_default_str();
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto index = pipeline::index_dump(path, verdict::RunSide::target, jobs);
  if (!index) {
    return report_error(index.error());
  }
  const bool readable = std::none_of(
      index->ledger.begin(), index->ledger.end(),
      [](const auto& entry) { return entry.state == verdict::LedgerState::unreadable; });
  if (index->tensors.empty() && readable) {
    return report_error(Error{ErrorCode::not_found, "expected a dump, found no tensor", path});
  }
  const std::vector<pipeline::TensorStats> lines = collect(*index, jobs);
  const bool written = write_output(render(lines, format));
  for (const verdict::LedgerEntry& entry : index->ledger) {
    if (entry.state == verdict::LedgerState::unreadable) {
      report_error(entry.path + ": " + entry.reason);
    }
  }
  const bool all_read = std::all_of(lines.begin(), lines.end(),
                                    [](const auto& line) { return line.stats.has_value(); });
  return written && all_read && !lines.empty() && !interrupt_flag().cancelled() ? kExitSame
                                                                                : kExitTrouble;
}

}  // namespace opdrift::cli
