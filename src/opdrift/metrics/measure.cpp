#include "opdrift/metrics/measure.hpp"

#include <algorithm>
#include <string>

#include "opdrift/metrics/block_source.hpp"
#include "opdrift/metrics/kl.hpp"
#include "opdrift/metrics/pair_meter.hpp"
#include "opdrift/metrics/resident.hpp"
#include "opdrift/metrics/side_reader.hpp"

namespace opdrift::metrics {

namespace {

using tensor::DType;
using tensor::View;

bool is_complex(const View& view) {
  return tensor::info(view.tensor.desc.dtype).kind == tensor::DTypeKind::complex;
}

Status check_decodable(const View& view, std::string_view side) {
  const tensor::DTypeInfo& row = tensor::info(view.tensor.desc.dtype);
  if (!row.decodable) {
    return Error{ErrorCode::unsupported_dtype, "expected numbers in the " + std::string(side) +
                                                   " tensor, found elements of type " +
                                                   std::string(row.name)};
  }
  return Unit{};
}

const kernels::Level& level_for(const MeasureOptions& options) {
  return options.cpu_level.empty() ? kernels::default_level()
                                   : kernels::choose_level(options.cpu_level);
}

Precision precision_for(const View& golden, const View& target, const MeasureOptions& options) {
  Precision precision;
  precision.rounded_to_float32 = options.round_to_float32;
  const bool narrow = options.round_to_float32 || (fits_float(golden.tensor.desc.dtype) &&
                                                   fits_float(target.tensor.desc.dtype));
  precision.table = level_for(options).table;
  precision.wide = !narrow;
  return precision;
}

Error cancelled() {
  return Error{ErrorCode::cancelled, "comparison interrupted"};
}

bool is_cancelled(const MeasureOptions& options) {
  return options.cancel != nullptr && options.cancel->cancelled();
}

/// Walks all shards with sinks made by `make(target)`, then joins them in shard order. One joined
/// sink per target.
template <typename Sink, typename Make>
std::vector<Sink> run(const BlockSource& source, std::size_t targets, const MeasureOptions& options,
                      Make make) {
  std::vector<Sink> joined;
  for (std::size_t i = 0; i < targets; ++i) {
    joined.push_back(make(i));
  }
  std::vector<std::vector<Sink>> shards(source.shard_count(), joined);
  const auto body = [&](std::size_t shard) {
    std::vector<BlockSink*> sinks;
    for (Sink& sink : shards[shard]) {
      sinks.push_back(&sink);
    }
    source.walk(shard, sinks);
  };
  parallel_for(shards.size(), options.jobs, body, options.cancel);
  for (const std::vector<Sink>& shard : shards) {
    for (std::size_t i = 0; i < targets; ++i) {
      joined[i].merge(shard[i]);
    }
  }
  return joined;
}

double measure_kl(const View& golden, const View& target, const Precision& precision,
                  const MeasureOptions& options, const Measurement& measured) {
  const auto map = kl_map(measured);
  if (!map) {
    return kNan;
  }
  const View* const only = &target;
  const BlockSource source(golden, {&only, 1}, precision, options.max_elements);
  const auto meters =
      run<KlMeter>(source, 1, options, [&](std::size_t) { return KlMeter(*map, precision.table); });
  return meters.front().divergence();
}

/// Positions of complex tensors count reals until here.
void point_at_elements(Measurement& measured) {
  for (Worst* worst : {&measured.max_abs, &measured.max_scaled}) {
    worst->index = worst->index == kNoIndex ? kNoIndex : worst->index / 2;
  }
}

/// Measures targets that passed the checks and can share one walk.
/// `places` are theirs among all targets.
std::vector<Result<Measurement>> measure_alike(const View& mapped_golden,
                                               const std::vector<const View*>& mapped_targets,
                                               const std::vector<std::size_t>& places,
                                               const Precision& precision,
                                               const MeasureOptions& options) {
  const std::vector<View> views =
      resident_views(mapped_golden, mapped_targets, options.max_elements);
  const View& golden = views.front();
  std::vector<const View*> targets;
  for (std::size_t i = 1; i < views.size(); ++i) {
    targets.push_back(&views[i]);
  }
  const BlockSource source(golden, targets, precision, options.max_elements);
  const auto meters = run<PairMeter>(source, targets.size(), options, [&](std::size_t i) {
    return PairMeter(golden.tensor.desc.dtype, targets[i]->tensor.desc.dtype, precision.table,
                     options.ulp_histogram, options.peaks != nullptr);
  });
  std::vector<Result<Measurement>> results;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Measurement measured = meters[i].result();
    if (options.peaks != nullptr && !is_complex(golden)) {
      (*options.peaks)[places[i]] = meters[i].peaks(source.count());
    }
    if (options.kl_divergence && !is_cancelled(options)) {
      measured.kl_divergence = measure_kl(golden, *targets[i], precision, options, measured);
    }
    if (is_complex(golden)) {
      point_at_elements(measured);
    }
    results.emplace_back(measured);
  }
  if (is_cancelled(options)) {
    results.assign(targets.size(), cancelled());
  }
  return results;
}

/// Targets of a group that share a walk, as positions in the group.
struct Party {
  Precision precision;
  bool shares = false;
  std::vector<std::size_t> members;
};

std::vector<Party> parties_of(const View& golden, std::span<const View> targets,
                              const MeasureOptions& options,
                              std::vector<Result<Measurement>>& results) {
  std::vector<Party> parties;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (const Status status = check_pair(golden, targets[i]); !status) {
      results[i] = status.error();
      continue;
    }
    const Precision precision = precision_for(golden, targets[i], options);
    const bool shares = BlockSource::tiles_agree(golden, targets[i]);
    const auto party = std::find_if(parties.begin(), parties.end(), [&](const Party& p) {
      return shares && p.shares && p.precision.wide == precision.wide;
    });
    if (party == parties.end()) {
      parties.push_back({precision, shares, {i}});
    } else {
      party->members.push_back(i);
    }
  }
  return parties;
}

}  // namespace

Status check_pair(const View& golden, const View& target) {
  OPDRIFT_CHECK_OK(check_decodable(golden, "golden"));
  OPDRIFT_CHECK_OK(check_decodable(target, "target"));
  if (golden.count() != target.count()) {
    return Error{ErrorCode::mismatch, "expected " + std::to_string(golden.count()) +
                                          " elements as in the golden, found " +
                                          std::to_string(target.count())};
  }
  if (is_complex(golden) != is_complex(target)) {
    return Error{ErrorCode::mismatch, "expected two real or two complex tensors, found " +
                                          std::string(name_of(golden.tensor.desc.dtype)) + " and " +
                                          std::string(name_of(target.tensor.desc.dtype))};
  }
  return Unit{};
}

std::vector<Result<Measurement>> measure_group(const View& golden, std::span<const View> targets,
                                               const MeasureOptions& options) {
  std::vector<Result<Measurement>> results(targets.size(), Measurement{});
  if (options.peaks != nullptr) {
    options.peaks->assign(targets.size(), {});
  }
  for (const Party& party : parties_of(golden, targets, options, results)) {
    std::vector<const View*> views;
    for (const std::size_t i : party.members) {
      views.push_back(&targets[i]);
    }
    std::vector<Result<Measurement>> measured =
        measure_alike(golden, views, party.members, party.precision, options);
    for (std::size_t k = 0; k < measured.size(); ++k) {
      results[party.members[k]] = std::move(measured[k]);
    }
  }
  return results;
}

Result<Measurement> measure(const View& golden, const View& target, const MeasureOptions& options) {
  return measure_group(golden, {&target, 1}, options).front();
}

Result<SideStats> measure_side(const View& view, const MeasureOptions& options) {
  MeasureOptions single = options;
  single.kl_divergence = false;
  single.ulp_histogram = false;
  OPDRIFT_TRY(const Measurement measured, measure(view, view, single));
  return measured.golden;
}

}  // namespace opdrift::metrics
