// What looking at a network costs beside running it once. One line of a table for
//
//   run_costs MODEL.onnx [SYMBOL=N]...
//
//   plain    open the model, unoptimised, and run it once for its outputs
//   write    write as many bytes to files of the dump's sizes, from one buffer
//   dump     `opdrift dump` without its check of the final outputs; wanted: 1.5 * plain + write
//   single   open and run all single operators of `opdrift check-op`; wanted: 3 * plain
//   rounded  the same for a dump whose values were rounded to fp16, so that none is as computed
//   check    all of check-op for that dump, without a golden, judging included; once
//
// Processor time of all threads, user and system, in seconds; the best of five rounds in which the
// parts take turns. New pages of memory cost more than most operators do, and what they cost
// depends on what ran before, hence the turns.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <vector>

#include "opdrift/base/temporary_folder.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/check_op/check_op.hpp"
#include "opdrift/diagnose/check_op/single_run.hpp"
#include "opdrift/engine/dump.hpp"

namespace {

using namespace opdrift;
namespace fs = std::filesystem;

constexpr int kRounds = 5;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double processor_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The best of all rounds.
struct Best {
  double value = std::numeric_limits<double>::infinity();

  Status add(const std::function<Status()>& work) {
    const double start = processor_time();
    OPDRIFT_CHECK_OK(work());
    value = std::min(value, processor_time() - start);
    return Unit{};
  }
};

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

std::vector<std::size_t> sizes_of(const std::string& dump) {
  std::vector<std::size_t> sizes;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(dump, problem)) {
    if (entry.path().extension() == ".npy") {
      sizes.push_back(static_cast<std::size_t>(entry.file_size(problem)));
    }
  }
  return sizes;
}

Status write_files(const std::vector<std::size_t>& sizes, const std::vector<std::byte>& buffer,
                   const std::string& folder) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string path = folder + "/" + std::to_string(i);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const bool written =
        file >= 0 && ::write(file, buffer.data(), sizes[i]) == static_cast<ssize_t>(sizes[i]);
    if (file >= 0) {
      ::close(file);
    }
    if (!written) {
      return Error{ErrorCode::write_failed, "cannot write", path};
    }
  }
  return Unit{};
}

/// Single operators of a network.
class Singles {
 public:
  static Result<Singles> prepare(const std::string& model, const std::string& dump) {
    Singles singles;
    OPDRIFT_TRY(singles.placed_.model, io::onnx::open_model(model));
    singles.placed_.folder = fs::path(model).parent_path().string();
    engine::name_nodes(singles.placed_.model);
    OPDRIFT_TRY(singles.target_, pipeline::index_dump(dump, verdict::RunSide::target, 1));
    singles.pieces_ = diagnose::cut_into_pieces(
        singles.placed_.model.graph,
        diagnose::target_values(singles.placed_.model.graph, singles.target_));
    return singles;
  }

  Status run(engine::Runtime& runtime) {
    std::vector<diagnose::Piece> pieces = pieces_;
    std::vector<std::string> notes;
    const diagnose::ElementTypes types = diagnose::element_types(placed_, runtime, notes);
    OPDRIFT_CHECK_OK(diagnose::run_pieces(placed_, pieces, target_, types, runtime, {}));
    return Unit{};
  }

 private:
  engine::PlacedModel placed_;
  pipeline::DumpIndex target_;
  std::vector<diagnose::Piece> pieces_;
};

class Bench {
 public:
  Bench(std::string model, std::map<std::string, std::uint64_t> dims, const std::string& folder)
      : model_(std::move(model)), folder_(folder) {
    dump_.model = model_;
    dump_.inputs.dims = std::move(dims);
    dump_.check_outputs = false;
  }

  Status run() {
    OPDRIFT_TRY(runtime_, engine::Runtime::load());
    OPDRIFT_TRY(const io::onnx::Model opened, io::onnx::open_model(model_));
    OPDRIFT_TRY(inputs_, engine::make_inputs(opened.graph, dump_.inputs));
    for (int round = 0; round < kRounds; ++round) {
      OPDRIFT_CHECK_OK(run_round());
    }
    OPDRIFT_CHECK_OK(check_once());
    print();
    return Unit{};
  }

 private:
  /// A new folder; the one that was made before the last one goes.
  std::string fresh() {
    std::error_code problem;
    if (folders_ >= 2) {
      fs::remove_all(folder_ + "/" + std::to_string(folders_ - 2), problem);
    }
    std::string made = folder_ + "/" + std::to_string(folders_++);
    fs::create_directories(made, problem);
    return made;
  }

  Status run_round() {
    OPDRIFT_CHECK_OK(plain_.add([&] { return run_plain(*runtime_, model_, inputs_); }));
    dump_.output_folder = fresh();
    OPDRIFT_CHECK_OK(dumped_.add([&] { return dump_to(engine::Precision::fp32); }));
    const std::vector<std::size_t> sizes = sizes_of(dump_.output_folder);
    const std::vector<std::byte> buffer(*std::max_element(sizes.begin(), sizes.end()),
                                        std::byte{1});
    const std::string again = fresh();
    OPDRIFT_CHECK_OK(written_.add([&] { return write_files(sizes, buffer, again); }));
    OPDRIFT_TRY(Singles equal, Singles::prepare(model_, dump_.output_folder));
    OPDRIFT_CHECK_OK(single_.add([&] { return equal.run(*runtime_); }));
    dump_.output_folder = fresh();
    OPDRIFT_CHECK_OK(dump_to(engine::Precision::fp16));
    OPDRIFT_TRY(Singles rounded, Singles::prepare(model_, dump_.output_folder));
    OPDRIFT_CHECK_OK(rounded_.add([&] { return rounded.run(*runtime_); }));
    return Unit{};
  }

  Status dump_to(engine::Precision precision) {
    dump_.precision = precision;
    OPDRIFT_TRY(const engine::DumpReport report, engine::dump_model(dump_));
    if (precision == engine::Precision::fp32) {
      operators_ = report.operators;
      bytes_ = report.bytes;
    }
    return Unit{};
  }

  Status check_once() {
    diagnose::CheckOpOptions check;
    check.target = dump_.output_folder;
    check.model = model_;
    return checked_.add([&]() -> Status {
      OPDRIFT_CHECK_OK(diagnose::check_operators(check));
      return Unit{};
    });
  }

  void print() const {
    std::printf(
        "| %s | %zu | %.0f | %.3f | %.3f | %.3f | %.2f | %.3f | %.2f | %.3f | %.2f | %.2f |\n",
        fs::path(model_).stem().c_str(), operators_, static_cast<double>(bytes_) / 1e6,
        plain_.value, written_.value, dumped_.value,
        (dumped_.value - written_.value) / plain_.value, single_.value,
        single_.value / plain_.value, rounded_.value, rounded_.value / plain_.value,
        checked_.value);
  }

  std::string model_;
  std::string folder_;
  engine::DumpOptions dump_;
  std::shared_ptr<engine::Runtime> runtime_;
  engine::ModelInputs inputs_;
  Best plain_;
  Best written_;
  Best dumped_;
  Best single_;
  Best rounded_;
  Best checked_;
  std::size_t operators_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t folders_ = 0;
};

Status measure(const std::string& model, const std::map<std::string, std::uint64_t>& dims) {
  OPDRIFT_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  return Bench(model, dims, folder.path()).run();
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
