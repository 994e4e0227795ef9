#include "opdrift/compat/msaccucmp_convert.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "opdrift/base/file_kind.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/command_run.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/path_check.hpp"
#include "opdrift/compat/python_plugins.hpp"
#include "opdrift/compat/reference_log.hpp"
#include "opdrift/io/dump_folder.hpp"

namespace opdrift::compat {

namespace {

constexpr std::size_t kBarColumns = 50;

CommandSpec convert_command() {
  return {.program = "msaccucmp convert",
          .summary = "Convert dump files to arrays that other tools read.",
          .options = {
              {.key = "dump_file",
               .flags = {"-d", "--dump_file"},
               .help = "dump file, comma-separated list of files, or folder",
               .required = true,
               .rule = ValueRule::safe_path},
              {.key = "format", .flags = {"-f", "--format"}, .help = "format to convert to"},
              {.key = "shape",
               .flags = {"-s", "--shape"},
               .help = "logical shape, as \"1,3,224,224\"; with -f and one file only"},
              {.key = "output_tensor",
               .flags = {"-o", "--output_tensor"},
               .help = "index of the only output to convert; with -f and one file only",
               .exclusive_group = 1},
              {.key = "input_tensor",
               .flags = {"-i", "--input_tensor"},
               .help = "index of the only input to convert; with -f and one file only",
               .exclusive_group = 1},
              {.key = "custom_script_path",
               .flags = {"-c", "--custom_script_path"},
               .help = "folder of user-supplied conversions; with -f only",
               .rule = ValueRule::safe_path},
              {.key = "output",
               .flags = {"-out", "--output"},
               .help = "folder of the results; the current folder by default"},
              {.key = "version",
               .flags = {"-v", "--version"},
               .help = "version of the dump files; both are read alike",
               .rule = ValueRule::integer,
               .choices = {"1", "2"}},
              {.key = "type",
               .flags = {"-t", "--type"},
               .help = "type of the results",
               .choices = {"npy", "bin", "msnpy", "pt"}},
          }};
}

/// One invocation.
class ConvertCommand {
 public:
  ConvertCommand(const Arguments& arguments, ReferenceLog& log)
      : arguments_(arguments), log_(log) {}

  int run() {
    const Status ready = prepare();
    if (!ready) {
      log_.error(ready.error().to_string());
      return exit_code(ready.error().code);
    }
    return paths_.size() == 1 && single_ ? convert_one() : convert_many();
  }

 private:
  Status prepare() {
    options_.reference = true;
    options_.type =
        pipeline::convert_type_by_name(arguments_.text("type", "npy")).value_or(options_.type);
    options_.notice = [this](pipeline::NoticeLevel level, const std::string& text) {
      log_.write(static_cast<LogLevel>(level), text);
    };
    if (arguments_.text("version", "2") == "1") {
      log_.info("version 1 is read like version 2");
    }
    OPDRIFT_CHECK_OK(check_format_options());
    OPDRIFT_CHECK_OK(find_paths());
    return prepare_output();
  }

  Status check_format_options() {
    const std::optional<std::string> name = arguments_.optional_text("format");
    if (!name) {
      for (const char* key : {"shape", "output_tensor", "input_tensor", "custom_script_path"}) {
        if (arguments_.has(key)) {
          return Error{ErrorCode::invalid_argument,
                       "expected -f together with " + std::string(key)};
        }
      }
      return Unit{};
    }
    options_.format = tensor::format_by_name(*name);
    if (!options_.format) {
      return Error{ErrorCode::invalid_argument, "expected the name of a format, found " + *name};
    }
    if (const auto scripts = arguments_.optional_text("custom_script_path")) {
      OPDRIFT_CHECK_OK(check_path(*scripts, PathKind::folder));
      OPDRIFT_CHECK_OK(refuse_python_plugins(*scripts));
      log_.warning(*scripts + " holds no plug-ins");
    }
    return Unit{};
  }

  Status find_paths() {
    const std::string given = arguments_.text("dump_file");
    if (given.find(',') != std::string::npos) {
      return find_list(given);
    }
    OPDRIFT_CHECK_OK(check_path(given, PathKind::any));
    const std::string path = real_path(given);
    if (is_folder(path)) {
      return find_in_folder(path);
    }
    OPDRIFT_CHECK_OK(check_path(given, PathKind::file));
    single_ = true;
    paths_ = {path};
    return take_single_options();
  }

  /// Members that do not exist are reported and left out.
  Status find_list(const std::string& given) {
    for (const std::string_view part : split(given, ',')) {
      const std::string path(trim(part));
      const Status usable = check_path(path, PathKind::file);
      if (usable) {
        paths_.push_back(real_path(path));
      } else {
        log_.error(usable.error().to_string());
      }
    }
    if (paths_.empty()) {
      return Error{ErrorCode::not_found, "expected at least one file of the list to exist"};
    }
    return Unit{};
  }

  Status find_in_folder(const std::string& path) {
    if (arguments_.has("shape") || arguments_.has("output_tensor") ||
        arguments_.has("input_tensor")) {
      log_.warning("-s, -o and -i have no effect on a folder");
    }
    OPDRIFT_TRY(paths_, pipeline::files_to_convert(path));
    if (paths_.empty()) {
      return Error{ErrorCode::invalid_argument, "expected at least one file in the folder", path};
    }
    return Unit{};
  }

  Status take_single_options() {
    if (const auto text = arguments_.optional_text("shape")) {
      OPDRIFT_TRY(options_.shape, parse_shape(*text));
    }
    OPDRIFT_TRY(options_.only_output, parse_index("output_tensor"));
    OPDRIFT_TRY(options_.only_input, parse_index("input_tensor"));
    return Unit{};
  }

  static Result<tensor::Shape> parse_shape(const std::string& text) {
    tensor::Shape shape;
    for (const std::string_view part : split(text, ',')) {
      const std::optional<std::uint64_t> extent = parse_u64(part);
      if (!extent || *extent == 0) {
        return Error{ErrorCode::bad_shape, "expected positive numbers in -s, found " + text};
      }
      shape.push_back(*extent);
    }
    if (shape.size() < 2) {
      return Error{ErrorCode::bad_shape, "expected at least two numbers in -s, found " + text};
    }
    return shape;
  }

  Result<std::optional<std::uint32_t>> parse_index(std::string_view key) const {
    const std::optional<std::string> text = arguments_.optional_text(key);
    if (!text) {
      return std::optional<std::uint32_t>();
    }
    if (!is_digits(*text)) {
      return Error{ErrorCode::invalid_argument,
                   "expected a natural number as " + std::string(key) + ", found " + *text};
    }
    constexpr std::uint64_t kLast = 0xFFFFFFFF;
    return std::optional(
        static_cast<std::uint32_t>(std::min(parse_u64(*text).value_or(kLast), kLast)));
  }

  /// With a target format an unusable folder is only logged; writing then fails per tensor.
  Status prepare_output() {
    options_.output_folder = arguments_.text("output", ".");
    Status usable = prepare_output_folder(options_.output_folder);
    if (!usable && options_.format) {
      log_.error(usable.error().to_string());
      return Unit{};
    }
    return usable;
  }

  int convert_one() {
    options_.threads = 0;
    const pipeline::FileConversion conversion = pipeline::convert_file(paths_.front(), options_);
    return convert_exit_code(conversion);
  }

  int convert_many() {
    options_.jobs = (worker_count(0) + 1) / 2;
    options_.progress = [this](std::size_t done, std::size_t total) { show(done, total); };
    const std::vector<pipeline::FileConversion> conversions =
        pipeline::convert_files(paths_, options_);
    const Status listed = pipeline::append_failed_list(options_.output_folder, conversions,
                                                       options_.format.has_value());
    if (!listed) {
      log_.error(listed.error().to_string());
    }
    int status = kExitSuccess;
    for (const pipeline::FileConversion& conversion : conversions) {
      const int code = convert_exit_code(conversion);
      // A crash of the reference is raised when all files are done, so it wins.
      if (code == kExitUnknown || status == kExitSuccess) {
        status = code;
      }
      if (status == kExitUnknown) {
        break;
      }
    }
    return status;
  }

  /// A bar and a percentage, at most once a second and at the end.
  void show(std::size_t done, std::size_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (done < total && now - shown_ < std::chrono::seconds(1)) {
      return;
    }
    shown_ = now;
    const std::size_t columns = kBarColumns * done / total;
    log_.info("[" + std::string(columns, '>') + std::string(kBarColumns - columns, ' ') + "] " +
              std::to_string(100 * done / total) + "%");
  }

  const Arguments& arguments_;
  ReferenceLog& log_;
  pipeline::ConvertOptions options_;
  std::vector<std::string> paths_;
  bool single_ = false;
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
};

}  // namespace

int convert_exit_code(const pipeline::FileConversion& conversion) {
  if (!conversion.error) {
    return kExitSuccess;
  }
  const ErrorCode code = conversion.error->code;
  if (conversion.in_debug_record && code == ErrorCode::out_of_range) {
    return kExitOverflowType;
  }
  if (conversion.in_debug_record && code == ErrorCode::truncated) {
    return kExitUnknown;
  }
  return code == ErrorCode::bad_nz_shape ? kExitInvalidParameter : exit_code(code);
}

int run_convert(std::span<const std::string> args) {
  const CommandSpec command = convert_command();
  if (args.empty()) {
    std::cout << help_text(command) << std::flush;
    return kExitInvalidParameter;
  }
  return run_command(command, "convert", args,
                     [](const Arguments& arguments, ReferenceLog& log) -> Result<int> {
                       return ConvertCommand(arguments, log).run();
                     });
}

}  // namespace opdrift::compat
