#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/cli/version.hpp"
#include "opdrift/shell/shell.hpp"
#include "opdrift/shell/workspace/import.hpp"

namespace opdrift::cli {

namespace {

constexpr std::size_t kScriptColumns = 200;  ///< where nobody's window is the limit

constexpr const char* kFooter =
    "DIR is precision_data or the folder that holds it, or a result folder of msquickcmp, which is "
    "only read. Missing folders of precision_data are made.\n\n"
    "Commands come from the terminal, or one a line from standard input. 'help' lists them, "
    "'COMMAND -h' explains one. What is no command is refused; nothing is run on your behalf.\n\n"
    "Examples:\n"
    "  opdrift shell\n"
    "  opdrift shell msquickcmp_output/20240101/\n"
    "  echo 'vcs -c 0.99' | opdrift shell work/\n"
    "\nExit codes: 0, or 2 when DIR cannot be used or a command of a script failed.\n";

constexpr std::string_view kToolUsage =
    "usage: precision_tool                      the prompt, on precision_data in this folder\n"
    "       precision_tool data DIR             the same with another folder\n"
    "       precision_tool infer DIR            on a result folder of msquickcmp\n"
    "       precision_tool compare LEFT RIGHT   compares two tensors (cp)\n"
    "       precision_tool vector_compare ...   compares everything (vc)\n"
    "       precision_tool train | tf_dump | npu_dump | npu_overflow\n"
    "                                           tell how to make the dumps\n";

bool is_terminal() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

std::size_t columns() {
  const bool given = std::getenv("COLUMNS") != nullptr;
  return given || ::isatty(STDOUT_FILENO) == 1 ? terminal_columns() : kScriptColumns;
}

std::size_t terminal_rows() {
  struct winsize size {};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

std::string history_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') {
    return std::string(state) + "/opdrift/shell_history";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0'
             ? std::string()
             : std::string(home) + "/.local/state/opdrift/shell_history";
}

/// The locale is C or POSIX, as where none is set.
bool is_ascii_locale() {
  const char* const name = std::setlocale(LC_CTYPE, nullptr);
  const std::string_view locale = name == nullptr ? std::string_view("C") : name;
  return locale == "C" || locale == "POSIX";
}

shell::Terminal this_terminal() {
  std::setlocale(LC_CTYPE, "");
  shell::Terminal terminal;
  terminal.interactive = is_terminal();
  terminal.colour = colour_wanted(STDOUT_FILENO);
  terminal.unicode = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  if (!terminal.unicode && is_ascii_locale()) {
    // No locale is set: names can be typed and completed all the same, boxes stay ASCII.
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
  terminal.columns = &columns;
  terminal.rows = &terminal_rows;
  terminal.history_file = history_file();
  return terminal;
}

/// Opens the folder and runs the shell on it.
int start(Result<shell::OpenedWorkspace> opened, shell::SessionSettings settings,
          std::vector<std::string> words) {
  if (!opened.has_value()) {
    return report_error(opened.error());
  }
  shell::ShellOptions options{.opened = std::move(*opened),
                              .settings = std::move(settings),
                              .terminal = this_terminal(),
                              .banner = {},
                              .words = std::move(words)};
  options.banner = std::string("opdrift ") + kVersion + ", the shell of precision_tool.\n" +
                   "Folder: " + options.opened.workspace.root() +
                   "\n'help' lists the commands. Enjoy!";
  return shell::run_shell(std::move(options)) ? kExitSame : kExitTrouble;
}

std::string command_name(std::string_view word) {
  if (word == "compare") {
    return "cp";
  }
  if (word == "vector_compare") {
    return "vc";
  }
  return word == "npu_dump" || word == "npu_overflow" ? "run" : "train";
}

int wrong_start(const std::string& message) {
  report_error(message);
  std::fwrite(kToolUsage.data(), 1, kToolUsage.size(), stderr);
  return kExitTrouble;
}

int start_tool(const std::string& word, std::span<const std::string> rest) {
  if (word == "data" || word == "infer") {
    if (rest.size() != 1) {
      return wrong_start("expected one folder behind '" + word + "'");
    }
    return start(word == "data" ? shell::open_workspace(rest.front())
                                : shell::import_quickcmp(rest.front(), "precision_data"),
                 {}, {});
  }
  constexpr std::string_view kOneShot[] = {"compare", "vector_compare", "train",
                                           "tf_dump", "npu_dump",       "npu_overflow"};
  if (std::find(std::begin(kOneShot), std::end(kOneShot), word) == std::end(kOneShot)) {
    return wrong_start("'" + printable(word) +
                       "' is not supported or should be run in interactive mode");
  }
  std::vector<std::string> words = {command_name(word)};
  words.insert(words.end(), rest.begin(), rest.end());
  return start(shell::open_workspace("."), {}, std::move(words));
}

}  // namespace

int run_shell(std::span<const std::string> arguments) {
  CLI::App app("Looks at dumps, graphs and results of comparisons interactively.", "opdrift shell");
  app.footer(kFooter);
  std::string folder = ".";
  shell::SessionSettings settings;
  app.add_option("DIR", folder, "folder to work on")->capture_default_str();
  app.add_flag("--train", settings.train,
               "a dump file belongs to an operator only when its path names the operator's graph");
  app.add_option("--stage", settings.graph_stage, "stage of the graph dumps to load")
      ->capture_default_str();
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  return start(shell::open_workspace(folder), settings, {});
}

int run_precision_tool(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    return start(shell::open_workspace("."), {}, {});
  }
  const std::string& word = arguments.front();
  if (word == "-h" || word == "--help") {
    return write_output(kToolUsage) ? kExitSame : kExitTrouble;
  }
  return start_tool(word, arguments.subspan(1));
}

}  // namespace opdrift::cli
