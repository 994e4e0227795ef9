#pragma once

#include <cstdint>
#include <vector>

#include "opdrift/tensor/view.hpp"

namespace opdrift::metrics {

/// Below this many bytes a mapping is as good as a read.
inline constexpr std::uint64_t kReadFromBytes = std::uint64_t{128} << 10;
/// Above this many bytes a tensor is not read as a whole, so that memory stays bounded: per call
/// and thread this much for all sides together.
inline constexpr std::uint64_t kReadUpToBytes = std::uint64_t{48} << 20;

/// The views, golden first, with their bytes read into memory where they lie in mapped files (see
/// base/mapped_read.hpp). Views of small tensors, of tensors that are too large together, and those
/// of which only the first `elements` of many are wanted stay as they are. 0: all elements.
std::vector<tensor::View> resident_views(const tensor::View& golden,
                                         const std::vector<const tensor::View*>& targets,
                                         std::uint64_t elements);

}  // namespace opdrift::metrics
