#pragma once

#include <span>
#include <string>
#include <string_view>

namespace opdrift::cli {

/// One row per sub-command. `arguments` are those behind the command's name.
struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(std::span<const std::string> arguments);
};

/// All sub-commands, in the order of the help text.
std::span<const Command> commands();

int run_compare(std::span<const std::string> arguments);
int run_judge(std::span<const std::string> arguments);
int run_report(std::span<const std::string> arguments);
int run_trends(std::span<const std::string> arguments);
int run_serve(std::span<const std::string> arguments);
int run_check_op(std::span<const std::string> arguments);
int run_repro(std::span<const std::string> arguments);
int run_dump(std::span<const std::string> arguments);
int run_bisect(std::span<const std::string> arguments);
int run_extract(std::span<const std::string> arguments);
int run_instrument(std::span<const std::string> arguments);
int run_graph(std::span<const std::string> arguments);
int run_convert(std::span<const std::string> arguments);
int run_info(std::span<const std::string> arguments);
int run_om2json(std::span<const std::string> arguments);
int run_stats(std::span<const std::string> arguments);
int run_overflow(std::span<const std::string> arguments);
int run_compare_outputs(std::span<const std::string> arguments);
int run_advise(std::span<const std::string> arguments);
int run_diagnose(std::span<const std::string> arguments);
int run_classify_input(std::span<const std::string> arguments);
int run_shell(std::span<const std::string> arguments);
int run_precision_tool(std::span<const std::string> arguments);
int run_list(std::span<const std::string> arguments);

/// The whole program: `arguments` includes the program's name, which selects a front end when it is
/// called through a link named msaccucmp, msprobe, msit or precision_tool (or with .py behind it).
int run_program(std::span<const std::string> arguments);

}  // namespace opdrift::cli
