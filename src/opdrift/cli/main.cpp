#include <exception>
#include <string>
#include <vector>

#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv, argv + argc);
    return opdrift::cli::run_program(arguments);
  } catch (const std::bad_alloc&) {
    return opdrift::cli::report_error("out of memory; try fewer --jobs");
  } catch (const std::exception& error) {
    return opdrift::cli::report_error(error.what());
  }
}
