#include <algorithm>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/convert_watch.hpp"
#include "opdrift/cli/describe.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/pipeline/convert/export.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift convert npu_dump/ -o npy/\n"
    "  opdrift convert Conv2D.conv1.2.7.1700000000004000 -o out/ -t txt -l NCHW\n"
    "  opdrift convert npu_dump/ -o out/ --to npz --select 'layer1/.*'\n"
    "  opdrift convert npu_dump/ -o out/ --to stats\n"
    "  opdrift convert weights/ -o out/ -l FRACTAL_NZ --layout-plugin ./to_nz.so\n"
    "  opdrift convert npu_dump/ --to stats --watch --delete-source\n"
    "\n--watch follows a dump while it is written: every finished file gets its statistics beside\n"
    "it (FILE.stats.json) or below --output. --delete-source removes a file once its record is\n"
    "safely on the disk. Ctrl-C ends; a run that was killed is taken up where it stopped.\n"
    "\n--layout-plugin loads a conversion between two layouts of your own from a shared object (C\n"
    "interface opdrift/tensor/layout_plugin.h); it goes before the built-in one.\n"
    "\nEvery written tensor is one line: file, type, max and min. Exit code 2 when a tensor could\n"
    "not be converted; the others are written all the same.\n";

constexpr double kLongestWait = 31.0e6;  // a year, in seconds

std::string line_of(const pipeline::ExportedTensor& tensor) {
  std::string text =
      printable(tensor.path.empty() ? tensor.label : tensor.path) + "  " + describe(tensor.desc);
  if (tensor.stats) {
    text += "  max " + brief(tensor.stats->max) + "  min " + brief(tensor.stats->min);
  }
  if (!tensor.problem.empty()) {
    text += (tensor.path.empty() ? "  failed: " : "  note: ") + printable(tensor.problem);
  }
  return text + "\n";
}

Result<pipeline::ExportOptions> export_options(const std::string& type, const std::string& layout,
                                               const std::string& shape,
                                               const std::vector<std::string>& plugins) {
  pipeline::ExportOptions options;
  const auto known_type = pipeline::export_type_by_name(type);
  if (!known_type) {
    return Error{ErrorCode::invalid_argument,
                 "--to '" + type + "': expected npy, npz, bin, txt, pt, dump or stats"};
  }
  options.type = *known_type;
  if (!layout.empty()) {
    options.format = tensor::format_by_name(layout);
    if (!options.format) {
      return Error{ErrorCode::invalid_argument,
                   "--layout '" + layout + "': expected a format such as NCHW, NHWC or ND"};
    }
  }
  if (!options.format && !(plugins.empty() && shape.empty())) {
    return Error{ErrorCode::invalid_argument, "--shape and --layout-plugin go with --layout"};
  }
  for (const std::string& plugin : plugins) {
    OPDRIFT_TRY(tensor::LayoutPlugin loaded, tensor::LayoutPlugin::load(plugin));
    options.layout_plugins.push_back(std::move(loaded));
  }
  for (const std::string_view part :
       shape.empty() ? std::vector<std::string_view>{} : split(shape, ',')) {
    const auto extent = parse_u64(part);
    if (!extent || *extent == 0) {
      return Error{ErrorCode::invalid_argument,
                   "--shape '" + shape + "': expected positive numbers, for example 1,3,224,224"};
    }
    options.shape.push_back(*extent);
  }
  return options;
}

}  // namespace

int run_convert(std::span<const std::string> arguments) {
  CLI::App app("Turns dumps of any format into files other tools read.", "opdrift convert");
  app.footer(kFooter);
  std::string path;
  std::string type = "npy";
  std::string layout;
  std::string shape;
  std::vector<std::string> plugins;
  std::string output = ".";
  std::string only;
  std::size_t jobs = 0;
  app.add_option("PATH", path, "dump file or folder")->required();
  app.add_option("-o,--output", output, "folder for the files, made if missing")
      ->capture_default_str();
  app.add_option("-t,--to", type, "npy, npz, bin, txt, pt, dump or stats")->capture_default_str();
  app.add_option("-l,--layout", layout, "bring every tensor into this format: NCHW, NHWC, ND ...");
  app.add_option("-s,--shape", shape, "with --layout: logical shape, instead of the original one");
  app.add_option("--layout-plugin", plugins,
                 "with --layout: shared object with a conversion of your own; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--select", only, "only operators whose name matches this expression");
  app.add_option("-j,--jobs", jobs, "threads; 0: one per processor")->capture_default_str();
  WatchRequest watch;
  bool follow = false;
  auto* const watching =
      app.add_flag("--watch", follow, "with --to stats: follow a dump while it is written");
  app.add_flag("--delete-source", watch.delete_source, "remove files whose record is on the disk")
      ->needs(watching);
  app.add_option("--settle", watch.settle_s, "seconds without a change that finish a file")
      ->check(CLI::Range(0.0, kLongestWait))
      ->check(a_number())
      ->capture_default_str()
      ->needs(watching);
  app.add_option("--idle", watch.idle_s, "end after so many seconds without news; 0: never")
      ->check(CLI::Range(0.0, kLongestWait))
      ->check(a_number())
      ->capture_default_str()
      ->needs(watching);
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  auto options = export_options(type, layout, shape, plugins);
  if (!options) {
    return report_error(options.error());
  }
  if (follow) {
    if (options->type != pipeline::ExportType::stats) {
      return report_error("--watch makes statistics: give --to stats");
    }
    watch.folder = path;
    watch.output = app.count("--output") > 0 ? output : "";
    return watch_folder(watch);
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
  options->output_folder = output;
  options->only = only;
  options->jobs = jobs;
  options->cancel = &interrupt_flag();
  Result<std::vector<pipeline::ExportedTensor>> lines = Error{};
  {
    Progress progress("converting", true);
    options->progress = [&](std::uint64_t done, std::uint64_t total, std::uint64_t bytes) {
      progress.update(done, total, bytes);
    };
    lines = pipeline::export_dump(*index, *options);
  }
  if (!lines) {
    return report_error(lines.error());
  }
  std::string text;
  for (const pipeline::ExportedTensor& line : *lines) {
    text += line_of(line);
  }
  for (const verdict::LedgerEntry& entry : index->ledger) {
    if (entry.state == verdict::LedgerState::unreadable) {
      report_error(entry.path + ": " + entry.reason);
    }
  }
  const bool all = std::all_of(lines->begin(), lines->end(),
                               [](const auto& line) { return !line.path.empty(); });
  return write_output(text) && all && !lines->empty() ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
