#include "opdrift/pipeline/row_meter.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

namespace opdrift::pipeline {

namespace {

/// From this many elements on, one pair is spread over all threads instead of being one's work.
constexpr std::uint64_t kSpreadFromElements = std::uint64_t{1} << 23;

Result<TensorSummary> summary_of(const IndexedTensor& indexed) {
  if (indexed.summary && !indexed.problem) {
    return *indexed.summary;
  }
  OPDRIFT_TRY(const tensor::Tensor tensor, load(indexed));
  OPDRIFT_TRY(const tensor::View view, tensor::stored_view(tensor));
  return summarise(view);
}

/// What `work` returns. Running out of memory ends the row, which was claimed and must not be lost.
template <typename Work>
auto within_memory(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "not enough memory to compare the tensors"};
  }
}

/// Whether its logical order is that of its shape.
bool is_plain(const IndexedTensor& indexed) {
  return !indexed.problem && !indexed.summary && !is_blocked(indexed.desc.format);
}

}  // namespace

OutlinedPair outline_of(const AlignedPair& pair) {
  return {{pair.golden.tensor.desc.dtype, pair.golden.shape()},
          {pair.target.tensor.desc.dtype, pair.target.shape()}};
}

RowMeter::RowMeter(const std::vector<RowSources>& sources, const Pairing& pairing,
                   const CompareOptions& options, std::vector<verdict::TensorResult>& rows)
    : sources_(sources),
      pairing_(pairing),
      options_(options),
      rows_(rows),
      claimed_(sources.size()),
      failures_(sources.size()),
      peaks_(sources.size()) {}

void RowMeter::measure_all() {
  std::vector<std::size_t> rows(sources_.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto large = std::stable_partition(rows.begin(), rows.end(), [&](std::size_t row) {
    const IndexedTensor& golden = *sources_[row].golden;
    return golden.summary == nullptr &&
           tensor::element_count(golden.desc.shape).value_or(0U) >= kSpreadFromElements;
  });
  for (auto row = rows.begin(); row != large; ++row) {
    measure_row(*row, worker_count(options_.jobs));
  }
  parallel_for(
      static_cast<std::size_t>(rows.end() - large), options_.jobs,
      [&](std::size_t i) { measure_row(*(large + static_cast<std::ptrdiff_t>(i)), 1); },
      options_.cancel);
}

void RowMeter::measure_row(std::size_t row, std::size_t jobs) {
  if (!cancelled() && claim(row)) {
    settle(row, within_memory([&] { return try_row(row, jobs); }));
  }
}

void RowMeter::settle(std::size_t row, const Status& measured) {
  if (!measured) {
    failures_[row] = measured.error().code;
    rows_[row].reason = measured.error().to_string();
  }
  const std::uint64_t bytes = sources_[row].golden->size_bytes + sources_[row].target->size_bytes;
  const std::uint64_t all_bytes = bytes_.fetch_add(bytes) + bytes;
  const std::uint64_t done = done_.fetch_add(1) + 1;
  if (options_.progress) {
    options_.progress(done, sources_.size(), all_bytes);
  }
}

Result<AlignedPair> RowMeter::bring_in(std::size_t row) const {
  OPDRIFT_TRY(const tensor::Tensor golden, load(*sources_[row].golden));
  OPDRIFT_TRY(const tensor::Tensor target, load(*sources_[row].target));
  OPDRIFT_TRY(AlignedPair pair, align_pair(golden, target));
  keep_rows(pairing_.pairs[sources_[row].pair].rows, pair);
  return pair;
}

Result<OutlinedPair> RowMeter::outline(std::size_t row) const {
  const IndexedTensor& golden = *sources_[row].golden;
  const IndexedTensor& target = *sources_[row].target;
  const bool plain = is_plain(golden) && is_plain(target) &&
                     golden.desc.shape == target.desc.shape &&
                     golden.desc.format == target.desc.format &&
                     pairing_.pairs[sources_[row].pair].rows == kAllRows;
  if (plain) {
    return OutlinedPair{{golden.desc.dtype, golden.desc.shape},
                        {target.desc.dtype, target.desc.shape}};
  }
  OPDRIFT_TRY(const AlignedPair pair, bring_in(row));
  return outline_of(pair);
}

Result<AlignedPair> RowMeter::open(std::size_t row) {
  const bool first = !cancelled() && claim(row);
  Result<AlignedPair> opened = within_memory([&]() -> Result<AlignedPair> {
    OPDRIFT_TRY(AlignedPair pair, bring_in(row));
    read_in(pair);
    return pair;
  });
  if (first) {
    settle(row, opened ? within_memory([&] { return try_pair(row, *opened, 1); })
                       : Status(opened.error()));
  }
  return opened;
}

verdict::MeasuredValue RowMeter::measured(std::size_t row) const {
  if (!rows_[row].measurement || rows_[row].statistics_only) {
    return {};
  }
  return {&*rows_[row].measurement, peaks_[row]};
}

Status RowMeter::try_row(std::size_t row, std::size_t jobs) {
  if (rows_[row].statistics_only) {
    return try_statistics(row);
  }
  OPDRIFT_TRY(const AlignedPair pair, bring_in(row));
  return try_pair(row, pair, jobs);
}

Status RowMeter::try_pair(std::size_t row, const AlignedPair& pair, std::size_t jobs) {
  verdict::TensorResult& result = rows_[row];
  if (const std::uint64_t rows = pairing_.pairs[sources_[row].pair].rows; rows != kAllRows) {
    result.rule += ", the first " + std::to_string(rows) + " rows";
  }
  result.golden_shape = pair.golden.shape();
  result.target_shape = pair.target.shape();
  result.rule += pair.permuted ? ", axes reordered" : "";
  std::vector<metrics::Peaks> peaks;
  OPDRIFT_TRY(const metrics::Measurement measurement,
              metrics::measure(
                  pair.golden, pair.target,
                  {.kl_divergence = options_.kl_divergence || options_.metrics.needs_divergence(),
                   .max_elements = options_.max_elements,
                   .jobs = jobs,
                   .cancel = options_.cancel,
                   .peaks = keeps_peaks_ ? &peaks : nullptr}));
  peaks_[row] = peaks.empty() ? metrics::Peaks{} : std::move(peaks.front());
  OPDRIFT_TRY(result.metric_values,
              plugin_values(options_.metrics, pair.golden, pair.target,
                            {.max_elements = options_.max_elements, .cancel = options_.cancel}));
  if (options_.profile || options_.gates.allclose) {
    OPDRIFT_TRY(result.profile,
                verdict::profile_errors(pair.golden, pair.target, jobs, options_.cancel));
  }
  const verdict::GateOutcome outcome =
      verdict::apply(options_.gates, measurement, result.profile ? &*result.profile : nullptr);
  result.passed = outcome.passed;
  result.reason = outcome.reason;
  result.measurement = measurement;
  return Unit{};
}

/// At least one side was not kept: what is known of both is compared.
Status RowMeter::try_statistics(std::size_t row) {
  OPDRIFT_TRY(const TensorSummary golden, summary_of(*sources_[row].golden));
  OPDRIFT_TRY(const TensorSummary target, summary_of(*sources_[row].target));
  OPDRIFT_TRY(SummaryComparison compared, compare_summaries(golden, target, options_.gates));
  verdict::TensorResult& result = rows_[row];
  result.passed = compared.passed;
  result.reason = std::move(compared.reason);
  result.measurement = compared.measurement;
  return Unit{};
}

}  // namespace opdrift::pipeline
