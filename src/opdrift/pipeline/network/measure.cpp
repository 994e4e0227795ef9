#include "opdrift/pipeline/network/measure.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "opdrift/metrics/block_source.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/network/algorithm_values.hpp"
#include "opdrift/pipeline/network/align.hpp"
#include "opdrift/pipeline/network/open_row.hpp"

namespace opdrift::pipeline {

namespace {

using io::FileTensor;
using io::TensorRole;
using tensor::DType;

/// Groups are shared out among the threads. From this many elements on, a tensor has enough shards
/// to be measured by all of them together, and would be too much for one.
constexpr std::uint64_t kSpreadFromElements = 8 * metrics::kShardElements;
constexpr double kLargestHalf = 65504.0;

/// The jobs that share one golden tensor.
struct GoldenUnit {
  std::vector<std::size_t> jobs;
  std::uint64_t elements = 0;  ///< of all jobs
  std::uint64_t largest = 0;   ///< of one job
};

/// One job whose two sides were brought together.
struct Ready {
  std::size_t job = 0;
  Aligned aligned;
};

bool same_view(const tensor::View& one, const tensor::View& other) {
  const auto same_axis = [](const tensor::AxisMap& a, const tensor::AxisMap& b) {
    return a.extent == b.extent && a.inner == b.inner && a.outer_stride == b.outer_stride &&
           a.inner_stride == b.inner_stride;
  };
  return one.offset == other.offset && one.axes.size() == other.axes.size() &&
         std::equal(one.axes.begin(), one.axes.end(), other.axes.begin(), same_axis);
}

Error in_side(const std::string& side, const Error& error) {
  Error named = error;
  named.message = side + ": " + named.message;
  return named;
}

class Measurer {
 public:
  Measurer(NetworkPlan& plan, const NetworkInputs& inputs, const NetworkOptions& options)
      : plan_(plan),
        inputs_(inputs),
        options_(options),
        threads_(worker_count(options.jobs)),
        target_jobs_(inputs.target->folder().entries.size()) {
    measure_.kl_divergence = needs_divergence(options.algorithms);
    measure_.max_elements = options.max_elements;
    measure_.round_to_float32 = options.reference;
    measure_.cancel = options.cancel;
  }

  void run();

 private:
  std::vector<GoldenUnit> units();
  void run_unit(const GoldenUnit& unit, std::size_t threads);
  void fail(const std::vector<std::size_t>& jobs, const Error& error, RowState state);
  std::optional<Ready> prepare(std::size_t job, const tensor::Tensor& golden);
  void measure_group(std::vector<Ready>& ready, std::size_t threads);
  void fill(const Ready& ready, const metrics::Measurement& measurement);
  std::optional<bool> overflow_of(const Ready& ready,
                                  const metrics::Measurement& measurement) const;
  void count_done(const std::vector<std::size_t>& jobs);

  NetworkPlan& plan_;
  const NetworkInputs& inputs_;
  const NetworkOptions& options_;
  std::size_t threads_;
  metrics::MeasureOptions measure_;
  std::atomic<std::uint64_t> done_{0};
  std::vector<std::atomic<std::uint32_t>> target_jobs_;  // not yet done, by entry of the target
};

std::vector<GoldenUnit> Measurer::units() {
  std::unordered_map<std::string, std::size_t> places;
  std::vector<GoldenUnit> units;
  for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
    const RowJob& job = plan_.jobs[i];
    const std::string key = std::to_string(job.golden_entry) + (job.golden_output ? "o" : "i") +
                            std::to_string(job.golden_tensor);
    const auto [place, added] = places.try_emplace(key, units.size());
    if (added) {
      units.emplace_back();
    }
    units[place->second].jobs.push_back(i);
    ++target_jobs_[job.target_entry];
    const tensor::Shape& shape = plan_.rows[job.row].target.desc.shape;
    const std::uint64_t elements = tensor::element_count(shape).value_or(std::uint64_t{0});
    GoldenUnit& unit = units[place->second];
    unit.elements += elements;
    unit.largest = std::max(unit.largest, elements);
  }
  return units;
}

void Measurer::run() {
  plan_.measured.resize(options_.keep_peaks ? plan_.jobs.size() : 0);
  std::vector<GoldenUnit> all = units();
  const auto large = std::stable_partition(all.begin(), all.end(), [](const GoldenUnit& unit) {
    return unit.largest < kSpreadFromElements;
  });
  // Large ones first, so that no thread begins one when the others are done.
  std::stable_sort(all.begin(), large, [](const GoldenUnit& one, const GoldenUnit& other) {
    return one.elements > other.elements;
  });
  const std::size_t small = static_cast<std::size_t>(large - all.begin());
  parallel_for(
      small, threads_, [&](std::size_t i) { run_unit(all[i], 1); }, options_.cancel);
  for (auto unit = large; unit != all.end(); ++unit) {
    if (options_.cancel != nullptr && options_.cancel->cancelled()) {
      return;
    }
    run_unit(*unit, threads_);
  }
}

void Measurer::count_done(const std::vector<std::size_t>& jobs) {
  for (const std::size_t job : jobs) {
    const std::size_t entry = plan_.jobs[job].target_entry;
    if (--target_jobs_[entry] == 0) {
      inputs_.target->forget(entry);
    }
  }
  const std::uint64_t done = done_.fetch_add(jobs.size()) + jobs.size();
  if (options_.progress) {
    options_.progress(done, plan_.jobs.size());
  }
}

void Measurer::fail(const std::vector<std::size_t>& jobs, const Error& error, RowState state) {
  for (const std::size_t job : jobs) {
    NetworkRow& row = plan_.rows[plan_.jobs[job].row];
    row.state = state;
    row.reason = "[" + row.operator_name + "] " + error.to_string();
    row.reason_lost_by_reference = true;
  }
}

void Measurer::run_unit(const GoldenUnit& unit, std::size_t threads) {
  const RowJob& first = plan_.jobs[unit.jobs.front()];
  const auto opened = inputs_.golden->open(first.golden_entry);
  if (!opened.has_value()) {
    fail(unit.jobs, in_side("golden cannot be read", opened.error()), RowState::unreadable);
    count_done(unit.jobs);
    return;
  }
  const FileTensor* golden_tensor = find_tensor(
      **opened, first.golden_output ? TensorRole::output : TensorRole::input, first.golden_tensor);
  if (golden_tensor == nullptr) {
    fail(unit.jobs,
         Error{ErrorCode::out_of_range,
               "the golden dump has no output " + std::to_string(first.golden_tensor),
               (*opened)->dump.path},
         RowState::unmatched);
    count_done(unit.jobs);
    return;
  }
  const auto golden = load_tensor(**opened, *golden_tensor);
  if (!golden.has_value()) {
    fail(unit.jobs, in_side("golden cannot be read", golden.error()), RowState::unreadable);
    count_done(unit.jobs);
    return;
  }
  std::vector<Ready> ready;
  for (const std::size_t job : unit.jobs) {
    NetworkRow& row = plan_.rows[plan_.jobs[job].row];
    row.golden.desc = golden->desc;
    row.golden.known = true;
    if (std::optional<Ready> one = prepare(job, *golden)) {
      ready.push_back(*std::move(one));
    }
  }
  measure_group(ready, threads);
  count_done(unit.jobs);
}

std::optional<Ready> Measurer::prepare(std::size_t job_index, const tensor::Tensor& golden) {
  const RowJob& job = plan_.jobs[job_index];
  NetworkRow& row = plan_.rows[job.row];
  const auto opened = inputs_.target->open(job.target_entry);
  if (!opened.has_value()) {
    fail({job_index}, in_side("target cannot be read", opened.error()), RowState::unreadable);
    return std::nullopt;
  }
  const FileTensor* file_tensor =
      find_tensor(**opened, row.output ? TensorRole::output : TensorRole::input, row.tensor);
  if (file_tensor == nullptr) {
    fail({job_index}, Error{ErrorCode::io, "the target dump changed while it was compared"},
         RowState::unreadable);
    return std::nullopt;
  }
  const auto target = load_tensor(**opened, *file_tensor);
  if (!target.has_value()) {
    fail({job_index}, in_side("target cannot be read", target.error()), RowState::unreadable);
    return std::nullopt;
  }
  Result<Aligned> aligned = align_rows(*target, golden, align_request(inputs_, options_, job));
  if (!aligned.has_value()) {
    fail({job_index}, aligned.error(), RowState::misfit);
    return std::nullopt;
  }
  return Ready{job_index, std::move(*aligned)};
}

/// Jobs that see the golden in the same way are measured in one walk over it.
void Measurer::measure_group(std::vector<Ready>& ready, std::size_t threads) {
  metrics::MeasureOptions options = measure_;
  options.jobs = threads;
  while (!ready.empty()) {
    const tensor::View golden = ready.front().aligned.pair.golden;
    const auto others = std::stable_partition(
        ready.begin(), ready.end(),
        [&golden](const Ready& one) { return same_view(one.aligned.pair.golden, golden); });
    std::vector<tensor::View> targets;
    for (auto one = ready.begin(); one != others; ++one) {
      targets.push_back(one->aligned.pair.target);
    }
    std::vector<metrics::Peaks> peaks;
    options.peaks = options_.keep_peaks ? &peaks : nullptr;
    const auto results = metrics::measure_group(golden, targets, options);
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      plan_.measured[ready[i].job] = {std::move(peaks[i]), outline_of(ready[i].aligned.pair)};
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].has_value()) {
        fill(ready[i], *results[i]);
      } else if (results[i].error().code != ErrorCode::cancelled) {
        fail({ready[i].job}, results[i].error(), RowState::misfit);
      }
    }
    ready.erase(ready.begin(), others);
  }
}

std::optional<bool> Measurer::overflow_of(const Ready& ready,
                                          const metrics::Measurement& measurement) const {
  const tensor::View& target = ready.aligned.pair.target;
  if (!options_.overflow || target.tensor.desc.dtype != DType::f16) {
    return std::nullopt;
  }
  metrics::SideStats side = measurement.target;
  if (options_.max_elements != 0) {
    const auto whole = metrics::measure_side(target);
    side = whole.has_value() ? *whole : side;
  }
  return side.classes.positive_inf + side.classes.negative_inf > 0 ||
         (side.finite > 0 && side.max_abs() >= kLargestHalf);
}

void Measurer::fill(const Ready& ready, const metrics::Measurement& measurement) {
  NetworkRow& row = plan_.rows[plan_.jobs[ready.job].row];
  row.state = measurement.equal_bits == measurement.count ? RowState::equal : RowState::compared;
  row.compared_shape = ready.aligned.shown_shape;
  row.measurement = measurement;
  if (!ready.aligned.remark.empty()) {
    row.reason += (row.reason.empty() ? "" : ",") + ready.aligned.remark;
  }
  AlgorithmContext context;
  context.target_path = row.target.path;
  context.golden_path = row.golden.path;
  context.scalar = ready.aligned.scalar;
  context.reference = options_.reference;
  row.values = algorithm_values(options_.algorithms, measurement, context);
  row.overflow = overflow_of(ready, measurement);
}

}  // namespace

void measure_plan(NetworkPlan& plan, const NetworkInputs& inputs, const NetworkOptions& options) {
  Measurer(plan, inputs, options).run();
}

}  // namespace opdrift::pipeline
