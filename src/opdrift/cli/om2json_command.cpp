#include <cstdio>
#include <string>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/graph/om/model_json.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/model_file.hpp"

namespace opdrift::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  opdrift om2json model.om -o model.json\n"
    "  opdrift om2json model.om | jq '.graph[0].op | length'\n"
    "  opdrift om2json ge_proto_00000042_Build.txt -o graph.json\n"
    "  opdrift om2json bundle.om --model part_a -o part_a.json\n"
    "\nThe JSON is that of 'atc --mode=1' (of --mode=5 for text graphs), with the attributes of "
    "an\n"
    "operator sorted by name. Other commands take the .om itself: --graph model.om.\n"
    "\nOf a file with several models the first is written, which carries the whole network; of a\n"
    "bundle the one that --model names. --salvage writes what a cut file still holds; exit code 2\n"
    "then says that something is missing.\n";

Status write_to(const std::string& output, const graph::ModelDef& model) {
  if (output.empty()) {
    return graph::write_model_json(model, [](std::string_view piece) -> Status {
      write_output(piece);  // whether it was written is looked at in the end
      return Unit{};
    });
  }
  OPDRIFT_TRY(io::FileWriter writer, io::FileWriter::create(output));
  OPDRIFT_CHECK_OK(graph::write_model_json(
      model, [&writer](std::string_view piece) { return writer.write(piece); }));
  return writer.commit();
}

}  // namespace

int run_om2json(std::span<const std::string> arguments) {
  CLI::App app("Writes the graph JSON of an offline model or of a GE text graph.",
               "opdrift om2json");
  app.footer(kFooter);
  std::string path;
  std::string output;
  graph::GraphFileOptions options;
  app.add_option("MODEL", path, "offline model (.om, om2) or text graph (ge_proto_*.txt)")
      ->required();
  app.add_option("-o,--output", output, "file to write; standard output when not given");
  app.add_option("--model", options.model, "name or number of the model, of a file with several");
  app.add_flag("--salvage", options.salvage, "write what is left of a damaged file");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const auto file = io::open_model_file(path, options);
  if (!file) {
    return report_error(file.error());
  }
  const Status written = write_to(output, file->model);
  if (!written) {
    return report_error(written.error());
  }
  for (const std::string& warning : file->warnings()) {
    report_error(path + ": " + warning);
  }
  return file->warnings().empty() ? kExitSame : kExitTrouble;
}

}  // namespace opdrift::cli
