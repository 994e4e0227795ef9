#include "opdrift/engine/run_settings.hpp"

#include <vector>

#include "opdrift/base/text.hpp"

namespace opdrift::engine {

namespace {

constexpr std::uint64_t kMaxThreads = 4096;

Error refused(std::string_view name, std::string_view value, const std::string& expected) {
  return Error{ErrorCode::invalid_argument,
               std::string(name) + " '" + printable(value) + "': expected " + expected};
}

Status set_number(std::string_view name, std::string_view value, RunSettings& settings) {
  const auto number = parse_u64(value);
  if (name == "seed") {
    settings.seed = number;
    return number ? Status(Unit{}) : refused(name, value, "a number");
  }
  if (!number || *number > kMaxThreads) {
    return refused(name, value, "a number up to " + std::to_string(kMaxThreads));
  }
  settings.threads = static_cast<unsigned>(*number);
  return Unit{};
}

}  // namespace

Status set_run_setting(RunSettings& settings, std::string_view name, std::string_view value) {
  if (name == "optimize") {
    const auto level = optimization_by_name(value);
    settings.optimization = level.value_or(settings.optimization);
    return level ? Status(Unit{}) : refused(name, value, "none, basic, extended or all");
  }
  if (name == "precision") {
    const auto precision = precision_by_name(value);
    settings.precision = precision.value_or(settings.precision);
    return precision ? Status(Unit{}) : refused(name, value, "fp32, fp16 or bf16");
  }
  if (name == "provider") {
    settings.provider = value;
    return value.empty() ? refused(name, value, "a name") : Status(Unit{});
  }
  if (name == "threads" || name == "seed") {
    return set_number(name, value, settings);
  }
  return Error{ErrorCode::invalid_argument,
               "'" + printable(name) +
                   "': expected one of precision, optimize, provider, threads, seed" +
                   did_you_mean(name, {"precision", "optimize", "provider", "threads", "seed"})};
}

Result<RunSettings> parse_run_settings(std::string_view text) {
  RunSettings settings;
  if (trim(text).empty()) {
    return settings;
  }
  for (const std::string_view setting : split(text, ',')) {
    const std::size_t cut = setting.find('=');
    if (cut == std::string_view::npos) {
      return Error{ErrorCode::invalid_argument,
                   "'" + printable(setting) + "': expected NAME=VALUE, for example precision=fp16"};
    }
    OPDRIFT_CHECK_OK(
        set_run_setting(settings, trim(setting.substr(0, cut)), trim(setting.substr(cut + 1))));
  }
  return settings;
}

std::string describe(const RunSettings& settings) {
  return std::string(to_string(settings.precision)) + ", optimisation " +
         std::string(to_string(settings.optimization)) + ", provider " + settings.provider;
}

void apply(const RunSettings& settings, DumpOptions& options) {
  options.optimization = settings.optimization;
  options.precision = settings.precision;
  options.provider = settings.provider;
  options.threads = settings.threads;
  options.inputs.seed = settings.seed.value_or(options.inputs.seed);
}

}  // namespace opdrift::engine
