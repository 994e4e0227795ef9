#pragma once

#include <span>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/exit_codes.hpp"
#include "opdrift/compat/reference_log.hpp"

namespace opdrift::compat {

/// One command of the front end from words to exit status: arguments checked, the log opened and
/// closed. `body(arguments, log)` does the work and returns Result<int>; its error is logged and
/// becomes the exit status of that error.
template <typename Body>
int run_command(const CommandSpec& command, std::string_view name,
                std::span<const std::string> args, const Body& body) {
  const ParsedArguments parsed = parse_arguments(command, args);
  if (parsed.exit_status) {
    return *parsed.exit_status;
  }
  ReferenceLog log;
  log.warn_when_root();
  const Result<int> status = body(parsed.arguments, log);
  if (!status.has_value()) {
    log.error(status.error().to_string());
  }
  log.finish(name);
  return status.has_value() ? *status : exit_code(status.error().code);
}

}  // namespace opdrift::compat
