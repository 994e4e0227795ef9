#include "opdrift/cli/options.hpp"

#include <cmath>
#include <memory>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/help_format.hpp"

namespace opdrift::cli {

std::optional<int> parse_arguments(CLI::App& app, std::span<const std::string> arguments) {
  app.formatter(std::make_shared<HelpFormatter>());
  // CLI11 takes the arguments last first.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return write_output(app.help()) ? kExitSame : kExitTrouble;
  } catch (const CLI::ParseError& error) {
    report_error(error.what());
    std::fprintf(stderr, "try '%s --help'\n", app.get_name().c_str());
    return kExitTrouble;
  }
  return std::nullopt;
}

CLI::Validator a_number() {
  const auto check = [](const std::string& text) {
    const auto value = parse_double(text);
    return value && !std::isnan(*value) ? std::string() : "expected a number, found " + text;
  };
  return CLI::Validator(check, "", "a number");
}

}  // namespace opdrift::cli
