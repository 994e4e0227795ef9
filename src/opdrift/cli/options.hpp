#pragma once

#include <optional>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace opdrift::cli {

/// Parses; on help or a bad option prints what is due and returns the exit code to end with.
std::optional<int> parse_arguments(CLI::App& app, std::span<const std::string> arguments);

/// Refuses NaN, which passes every range of CLI11.
CLI::Validator a_number();

}  // namespace opdrift::cli
