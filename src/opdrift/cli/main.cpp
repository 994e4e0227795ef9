#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"

namespace {

/// Whatever a command made of it: text that met a full disk is no success.
int with_output_written(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
    return exit_code;
  }
  const int trouble = opdrift::cli::report_error("the output could not be written");
  return exit_code == 0 || exit_code == 1 ? trouble : exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv, argv + argc);
    return with_output_written(opdrift::cli::run_program(arguments));
  } catch (const std::bad_alloc&) {
    return opdrift::cli::report_error("out of memory; try fewer --jobs");
  } catch (const std::exception& error) {
    return opdrift::cli::report_error(error.what());
  }
}
