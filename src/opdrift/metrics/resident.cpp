#include "opdrift/metrics/resident.hpp"

#include <algorithm>

#include "opdrift/base/mapped_read.hpp"

namespace opdrift::metrics {

namespace {

using tensor::View;

/// Bytes worth reading, 0 when none are: most of the tensor will be looked at.
std::uint64_t worth_reading(const View& view, std::uint64_t elements) {
  const std::uint64_t bytes = view.tensor.bytes.size();
  const std::uint64_t wanted = elements == 0 ? view.count() : std::min(elements, view.count());
  const auto needed = tensor::storage_bytes(view.tensor.desc.dtype, wanted);
  const bool most = needed.has_value() && *needed >= bytes / 2;
  return most && bytes >= kReadFromBytes ? bytes : 0;
}

}  // namespace

std::vector<View> resident_views(const View& golden, const std::vector<const View*>& targets,
                                 std::uint64_t elements) {
  std::vector<View> views = {golden};
  for (const View* target : targets) {
    views.push_back(*target);
  }
  std::uint64_t total = 0;
  for (const View& view : views) {
    total += worth_reading(view, elements);
  }
  if (total > kReadUpToBytes) {
    return views;
  }
  for (View& view : views) {
    if (worth_reading(view, elements) != 0) {
      view.tensor.bytes = read_mapped(view.tensor.bytes).value_or(view.tensor.bytes);
    }
  }
  return views;
}

}  // namespace opdrift::metrics
