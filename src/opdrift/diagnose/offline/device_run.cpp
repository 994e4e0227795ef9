#include "opdrift/diagnose/offline/device_run.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "opdrift/base/process.hpp"
#include "opdrift/base/shell_words.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/dump_switch.hpp"
#include "opdrift/diagnose/offline/device_dumps.hpp"
#include "opdrift/graph/model_facts.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::diagnose::offline {

namespace {

namespace fs = std::filesystem;

constexpr double kTimeout = 3600;
constexpr double kProbeTimeout = 60;
constexpr const char* kDefaultOutputSize = "90000000";
constexpr const char* kPython = "python3";

enum class Runner { none, ais_bench, msame };

Runner installed_runner() {
  if (!program_path(kPython).empty()) {
    const auto end = run_process({.words = {kPython, "-c", "import ais_bench"},
                                  .environment = {},
                                  .folder = "",
                                  .log = "",
                                  .timeout_s = kProbeTimeout,
                                  .cancel = nullptr});
    if (end && end->exit_code == 0) {
      return Runner::ais_bench;
    }
  }
  return program_path("msame").empty() ? Runner::none : Runner::msame;
}

/// Text for a here-document whose variables are filled in, but for those in the text itself.
std::string here_text(const std::string& text) {
  std::string safe = replace_all(text, "\\", "\\\\");
  safe = replace_all(safe, "$", "\\$");
  return replace_all(safe, "`", "\\`");
}

/// Shapes by input, as they stand in an option of the model's own command line.
Outcome<std::vector<std::string>> open_dims(const graph::Graph& model, const std::string& shapes) {
  const std::string own = graph::build_options(model).get("input_shape").value_or("");
  OPDRIFT_TRY(const std::vector<RawShape> wanted, parse_raw_shapes(own));
  OPDRIFT_TRY(const std::vector<InputShape> given, parse_shapes(shapes));
  std::vector<std::string> values;
  for (const RawShape& input : wanted) {
    const InputShape* const shape = find_shape(given, input.name);
    if (shape == nullptr || shape->dims.size() != input.dims.size()) {
      return failed(Number::bad_parameter, "--input-shape: expected the shape of '" +
                                               printable(input.name) + "' with " +
                                               std::to_string(input.dims.size()) + " dims");
    }
    for (std::size_t i = 0; i < input.dims.size(); ++i) {
      if (input.dims[i] == "-1") {
        values.push_back(std::to_string(shape->dims[i]));
      }
    }
  }
  return values;
}

Outcome<std::vector<std::string>> batch_words(const graph::Graph& model,
                                              const std::string& shapes) {
  OPDRIFT_TRY(const std::vector<std::string> values, open_dims(model, shapes));
  const std::set<std::string> batches(values.begin(), values.end());
  if (batches.size() != 1) {
    return failed(
        Number::bad_parameter,
        "--input-shape: expected one and the same batch at every -1 of the model, found " +
            std::to_string(batches.size()) + " of them");
  }
  return std::vector<std::string>{"--dymBatch", *batches.begin()};
}

Outcome<std::string> sizes_of_outputs(const graph::Graph& model, const std::string& given) {
  const std::size_t outputs = graph::net_outputs(model).size();
  if (given.empty()) {
    return join(std::vector<std::string>(outputs, kDefaultOutputSize), ",");
  }
  const std::vector<std::string_view> sizes = split(given, ',');
  for (const std::string_view size : sizes) {
    if (!is_digits(size)) {
      return failed(Number::bad_parameter,
                    "--output-size '" + printable(given) + "': expected numbers of bytes");
    }
  }
  if (sizes.size() != outputs) {
    return failed(Number::bad_parameter, "--output-size: expected " + std::to_string(outputs) +
                                             " number(s), one per output, found " +
                                             std::to_string(sizes.size()));
  }
  return given;
}

bool has_files(const std::string& folder, bool dump) {
  return dump ? !find_dump_folder(folder).empty() : !find_output_files(folder).empty();
}

/// The only .om directly in a folder.
std::vector<std::string> models_in(const std::string& folder) {
  std::vector<std::string> models;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (entry->path().extension() == ".om") {
      models.push_back(entry->path().string());
    }
  }
  return models;
}

}  // namespace

std::string BuildStep::model() const {
  constexpr std::string_view kOutput = "--output=";
  for (const std::string& word : words) {
    if (word.starts_with(kOutput)) {
      return word.substr(kOutput.size()) + ".om";
    }
  }
  return "";
}

Outcome<std::vector<std::string>> dynamic_words(const graph::Graph& model,
                                                const std::string& shapes,
                                                const std::string& output_sizes) {
  using Kind = graph::DynamicInputs::Kind;
  const Kind kind = graph::dynamic_inputs(graph::build_options(model)).kind;
  if (kind == Kind::fixed) {
    return std::vector<std::string>{};
  }
  if (shapes.empty()) {
    return failed(Number::bad_parameter,
                  "the model takes several shapes; give the one to run with --input-shape",
                  model.source_path);
  }
  std::vector<std::string> words;
  switch (kind) {
    case Kind::batch: {
      OPDRIFT_TRY(words, batch_words(model, shapes));
      break;
    }
    case Kind::image: {
      OPDRIFT_TRY(const std::vector<std::string> sides, open_dims(model, shapes));
      words = {"--dymHW", join(sides, ",")};
      break;
    }
    case Kind::dims: words = {"--dymDims", shapes}; break;
    default: words = {"--dymShape", shapes}; break;
  }
  OPDRIFT_TRY(const std::string sizes, sizes_of_outputs(model, output_sizes));
  words.insert(words.end(), {"--outputSize", sizes});
  return words;
}

std::string atc_program(const std::string& tool_kit) {
  for (const char* place : {"/bin/atc", "/compiler/bin/atc"}) {
    if (!tool_kit.empty() && !program_path(tool_kit + place).empty()) {
      return tool_kit + place;
    }
  }
  return "atc";
}

std::string DeviceSession::relative(const std::string& path) const {
  return path.starts_with(folder_ + "/") ? path.substr(folder_.size() + 1) : path;
}

std::vector<std::string> DeviceSession::run_words(const DeviceStep& step, bool msame,
                                                  bool script) const {
  const auto place = [&](const std::string& path) { return script ? relative(path) : path; };
  std::vector<std::string> inputs;
  for (const std::string& input : step.inputs) {
    inputs.push_back(place(input));
  }
  std::vector<std::string> words = {"msame"};
  if (!msame) {
    words = {kPython, "-m", "ais_bench"};
  }
  words.insert(words.end(), {"--model", place(step.model), "--input", join(inputs, ","), "--output",
                             place(step.folder), "--outfmt", "BIN", "--device", step.device});
  if (msame && step.dump) {
    words.insert(words.end(), {"--dump", "true"});
  } else if (step.dump) {
    words.insert(words.end(), {"--acl_json_path", place(step.folder + ".acl.json")});
  }
  if (!msame) {
    words.insert(words.end(), {"--warmup_count", "0"});
  }
  words.insert(words.end(), step.dynamic.begin(), step.dynamic.end());
  return words;
}

void DeviceSession::remember(const DeviceStep& step) {
  const std::string folder = relative(step.folder);
  script_ += "\n# " + step.title + "\nmkdir -p " + shell_quoted(folder) + "\n";
  if (step.dump) {
    // The dump path has to be absolute, and the folder may have been moved to another machine.
    const std::string mark = "@FOLDER@";
    const std::string text =
        here_text(fixes::write_dump_switch({step.model_names, mark + "/" + folder}));
    script_ += "cat > " + shell_quoted(folder + ".acl.json") + " <<END\n" +
               replace_all(text, mark, "$PWD") + "END\n";
  }
  script_ += shell_command(run_words(step, false, true)) + "\n";
  script_ += "# or: " + shell_command(run_words(step, true, true)) + "\n";
}

Done DeviceSession::run(const std::vector<std::string>& words, const std::string& log_path,
                        Number number) const {
  log_("running " + printable(shell_command(words)));
  const auto end = run_process({.words = words,
                                .environment = {},
                                .folder = "",
                                .log = log_path,
                                .timeout_s = kTimeout,
                                .cancel = cancel_});
  if (!end) {
    return Failure{number, end.error()};
  }
  if (end->cancelled) {
    return Error{ErrorCode::cancelled, "interrupted"};
  }
  if (end->timed_out || end->exit_code != 0) {
    const std::string how = end->timed_out ? "took more than an hour"
                                           : "ended with status " + std::to_string(end->exit_code);
    return failed(number, printable(words.front()) + " " + how + "; its log is " + log_path);
  }
  return Unit{};
}

Outcome<std::string> DeviceSession::dumps(const DeviceStep& step) {
  std::error_code problem;
  if (!has_files(step.folder, step.dump)) {
    const Runner runner = installed_runner();
    const bool unbuilt = waiting() && !fs::exists(step.model, problem);
    if (runner == Runner::none || step.model.empty() || unbuilt) {
      remember(step);
      return std::string();
    }
    fs::create_directories(step.folder, problem);
    if (step.dump) {
      OPDRIFT_CHECK_OK(
          io::write_file(step.folder + ".acl.json",
                         fixes::write_dump_switch(
                             {step.model_names, fs::absolute(step.folder, problem).string()})));
    }
    OPDRIFT_CHECK_OK(run(run_words(step, runner == Runner::msame, false), step.folder + ".log",
                         Number::program));
  }
  std::string found = step.dump ? find_dump_folder(step.folder) : step.folder;
  if (found.empty() || !has_files(step.folder, step.dump)) {
    return failed(
        Number::no_dump_file,
        "the program ended well but left no " + std::string(step.dump ? "dump files" : "outputs"),
        step.folder);
  }
  return found;
}

Outcome<std::string> DeviceSession::model(const BuildStep& step) {
  std::vector<std::string> found = models_in(step.folder);
  if (found.empty() && program_path(step.words.front()).empty()) {
    std::vector<std::string> words;
    for (const std::string& word : step.words) {
      words.push_back(replace_all(word, folder_ + "/", ""));
    }
    script_ += "\n# " + step.title + "\n" + shell_command(words) + "\n";
    return std::string();
  }
  if (found.empty()) {
    OPDRIFT_CHECK_OK(run(step.words, step.folder + "/atc.log", Number::atc_failed));
    found = models_in(step.folder);
  }
  if (found.size() != 1) {
    return failed(Number::atc_failed,
                  "expected one .om file, found " + std::to_string(found.size()), step.folder);
  }
  return found.front();
}

Outcome<Trial> DeviceSession::trial(const BuildStep& build, DeviceStep run) {
  std::error_code problem;
  if (fs::exists(build.folder + "/failed", problem) && !has_files(run.folder, run.dump)) {
    return Trial{"", "building or running it failed where " + build.folder + "/run.sh was run"};
  }
  fs::create_directories(build.folder, problem);
  std::string others;
  script_.swap(others);
  Outcome<std::string> found = model(build);
  if (found) {
    run.model = found->empty() ? build.model() : *found;
    found = dumps(run);
  }
  script_.swap(others);
  if (!found) {
    if (found.error().error.code == ErrorCode::cancelled) {
      return std::move(found).error();
    }
    return Trial{"", found.error().error.to_string()};
  }
  if (!others.empty()) {
    OPDRIFT_CHECK_OK(remember_trial(build, others));
  }
  return Trial{*found, ""};
}

Done DeviceSession::remember_trial(const BuildStep& build, const std::string& commands) {
  const std::string folder = relative(build.folder);
  const std::string mark = shell_quoted(folder + "/failed");
  script_ +=
      "\n# " + build.title + "\nsh " + shell_quoted(folder + "/run.sh") + " || : > " + mark + "\n";
  return Done(io::write_file(build.folder + "/run.sh",
                             "#!/bin/sh\n# To be run from the folder of the comparison.\nset -e\n"
                             "rm -f " +
                                 mark + "\n" + commands,
                             {.mode = 0777}));
}

Done DeviceSession::write_script(const std::string& again) const {
  const std::string path = folder_ + "/run_on_device.sh";
  std::string text =
      "#!/bin/sh\n"
      "# Makes what this comparison needs of the device. Run it where the device and its tool kit\n"
      "# are (this folder may be copied there and back), then repeat:\n"
      "#   " +
      replace_all(again, "\n", " ") +
      "\n"
      "set -e\n"
      "cd \"$(dirname \"$0\")\"\n";
  return Done(io::write_file(path, text + script_, {.mode = 0777}));
}

}  // namespace opdrift::diagnose::offline
