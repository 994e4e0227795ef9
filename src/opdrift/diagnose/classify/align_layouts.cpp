#include <algorithm>
#include <array>

#include "opdrift/diagnose/classify/attempts.hpp"

namespace opdrift::diagnose::classify {

namespace {

/// An order of the last three axes and what it means.
struct Permutation {
  std::array<std::size_t, 3> order;
  const char* meaning;
};

constexpr Permutation kPermutations[] = {
    {{1, 2, 0}, "NHWC for NCHW"},
    {{2, 0, 1}, "NCHW for NHWC"},
    {{0, 2, 1}, "rows and columns exchanged, channels first"},
    {{1, 0, 2}, "rows and columns exchanged, channels last"},
};

/// The last three extents; leading ones of a matrix are 1.
std::array<std::size_t, 3> last_three(const tensor::Shape& shape) {
  std::array<std::size_t, 3> extent = {1, 1, 1};
  for (std::size_t i = 0; i < std::min<std::size_t>(3, shape.size()); ++i) {
    extent[2 - i] = static_cast<std::size_t>(shape[shape.size() - 1 - i]);
  }
  return extent;
}

/// Elements that lie in the order of `permutation` of the golden's axes, put into the golden's.
std::vector<double> undone(const std::vector<double>& device,
                           const std::array<std::size_t, 3>& golden,
                           const std::array<std::size_t, 3>& order) {
  const std::size_t block = golden[0] * golden[1] * golden[2];
  const std::array<std::size_t, 3> strides = {golden[1] * golden[2], golden[2], 1};
  std::vector<double> values(device.size());
  std::size_t at = 0;
  for (std::size_t start = 0; block > 0 && start + block <= device.size(); start += block) {
    for (std::size_t i = 0; i < golden[order[0]]; ++i) {
      for (std::size_t j = 0; j < golden[order[1]]; ++j) {
        for (std::size_t k = 0; k < golden[order[2]]; ++k) {
          values[start + i * strides[order[0]] + j * strides[order[1]] + k * strides[order[2]]] =
              device[at++];
        }
      }
    }
  }
  return values;
}

/// Exchanging axes of which one has extent 1 moves nothing.
bool moves(const std::array<std::size_t, 3>& extent, const std::array<std::size_t, 3>& order) {
  std::vector<std::size_t> kept;
  for (const std::size_t axis : order) {
    if (extent[axis] > 1) {
      kept.push_back(axis);
    }
  }
  return !std::is_sorted(kept.begin(), kept.end());
}

const char* layout_text(Layout golden, Layout device) {
  if (golden == device) {
    return "";
  }
  return device == Layout::nhwc ? "NHWC for NCHW" : "NCHW for NHWC";
}

}  // namespace

InputPair make_pair(Array golden, Array device) {
  InputPair pair;
  pair.golden_layout = guess_layout(golden.shape);
  const Layout device_layout = guess_layout(device.shape);
  pair.golden_image = image_of(golden, pair.golden_layout);
  pair.device_image = image_of(device, device_layout);
  pair.layout =
      pair.golden_image.channels() > 1 ? layout_text(pair.golden_layout, device_layout) : "";
  pair.golden = std::move(golden);
  pair.device = std::move(device);
  if (!pair.same_count()) {
    return pair;
  }
  // As stored, whatever the shapes say; then by every other order of axes.
  Array stored{pair.golden.shape, pair.device.values};
  pair.alignments.push_back({image_of(stored, pair.golden_layout), ""});
  const auto extent = last_three(pair.golden.shape);
  for (const Permutation& permutation : kPermutations) {
    if (moves(extent, permutation.order)) {
      stored.values = undone(pair.device.values, extent, permutation.order);
      pair.alignments.push_back({image_of(stored, pair.golden_layout), permutation.meaning});
    }
  }
  return pair;
}

}  // namespace opdrift::diagnose::classify
