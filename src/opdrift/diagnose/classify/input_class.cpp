#include "opdrift/diagnose/classify/input_class.hpp"

#include <algorithm>
#include <iterator>

#include "opdrift/diagnose/classify/attempts.hpp"

namespace opdrift::diagnose::classify {

namespace {

constexpr Test kTests[] = {
    &try_equal,       &try_shape,  &try_layout, &try_swap,   &try_affine,
    &try_swap_affine, &try_offset, &try_cast,   &try_resize, &try_missing,
};

struct KindName {
  InputKind kind;
  std::string_view name;
};
constexpr KindName kNames[] = {
    {InputKind::equal, "equal"},
    {InputKind::cast, "dtype cast"},
    {InputKind::shape, "shape"},
    {InputKind::layout, "layout"},
    {InputKind::swap, "RGB/BGR swap"},
    {InputKind::scaling, "scaling"},
    {InputKind::mean, "mean"},
    {InputKind::variance, "variance"},
    {InputKind::mean_variance, "mean and variance"},
    {InputKind::crop, "crop"},
    {InputKind::pad, "pad"},
    {InputKind::shift, "shift"},
    {InputKind::resize, "resize"},
    {InputKind::missing, "missing input"},
    {InputKind::different, "different data"},
};

}  // namespace

std::string_view to_string(InputKind kind) {
  const auto* const found = std::find_if(std::begin(kNames), std::end(kNames),
                                         [&](const KindName& one) { return one.kind == kind; });
  return found == std::end(kNames) ? "different data" : found->name;
}

Result<InputClass> classify_input(const tensor::View& golden, const tensor::View& device) {
  OPDRIFT_TRY(Array golden_array, load_array(golden));
  OPDRIFT_TRY(Array device_array, load_array(device));
  const InputPair pair = make_pair(std::move(golden_array), std::move(device_array));
  Attempts attempts;
  std::size_t looked_at = 0;
  for (const Test test : kTests) {
    test(pair, attempts);
    for (; looked_at < attempts.size(); ++looked_at) {
      if (attempts[looked_at].accepted) {
        return attempts[looked_at].found;
      }
    }
  }
  InputClass different;
  different.finding = "different data";
  const auto closest = std::max_element(
      attempts.begin(), attempts.end(),
      [](const Attempt& a, const Attempt& b) { return b.found.like.closer_than(a.found.like); });
  if (closest != attempts.end()) {
    different.like = closest->found.like;
    different.closest = closest->found.finding;
  }
  return different;
}

}  // namespace opdrift::diagnose::classify
