#include <algorithm>

#include "opdrift/replay/kinds/sources.hpp"
#include "opdrift/replay/partial/plan.hpp"

namespace opdrift::replay::partial {

namespace {

// Calls at(index per axis) for every wanted position and gathers what it gives.
template <typename At>
std::optional<Partial> copies(const Request& request, const tensor::Shape& shape, At at) {
  std::vector<std::uint64_t> places;
  std::vector<std::uint64_t> index(shape.size());
  for (std::uint64_t position : request.all()) {
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      index[axis] = position % shape[axis];
      position /= shape[axis];
    }
    places.push_back(at(index));
  }
  return as_identity(request, gathered(0, std::move(places)));
}

}  // namespace

std::optional<Partial> plan_reshape(const Request& request) {
  const Array* x = request.call.input(0);
  if (x == nullptr || count_of(x->shape) != count_of(request.output)) {
    return std::nullopt;
  }
  return as_identity(request, gathered(0, request.all()));
}

std::optional<Partial> plan_transpose(const Request& request) {
  const Array* x = request.call.input(0);
  const auto given = request.call.integers({"perm"});
  if (x == nullptr || (request.call.input(1) != nullptr) ||
      (!given && request.call.has({"perm"}))) {
    return std::nullopt;
  }
  const std::size_t rank = x->shape.size();
  std::vector<std::size_t> order(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    order[axis] =
        given && axis < given->size() ? static_cast<std::size_t>((*given)[axis]) : rank - 1 - axis;
  }
  const Strides own = strides_of(x->shape);
  Strides strides;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (order[axis] >= rank || x->shape[order[axis]] != request.output[axis]) {
      return std::nullopt;
    }
    strides.push_back(own[order[axis]]);
  }
  std::vector<std::uint64_t> places;
  for (std::uint64_t position : request.all()) {
    std::uint64_t at = 0;
    for (std::size_t axis = rank; axis-- > 0;) {
      at += position % request.output[axis] * static_cast<std::uint64_t>(strides[axis]);
      position /= request.output[axis];
    }
    places.push_back(at);
  }
  return as_identity(request, gathered(0, std::move(places)));
}

std::optional<Partial> plan_concat(const Request& request) {
  const Result<std::size_t> axis =
      normal_axis(request.call.integer({"axis", "concat_dim", "dim"}, 1), request.output.size());
  if (!axis || request.call.op.type != "Concat" || !request.call.has({"axis"})) {
    return std::nullopt;
  }
  const AxisSplit split = split_at(request.output, *axis);
  std::vector<std::uint64_t> starts = {0};
  for (const Array* array : request.call.inputs) {
    if (array == nullptr || array->shape.size() != request.output.size()) {
      return std::nullopt;
    }
    starts.push_back(starts.back() + array->shape[*axis]);
  }
  if (starts.back() != split.extent) {
    return std::nullopt;
  }
  PartialInput input;
  input.present = true;
  for (const std::uint64_t position : request.all()) {
    const std::uint64_t along = position / split.inner % split.extent;
    const auto after = std::upper_bound(starts.begin(), starts.end(), along);
    const auto source = static_cast<std::size_t>(after - starts.begin() - 1);
    const std::uint64_t extent = starts[source + 1] - starts[source];
    input.sources.push_back(static_cast<std::uint32_t>(source));
    input.positions.push_back(
        (position / split.inner / split.extent * extent + along - starts[source]) * split.inner +
        position % split.inner);
  }
  input.shape = {input.positions.size()};
  return as_identity(request, std::move(input));
}

std::optional<Partial> plan_expand(const Request& request) {
  const Array* x = request.call.input(0);
  if (x == nullptr) {
    return std::nullopt;
  }
  auto places = broadcast_positions(request.all(), x->shape, request.output);
  return places ? as_identity(request, gathered(0, std::move(*places))) : std::nullopt;
}

std::optional<Partial> plan_tile(const Request& request) {
  const Array* x = request.call.input(0);
  const std::size_t rank = request.output.size();
  if (x == nullptr || x->shape.size() > rank) {
    return std::nullopt;
  }
  const std::size_t missing = rank - x->shape.size();
  for (std::size_t axis = missing; axis < rank; ++axis) {
    const std::uint64_t extent = x->shape[axis - missing];
    if (extent == 0 || request.output[axis] % extent != 0) {
      return std::nullopt;
    }
  }
  const Strides strides = strides_of(x->shape);
  return copies(request, request.output, [&](const std::vector<std::uint64_t>& index) {
    std::uint64_t at = 0;
    for (std::size_t axis = missing; axis < rank; ++axis) {
      at += index[axis] % x->shape[axis - missing] *
            static_cast<std::uint64_t>(strides[axis - missing]);
    }
    return at;
  });
}

std::optional<Partial> plan_slice(const Request& request) {
  const Array* x = request.call.input(0);
  const Result<std::vector<Cut>> cuts = slice_cuts(request.call);
  if (!cuts || x == nullptr || cuts->size() != request.output.size()) {
    return std::nullopt;
  }
  for (std::size_t axis = 0; axis < cuts->size(); ++axis) {
    if ((*cuts)[axis].count != request.output[axis]) {
      return std::nullopt;
    }
  }
  const Strides strides = strides_of(x->shape);
  return copies(request, request.output, [&](const std::vector<std::uint64_t>& index) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      const Cut& cut = (*cuts)[axis];
      at += (cut.start + static_cast<std::int64_t>(index[axis]) * cut.step) * strides[axis];
    }
    return static_cast<std::uint64_t>(at);
  });
}

std::optional<Partial> plan_pad(const Request& request) {
  const Array* x = request.call.input(0);
  const Result<Padding> padding = padding_of(request.call);
  if (!padding || x == nullptr || padding->shape != request.output) {
    return std::nullopt;
  }
  const Strides strides = strides_of(x->shape);
  std::optional<Partial> partial =
      copies(request, request.output, [&](const std::vector<std::uint64_t>& index) {
        std::int64_t at = 0;
        for (std::size_t axis = 0; axis < index.size(); ++axis) {
          const std::int64_t from =
              padded_index(static_cast<std::int64_t>(index[axis]) - padding->widths[axis],
                           static_cast<std::int64_t>(x->shape[axis]), padding->mode);
          if (from == kFill) {
            return kFiller;
          }
          at += from * strides[axis];
        }
        return static_cast<std::uint64_t>(at);
      });
  if (partial) {
    partial->inputs.front().filler = padding->filler;
  }
  return partial;
}

namespace {

/// Extents of the image made of blocks; block 0 when they do not fit.
struct Blocks {
  std::uint64_t block = 0;
  std::uint64_t channels = 0;
  std::uint64_t height = 0;  ///< in blocks
  std::uint64_t width = 0;
};

// `deep` has the blocks as channels, `wide` as places.
Blocks blocks_between(const Call& call, const tensor::Shape& deep, const tensor::Shape& wide) {
  const std::int64_t given = call.integer({"blocksize", "block_size", "upscale_factor"}, 0);
  if (deep.size() != 4 || wide.size() != 4 || given < 1 || given > (1 << 20)) {
    return {};
  }
  const auto block = static_cast<std::uint64_t>(given);
  const tensor::Shape expected = {deep[0], deep[1] / (block * block), deep[2] * block,
                                  deep[3] * block};
  return wide == expected ? Blocks{block, wide[1], deep[2], deep[3]} : Blocks{};
}

}  // namespace

std::optional<Partial> plan_depth_to_space(const Request& request) {
  const Array* x = request.call.input(0);
  const Blocks b = x == nullptr ? Blocks{} : blocks_between(request.call, x->shape, request.output);
  if (b.block == 0) {
    return std::nullopt;
  }
  const bool shuffled = request.call.op.type == "PixelShuffle";
  const bool crd = request.call.text({"mode"}, shuffled ? "CRD" : "DCR") == "CRD";
  return copies(request, request.output, [&](const std::vector<std::uint64_t>& index) {
    const std::uint64_t place = index[2] % b.block * b.block + index[3] % b.block;
    const std::uint64_t channel =
        crd ? index[1] * b.block * b.block + place : place * b.channels + index[1];
    const std::uint64_t deep = index[0] * b.channels * b.block * b.block + channel;
    return (deep * b.height + index[2] / b.block) * b.width + index[3] / b.block;
  });
}

std::optional<Partial> plan_space_to_depth(const Request& request) {
  const Array* x = request.call.input(0);
  const Blocks b = x == nullptr ? Blocks{} : blocks_between(request.call, request.output, x->shape);
  if (b.block == 0) {
    return std::nullopt;
  }
  return copies(request, request.output, [&](const std::vector<std::uint64_t>& index) {
    const std::uint64_t place = index[1] / b.channels;
    const std::uint64_t row = index[2] * b.block + place / b.block;
    const std::uint64_t column = index[3] * b.block + place % b.block;
    const std::uint64_t channel = index[0] * b.channels + index[1] % b.channels;
    return (channel * b.height * b.block + row) * b.width * b.block + column;
  });
}

}  // namespace opdrift::replay::partial
