#include "opdrift/verdict/explain/evidence.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/verdict/explain/bad_map.hpp"
#include "opdrift/verdict/explain/profile.hpp"
#include "opdrift/verdict/explain/sample.hpp"

namespace opdrift::verdict::refit {

namespace {

constexpr std::uint64_t kShard = std::uint64_t{1} << 22;
constexpr std::uint64_t kMostShards = 8;

}  // namespace

double Evidence::most_sigmas() const {
  if (sigma == nullptr || !*sigma) {
    return 4.0;
  }
  return 4.0 + std::sqrt(2.0 * std::log(static_cast<double>(std::max<std::uint64_t>(count(), 2))));
}

void Evidence::variance(std::uint64_t first, std::size_t count, const double* larger,
                        double* out) const {
  if (sigma != nullptr && *sigma) {
    (*sigma)(first, count, out);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] *= out[i];
    }
    return;
  }
  const double factor = sides / 12.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double step = ulp(larger[i], format);
    out[i] = step * step * factor;
  }
}

std::size_t shard_count(std::uint64_t count) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(count / kShard, 1, kMostShards));
}

Status for_shards(const Evidence& evidence,
                  const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& body) {
  const std::uint64_t chunk = std::max<std::uint64_t>(evidence.profile.chunk, kTile);
  const std::size_t shards = shard_count(evidence.count());
  const std::uint64_t chunks = (evidence.count() + chunk - 1) / chunk;
  const std::uint64_t per_shard = (chunks + shards - 1) / shards * chunk;
  parallel_for(
      shards, evidence.jobs,
      [&](std::size_t shard) {
        const std::uint64_t first = std::min(evidence.count(), shard * per_shard);
        const std::uint64_t end = std::min(evidence.count(), first + per_shard);
        for (std::uint64_t at = first; at < end; at += chunk) {
          if (evidence.cancel != nullptr && evidence.cancel->cancelled()) {
            return;
          }
          body(shard, at, std::min(end, at + chunk));
        }
      },
      evidence.cancel);
  if (evidence.cancel != nullptr && evidence.cancel->cancelled()) {
    return Error{ErrorCode::cancelled, "the search for an explanation was interrupted"};
  }
  return Unit{};
}

Status gather_evidence(Evidence& evidence) {
  OPDRIFT_CHECK_OK(take_profile(evidence));
  draw_sample(evidence);
  return map_bad_elements(evidence);
}

}  // namespace opdrift::verdict::refit
