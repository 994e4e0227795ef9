#include "opdrift/replay/kinds/ascend/attention_masks.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/replay/walk.hpp"

namespace opdrift::replay {

namespace {

constexpr AttentionForm kPrompt = {
    .query_lengths = 5, .key_lengths = 6, .first_coding = 7, .next_tokens = 0};
constexpr AttentionForm kIncrement = {.key_lengths = 5, .first_coding = 6, .banded = false};
constexpr AttentionForm kInference = {
    .query_lengths = 5, .key_lengths = 6, .first_coding = 7, .scale = "scale"};
constexpr AttentionForm kTraining = {
    .mask = 6, .first_coding = 7, .heads = "head_num", .training = true};

}  // namespace

const AttentionForm& attention_form(const std::string& type) {
  return type == "PromptFlashAttention"  ? kPrompt
         : type == "IncreFlashAttention" ? kIncrement
         : type == "FlashAttentionScore" ? kTraining
                                         : kInference;
}

Result<Band> band_of(const Call& call, const AttentionForm& form, const Heads& heads) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  const auto queries = static_cast<std::int64_t>(heads.q.shape[2]);
  const auto keys = static_cast<std::int64_t>(heads.k.shape[2]);
  const std::int64_t mode = call.integer({"sparse_mode"}, 0);
  const std::int64_t before = call.integer({"pre_tockens", "pre_tokens"}, kFar);
  const std::int64_t after = call.integer({"next_tockens", "next_tokens"}, form.next_tokens);
  Band band;
  band.before = std::clamp<std::int64_t>(mode == 2 || mode == 3 ? kFar : before, -kFar, kFar);
  band.after = std::clamp<std::int64_t>(mode == 2 || mode == 3 ? 0 : after, -kFar, kFar);
  band.bound = mode == 2 || mode == 3 || mode == 4 ||
               (mode == 0 && call.input(form.mask) != nullptr && form.banded);
  band.shift = mode == 3 || mode == 4 ? keys - queries : 0;
  if (mode < 0 || mode > 4) {
    return call.not_modelled("sparse mode " + std::to_string(mode));
  }
  const bool binds = band.before < queries || band.after < keys;
  if (mode == 0 && band.bound && binds && queries != keys) {
    return call.not_modelled("a band between sequences of different lengths");
  }
  return band;
}

namespace {

// Keys beyond the length of a sequence are not seen; queries must all be there.
Result<std::vector<double>> key_lengths(const Call& call, const AttentionForm& form,
                                        const Heads& heads) {
  const auto all = static_cast<double>(heads.k.shape[2]);
  std::vector<double> lengths(heads.batches(), all);
  if (const Array* given = form.query_lengths == 0 ? nullptr : call.input(form.query_lengths);
      given != nullptr) {
    const auto queries = static_cast<double>(heads.q.shape[2]);
    if (std::any_of(given->values.begin(), given->values.end(),
                    [queries](double length) { return length != queries; })) {
      return call.not_modelled("queries of different lengths");
    }
  }
  const Array* given = form.key_lengths == 0 ? nullptr : call.input(form.key_lengths);
  if (given == nullptr || given->size() == 0) {
    return lengths;
  }
  if (given->size() != 1 && given->size() != lengths.size()) {
    return call.not_modelled("expected one length per batch");
  }
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    lengths[b] = given->values[given->size() == 1 ? 0 : b];
    if (!(lengths[b] >= 1.0) || !(lengths[b] <= all)) {
      return call.not_modelled("a sequence is longer than its axis");
    }
  }
  return lengths;
}

// The shift as it is added to scaled scores, stretched over all of them.
Result<Array> stretched_shift(const Call& call, const AttentionForm& form, const Heads& heads) {
  const tensor::Shape& q = heads.q.shape;
  OPDRIFT_TRY(Array all, call.make({q[0], q[1], q[2], heads.k.shape[2]}, tensor::DType::f32));
  const Array* shift = call.input(form.shift);
  if (shift == nullptr) {
    return all;
  }
  const std::int64_t type = form.training ? call.integer({"pse_type"}, 1) : 0;
  OPDRIFT_TRY(const tensor::Shape wide, broadcast_shape(shift->shape, all.shape));
  if (wide != all.shape || type < 0 || type > 1) {
    return call.not_modelled("a shift of the scores that is not one number for each");
  }
  copy_strided(shift->values.data(), 0, wide, broadcast_strides(shift->shape, wide),
               all.values.data());
  for (double& value : all.values) {
    value *= type == 1 ? heads.scale : 1.0;
  }
  return all;
}

}  // namespace

Status add_masks(const Call& call, const AttentionForm& form, const Band& band, Heads& heads) {
  OPDRIFT_TRY(const std::vector<double> lengths, key_lengths(call, form, heads));
  const std::int64_t mode = call.integer({"sparse_mode"}, 0);
  const Array* mask = mode <= 1 ? call.input(form.mask) : nullptr;
  if (mode == 1 && mask == nullptr) {
    return call.not_modelled("the mask is missing");
  }
  OPDRIFT_TRY(heads.mask, stretched_shift(call, form, heads));
  const tensor::Shape& shape = heads.mask.shape;
  std::vector<double> hidden(heads.mask.size(), 0.0);
  if (mask != nullptr) {
    OPDRIFT_TRY(const tensor::Shape wide, broadcast_shape(mask->shape, shape));
    if (wide != shape) {
      return call.not_modelled("the mask is larger than the scores");
    }
    copy_strided(mask->values.data(), 0, shape, broadcast_strides(mask->shape, shape),
                 hidden.data());
  }
  for (std::size_t row = 0; row * shape[3] < hidden.size(); ++row) {
    bool any = false;
    const double length = lengths[row / shape[2] / shape[1]];
    for (std::size_t j = 0; j < shape[3]; ++j) {
      const bool seen =
          hidden[row * shape[3] + j] == 0.0 && static_cast<double>(j) < length &&
          band.sees(static_cast<std::int64_t>(row % shape[2]), static_cast<std::int64_t>(j));
      any = any || seen;
      if (!seen) {
        heads.mask.values[row * shape[3] + j] = -HUGE_VAL;
      }
    }
    if (!any) {
      return call.not_modelled("a query sees no key");
    }
  }
  return Unit{};
}

}  // namespace opdrift::replay
