#include <algorithm>
#include <cmath>
#include <numeric>

#include "opdrift/replay/kinds/kinds.hpp"

// Unique: the different elements (or slices along an axis), where each stands first, which of them
// every element is, and how often each occurs. That of com.microsoft takes elements in the order in
// which they come, and says nothing of where they stand first.

namespace opdrift::replay {

namespace {

/// Slices of `length` elements that are compared as a whole.
struct Slices {
  Array x;  ///< one slice after the other
  std::size_t count = 0;
  std::size_t length = 1;

  int compare(std::size_t one, std::size_t other) const {
    const double* a = x.values.data() + one * length;
    const double* b = x.values.data() + other * length;
    for (std::size_t i = 0; i < length; ++i) {
      if (a[i] != b[i]) {
        return a[i] < b[i] ? -1 : 1;
      }
    }
    return 0;
  }
};

// The axis of the slices in front; its own inverse but for the order of the other axes.
std::vector<std::size_t> axis_first(std::size_t rank, std::size_t axis) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(axis),
              order.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  return order;
}

/// Groups of equal slices, in the order they are given out.
struct Groups {
  std::vector<std::size_t> first;  ///< per group, its first slice
  std::vector<double> member;      ///< per slice, its group
  std::vector<double> size;
};

Groups groups_of(const Slices& slices, bool sorted) {
  std::vector<std::size_t> order(slices.count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return slices.compare(one, other) < 0;
  });
  std::vector<std::size_t> leader(slices.count);
  Groups groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool opens = i == 0 || slices.compare(order[i - 1], order[i]) != 0;
    if (opens) {
      groups.first.push_back(order[i]);
    }
    leader[order[i]] = groups.first.back();
  }
  if (!sorted) {
    std::sort(groups.first.begin(), groups.first.end());
  }
  std::vector<std::size_t> place(slices.count);
  for (std::size_t group = 0; group < groups.first.size(); ++group) {
    place[groups.first[group]] = group;
  }
  groups.size.assign(groups.first.size(), 0.0);
  for (const std::size_t slice : leader) {
    groups.member.push_back(static_cast<double>(place[slice]));
    groups.size[place[slice]] += 1.0;
  }
  return groups;
}

Array as_integers(const std::vector<std::size_t>& values) {
  return vector_array({values.begin(), values.end()}, tensor::DType::i64);
}

}  // namespace

Result<Outputs> unique(const Call& call) {
  OPDRIFT_TRY(const Array* x, call.need(0, "X"));
  if (std::any_of(x->values.begin(), x->values.end(), [](double v) { return std::isnan(v); })) {
    return call.not_modelled("what is not a number differs from itself");
  }
  const auto given = call.integers({"axis"});
  Slices slices;
  slices.x = *x;
  std::size_t axis = 0;
  if (given && !given->empty()) {
    OPDRIFT_TRY(axis, normal_axis(given->front(), x->rank()));
    slices.x = transposed(*x, axis_first(x->rank(), axis));
    slices.count = x->shape[axis];
    slices.length = slices.count == 0 ? 1 : x->size() / slices.count;
  } else {
    slices.count = x->size();
    slices.x.shape = {x->size()};
  }
  const bool microsoft = call.op.domain == "com.microsoft";
  const Groups groups = groups_of(slices, !microsoft && call.integer({"sorted"}, 1) != 0);
  Array y;
  y.dtype = x->dtype;
  y.shape = slices.x.shape;
  y.shape[0] = groups.first.size();
  for (const std::size_t slice : groups.first) {
    const auto from = slices.x.values.begin() + static_cast<std::ptrdiff_t>(slice * slices.length);
    y.values.insert(y.values.end(), from, from + static_cast<std::ptrdiff_t>(slices.length));
  }
  std::vector<std::size_t> back(y.rank());
  const std::vector<std::size_t> order = axis_first(y.rank(), axis);
  for (std::size_t i = 0; i < order.size(); ++i) {
    back[order[i]] = i;
  }
  Outputs outputs = one_output(transposed(y, back));
  if (!microsoft) {
    outputs.push_back(as_integers(groups.first));
  }
  outputs.push_back(vector_array(groups.member, tensor::DType::i64));
  outputs.push_back(vector_array(groups.size, tensor::DType::i64));
  return outputs;
}

}  // namespace opdrift::replay
