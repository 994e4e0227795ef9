// What looking at a network costs beside running it once. One line of a table for
//
//   run_costs MODEL.onnx [SYMBOL=N]...
//
//   plain    open the model, unoptimised, and run it once for its outputs
//   write    write as many bytes to files of the dump's sizes
//   dump     `opdrift dump` without its check of the final outputs; wanted: 1.5 * plain + write
//   run      open and run all single operators of `opdrift check-op`; wanted: 3 * plain
//   check    all of check-op without a golden, judging included
//
// Medians of five, seconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <vector>

#include "opdrift/base/temporary_folder.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/check_op/check_op.hpp"
#include "opdrift/engine/dump.hpp"
#include "opdrift/io/file_writer.hpp"

namespace {

using namespace opdrift;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kTimes = 5;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Result<double> timed(const std::function<Status()>& work) {
  std::vector<double> seconds;
  for (int time = 0; time < kTimes; ++time) {
    const Clock::time_point start = Clock::now();
    OPDRIFT_CHECK_OK(work());
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return median(std::move(seconds));
}

Status run_plain(engine::Runtime& runtime, const std::string& model,
                 const engine::ModelInputs& inputs) {
  OPDRIFT_TRY(const auto session, runtime.open_file(model, {}));
  std::vector<std::string> outputs;
  for (const io::onnx::ValueInfo& output : session->outputs()) {
    outputs.push_back(output.name);
  }
  OPDRIFT_CHECK_OK(session->run(inputs.tensors, outputs));
  return Unit{};
}

/// The files of a dump once more.
Status write_again(const std::string& dump, const std::string& to) {
  std::error_code problem;
  fs::create_directories(to, problem);
  for (const auto& entry : fs::directory_iterator(dump, problem)) {
    if (!entry.is_regular_file(problem)) {
      continue;
    }
    OPDRIFT_TRY(const Bytes bytes, map_file(entry.path().string()));
    OPDRIFT_TRY(io::FileWriter file,
                io::FileWriter::create(to + "/" + entry.path().filename().string()));
    OPDRIFT_CHECK_OK(file.write(bytes.span));
    OPDRIFT_CHECK_OK(file.commit());
  }
  return Unit{};
}

Status measure(const std::string& model, const std::map<std::string, std::uint64_t>& dims) {
  OPDRIFT_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  OPDRIFT_TRY(const auto runtime, engine::Runtime::load());
  OPDRIFT_TRY(const io::onnx::Model opened, io::onnx::open_model(model));
  engine::DumpOptions dump;
  dump.model = model;
  dump.inputs.dims = dims;
  dump.output_folder = folder.path() + "/dump";
  dump.overwrite = true;
  dump.check_outputs = false;
  OPDRIFT_TRY(const engine::ModelInputs inputs, engine::make_inputs(opened.graph, dump.inputs));
  OPDRIFT_TRY(const double plain, timed([&] { return run_plain(*runtime, model, inputs); }));
  engine::DumpReport report;
  OPDRIFT_TRY(const double dumped, timed([&]() -> Status {
                OPDRIFT_TRY(report, engine::dump_model(dump));
                return Unit{};
              }));
  OPDRIFT_TRY(const double written,
              timed([&] { return write_again(dump.output_folder, folder.path() + "/again"); }));
  diagnose::CheckOpOptions check;
  check.target = dump.output_folder;
  check.model = model;
  std::vector<double> runs;
  OPDRIFT_TRY(const double checked, timed([&]() -> Status {
                OPDRIFT_TRY(const diagnose::CheckOpResult result, diagnose::check_operators(check));
                runs.push_back(result.run_s);
                return Unit{};
              }));
  const double ran = median(std::move(runs));
  std::printf("| %s | %zu | %.0f | %.3f | %.3f | %.3f | %.2f | %.3f | %.2f | %.3f |\n",
              fs::path(model).stem().c_str(), report.operators,
              static_cast<double>(report.bytes) / 1e6, plain, written, dumped,
              (dumped - written) / plain, ran, ran / plain, checked);
  return Unit{};
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::uint64_t> dims;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t cut = word.rfind('=');
    const auto extent = cut == std::string::npos ? std::nullopt : parse_u64(word.substr(cut + 1));
    if (!extent) {
      std::fprintf(stderr, "run_costs: '%s': expected SYMBOL=N\n", word.c_str());
      return 2;
    }
    dims[word.substr(0, cut)] = *extent;
  }
  const Status status =
      argc < 2
          ? Status(Error{ErrorCode::invalid_argument, "usage: run_costs MODEL.onnx [SYMBOL=N]..."})
          : measure(argv[1], dims);
  if (!status) {
    std::fprintf(stderr, "run_costs: %s\n", status.error().to_string().c_str());
    return 2;
  }
  return 0;
}
