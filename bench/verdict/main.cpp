// The evaluation of the verdict.
//
//   verdict_eval MODELS [--out FILE] [--log FILE] [--network NAME]... [--variant NAME]
//                [--only clean|faults] [--tier replay|sampled|norms|shape] [--jobs N]
//                [--export DIR] [--onnxruntime PATH]
//
// MODELS is the folder into which tools/setup.sh unpacks packages. Without --out the tables go to
// standard output. --tier norms and shape judge as if the weights could not be replayed, or were
// not known at all. --export writes the judged runs for another judge (export.hpp). Ends with 0
// when every aim was reached, 1 when not, 2 when it failed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation.hpp"
#include "export.hpp"
#include "report.hpp"

#include "opdrift/base/parallel.hpp"
#include "opdrift/io/file_writer.hpp"

namespace {

using namespace opdrift;
using namespace opdrift::evaluation;

struct Arguments {
  std::string models;
  std::string out;
  std::string log;
  std::vector<std::string> networks;
  std::string variant;
  std::string only;
  verdict::Tier tier = verdict::Tier::sampled;
  std::string library;
  std::string exported;
  std::size_t jobs = 0;
};

std::optional<verdict::Tier> tier_of(std::string_view word) {
  for (const verdict::Tier tier : {verdict::Tier::replay, verdict::Tier::sampled,
                                   verdict::Tier::norms, verdict::Tier::shape}) {
    if (word == verdict::to_string(tier)) {
      return tier;
    }
  }
  return std::nullopt;
}

bool parse(int count, char** words, Arguments& arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("--")) {
      arguments.models = word;
      continue;
    }
    if (++i == count) {
      return false;
    }
    const std::string value = words[i];
    if (word == "--network") {
      arguments.networks.push_back(value);
    } else if (word == "--jobs") {
      arguments.jobs = std::strtoul(value.c_str(), nullptr, 10);
    } else if (word == "--out") {
      arguments.out = value;
    } else if (word == "--log") {
      arguments.log = value;
    } else if (word == "--variant") {
      arguments.variant = value;
    } else if (word == "--only") {
      arguments.only = value;
    } else if (word == "--tier" && tier_of(value)) {
      arguments.tier = *tier_of(value);
    } else if (word == "--export") {
      arguments.exported = value;
    } else if (word == "--onnxruntime") {
      arguments.library = value;
    } else {
      return false;
    }
  }
  return !arguments.models.empty();
}

/// Work on one network that can be done beside other work.
struct Task {
  const CatalogueEntry* entry = nullptr;
  bool clean = false;
  Format format = Format::fp16;  ///< of the run that faults are planted in
};

class Evaluation {
 public:
  Evaluation(engine::Runtime& runtime, const Arguments& arguments)
      : runtime_(runtime), arguments_(arguments) {
    results_.runtime_version = runtime.version();
  }

  Results run() {
    const std::vector<Task> tasks = plan();
    parallel_for(tasks.size(), arguments_.jobs, [&](std::size_t i) { run(tasks[i]); });
    return std::move(results_);
  }

 private:
  bool wanted(const CatalogueEntry& entry) const {
    return arguments_.networks.empty() ||
           std::find(arguments_.networks.begin(), arguments_.networks.end(), entry.name) !=
               arguments_.networks.end();
  }

  bool does(std::string_view part) const {
    return arguments_.only.empty() || arguments_.only == part;
  }

  std::vector<Task> plan() const {
    std::vector<Task> tasks;
    for (const CatalogueEntry& entry : catalogue()) {
      if (!wanted(entry)) {
        continue;
      }
      if (does("faults") && entry.faults) {
        tasks.push_back({&entry, false, Format::fp16});
        tasks.push_back({&entry, false, Format::bf16});
      }
      if (does("clean")) {
        tasks.push_back({&entry, true});
      }
    }
    return tasks;
  }

  void run(const Task& task) {
    const CatalogueEntry& entry = *task.entry;
    RunExporter exporter(arguments_.exported + "/" + std::string(entry.name) +
                         (task.clean                    ? ""
                          : task.format == Format::fp16 ? "-fp16"
                                                        : "-bf16"));
    const EvaluationOptions options{.variant = arguments_.variant,
                                    .strongest = arguments_.tier,
                                    .observer = arguments_.exported.empty() ? nullptr : &exporter};
    if (task.clean) {
      keep(entry, evaluate_clean(runtime_, entry, arguments_.models, options));
    } else {
      keep(entry, evaluate_faults(runtime_, entry, arguments_.models, task.format, options));
    }
  }

  template <typename Found>
  void keep(const CatalogueEntry& entry, Result<Found> found) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!found) {
      results_.failures.push_back(std::string(entry.name) + ": " + found.error().to_string());
      std::fprintf(stderr, "verdict_eval: %s\n", results_.failures.back().c_str());
      return;
    }
    std::fprintf(stderr, "verdict_eval: %s\n", std::string(entry.name).c_str());
    add(std::move(*found));
  }

  void add(std::vector<CleanRow> rows) {
    std::move(rows.begin(), rows.end(), std::back_inserter(results_.clean));
  }
  void add(std::vector<FaultRow> rows) {
    std::move(rows.begin(), rows.end(), std::back_inserter(results_.faults));
  }

  engine::Runtime& runtime_;
  const Arguments& arguments_;
  std::mutex mutex_;
  Results results_;
};

/// Rows in the order of the catalogue, whatever worker made them first.
template <typename Row>
void sort_rows(std::vector<Row>& rows) {
  const auto place = [](std::string_view name) {
    const auto all = catalogue();
    return std::find_if(all.begin(), all.end(),
                        [&](const CatalogueEntry& entry) { return entry.name == name; }) -
           all.begin();
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return place(a.network) < place(b.network); });
}

Status write_text(const std::string& path, const std::string& text) {
  OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(path));
  OPDRIFT_CHECK_OK(file.write(as_bytes(text)));
  return file.commit();
}

int fail(const Error& error) {
  std::fprintf(stderr, "verdict_eval: %s\n", error.to_string().c_str());
  return 2;
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  if (!parse(count, words, arguments)) {
    std::fputs(
        "usage: verdict_eval MODELS [--out FILE] [--log FILE] [--network NAME]... "
        "[--variant NAME] [--only clean|faults] [--tier replay|sampled|norms|shape] [--jobs N] "
        "[--export DIR] [--onnxruntime PATH]\n",
        stderr);
    return 2;
  }
  const auto runtime = engine::Runtime::load(arguments.library);
  if (!runtime) {
    return fail(runtime.error());
  }
  Results results = Evaluation(**runtime, arguments).run();
  sort_rows(results.clean);
  std::stable_sort(results.faults.begin(), results.faults.end(),
                   [](const FaultRow& a, const FaultRow& b) { return a.format < b.format; });
  sort_rows(results.faults);
  const std::string text = markdown(results);
  if (arguments.out.empty()) {
    std::fputs(text.c_str(), stdout);
  } else if (const Status written = write_text(arguments.out, text); !written) {
    return fail(written.error());
  }
  if (!arguments.log.empty()) {
    if (const Status written = write_text(arguments.log, log_lines(results)); !written) {
      return fail(written.error());
    }
  }
  return results.failures.empty() ? (text.find("**no**") == std::string::npos ? 0 : 1) : 2;
}
