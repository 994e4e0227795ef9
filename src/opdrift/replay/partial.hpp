#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/call.hpp"
#include "opdrift/replay/kind.hpp"

// A small operator that gives some elements of a large one: inputs gathered at the places which
// these elements need, attributes changed to fit.
//
//   element by element   y_p = f(x_p, ...), inputs broadcast; BatchNormalization with its channel
//   lines                whole rows of Softmax and of the layer normalisations
//   reductions           the reduced elements of every chosen place as one row
//   movement             reshapes, transposes, slices, borders, ...: the element that ends up there
//   windows              the elements under the window of a pooling or the taps of a resize

namespace opdrift::replay {

/// A position that no element of the input is copied to: `filler` stands there.
inline constexpr std::uint64_t kFiller = ~std::uint64_t{0};

/// Where one input of the small operator comes from.
struct PartialInput {
  bool present = false;
  std::size_t source = 0;                ///< input of the large operator
  std::vector<std::uint64_t> positions;  ///< its elements to gather, in order
  /// Sources per element where several inputs are mixed (Concat); empty: all from `source`.
  std::vector<std::uint32_t> sources;
  std::vector<double> literal;  ///< the values themselves, the same on both sides; then no source
  double filler = 0.0;
  tensor::Shape shape;  ///< of the gathered array
};

struct Partial {
  graph::Operator op;
  const OperatorKind* kind = nullptr;
  std::vector<PartialInput> inputs;
  std::vector<std::uint64_t> positions;  ///< elements of output 0 that it gives, in order
  std::size_t random = 0;                ///< the first so many come from the random choice
};

/// Plans the elements of output 0 at `random` and `chosen` positions (lines may give more, or take
/// fewer of them). The arrays of `call` need shapes only, except small ones that stand for
/// attributes. Nothing when the kind has no such plan or it would not be smaller.
std::optional<Partial> plan_partial(const OperatorKind& kind, const Call& call,
                                    const tensor::Shape& output,
                                    std::span<const std::uint64_t> random,
                                    std::span<const std::uint64_t> chosen);

}  // namespace opdrift::replay
