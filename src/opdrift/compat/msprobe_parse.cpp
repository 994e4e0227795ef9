#include "opdrift/compat/msprobe_parse.hpp"

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/msaccucmp_convert.hpp"
#include "opdrift/compat/path_check.hpp"
#include "opdrift/compat/reference_log.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/pipeline/convert/convert.hpp"

namespace opdrift::compat {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDefaultFolder = "./output";

CommandSpec parse_command() {
  return {.program = "msprobe parse",
          .summary = "Convert dump files to torch or NumPy files.",
          .options = {
              {.key = "dump_path",
               .flags = {"-d", "--dump_path"},
               .help = "dump file or folder of dump files",
               .required = true},
              {.key = "type",
               .flags = {"-t", "--type"},
               .help = "type of the results; pt by default",
               .choices = {"npy", "pt"}},
              {.key = "output_path",
               .flags = {"-o", "--output_path"},
               .help = "folder of the results; ./output by default",
               .value_optional = true,
               .value_if_bare = kDefaultFolder},
          }};
}

bool is_text_header_name(const std::string& path) {
  return to_lower(path).ends_with(".bin");
}

/// The file itself, or the files directly in the folder, by name.
std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    return {path};
  }
  std::vector<std::string> paths;
  for (const std::string& name : io::list_files(path).value_or(std::vector<std::string>{})) {
    paths.push_back(path + "/" + name);
  }
  return paths;
}

int convert_text_headers(const std::vector<std::string>& paths, const std::string& folder,
                         pipeline::ConvertType type, ReferenceLog& log) {
  const Status ready = prepare_output_folder(folder);
  if (!ready) {
    log.error(ready.error().to_string());
    return kExitUnknown;
  }
  for (const std::string& path : paths) {
    const Result<pipeline::AtbConversion> done = pipeline::convert_atb(path, folder, type);
    if (!done) {
      log.error(done.error().to_string());
      return kExitUnknown;
    }
    if (done->written) {
      log.info("wrote " + folder + "/" + *done->written);
    } else {
      log.warning(done->reason);
    }
  }
  return kExitSuccess;
}

}  // namespace

int run_parse(std::span<const std::string> args) {
  const ParsedArguments parsed = parse_arguments(parse_command(), args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  ReferenceLog log;
  const std::string path = parsed.arguments.text("dump_path");
  const std::string type = parsed.arguments.text("type", "pt");
  const std::string folder = parsed.arguments.text("output_path", kDefaultFolder);
  const std::vector<std::string> paths = path.empty() ? std::vector<std::string>{} : files_of(path);
  if (paths.empty()) {
    log.error(path + ": expected a dump file, or a folder with one");
    return kExitUnknown;
  }
  if (is_text_header_name(paths.front())) {
    return convert_text_headers(paths, folder, *pipeline::convert_type_by_name(type), log);
  }
  const std::array<std::string, 6> convert = {"-d", path, "-t", type, "-out", folder};
  return run_convert(convert) == kExitSuccess ? kExitSuccess : kExitUnknown;
}

}  // namespace opdrift::compat
