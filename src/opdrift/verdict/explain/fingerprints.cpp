#include "opdrift/verdict/explain/fingerprints.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

namespace opdrift::verdict {

namespace {

constexpr std::size_t kBlock = 32;
constexpr std::size_t kMostSame = 4;        // tensors that may share one block's hash
constexpr std::size_t kMostHits = 1 << 16;  // groups of agreeing blocks that are followed
constexpr std::uint64_t kOdd1 = 0x9e3779b185ebca87U;
constexpr std::uint64_t kOdd2 = 0xc2b2ae3d27d4eb4fU;

using Words = std::array<std::uint64_t, 4>;

Words words_at(const std::byte* data) {
  Words words;
  std::memcpy(words.data(), data, kBlock);
  return words;
}

std::uint64_t finish(std::uint64_t h) {
  h = (h ^ (h >> 33U)) * kOdd2;
  h = (h ^ (h >> 29U)) * kOdd1;
  return h ^ (h >> 32U);
}

std::uint64_t step(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kOdd2, 31) * kOdd1;
}

std::uint64_t combine(const Words& lanes, std::uint64_t length) {
  std::uint64_t h = length * kOdd2;
  for (const std::uint64_t lane : lanes) {
    h = std::rotl(h ^ finish(lane), 27) * kOdd1;
  }
  return finish(h);
}

std::uint64_t block_hash(const Words& words) {
  Words lanes = {kOdd1, kOdd2, 1, 2};
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    lanes[i] = step(lanes[i], words[i]);
  }
  return combine(lanes, kBlock);
}

bool says_nothing(const Words& words) {
  return words[0] == words[1] && words[1] == words[2] && words[2] == words[3];
}

}  // namespace

ByteSpan stored_bytes(const tensor::View& view) {
  const tensor::TensorDesc& desc = view.tensor.desc;
  const ByteSpan all = view.tensor.bytes.span;
  if (!desc.has_shape || !desc.strides.empty()) {
    return all;
  }
  const auto count = tensor::element_count(desc.shape);
  if (!count.has_value()) {
    return all;
  }
  const auto bytes = tensor::storage_bytes(desc.dtype, *count);
  return bytes.has_value() && *bytes <= all.size() ? all.first(static_cast<std::size_t>(*bytes))
                                                   : all;
}

std::uint64_t content_hash(ByteSpan bytes) {
  Words lanes = {kOdd1, kOdd2, 1, 2};
  const std::size_t whole = bytes.size() / kBlock * kBlock;
  for (std::size_t at = 0; at < whole; at += kBlock) {
    const Words words = words_at(bytes.data() + at);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i] = step(lanes[i], words[i]);
    }
  }
  if (whole < bytes.size()) {
    std::array<std::byte, kBlock> rest = {};
    std::memcpy(rest.data(), bytes.data() + whole, bytes.size() - whole);
    const Words words = words_at(rest.data());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i] = step(lanes[i], words[i]);
    }
  }
  return combine(lanes, bytes.size());
}

std::size_t TensorFingerprints::add(const tensor::View& view, std::string label) {
  const ByteSpan bytes = stored_bytes(view);
  const auto number = static_cast<std::uint32_t>(tensors_.size());
  tensors_.push_back({std::move(label), bytes.size()});
  const std::uint64_t count =
      std::min<std::uint64_t>(bytes.size() / kBlock, kWhole - std::uint64_t{1});
  const std::uint64_t wanted = std::min<std::uint64_t>(count, blocks_);
  bool telling = false;
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::uint64_t begin = i * count / wanted;
    const std::uint64_t end = std::min((i + 1) * count / wanted, begin + 16);
    for (std::uint64_t block = begin; block < end; ++block) {
      const Words words = words_at(bytes.data() + block * kBlock);
      if (!says_nothing(words)) {
        telling = true;
        insert({block_hash(words), number, static_cast<std::uint32_t>(block)});
        break;
      }
    }
  }
  // All zeros equal all zeros, and numbers equal numbers, without anything being stale.
  if (telling) {
    insert({content_hash(bytes), number, kWhole});
  }
  return number;
}

template <typename Visitor>
void TensorFingerprints::visit(std::uint64_t hash, const Visitor& visitor) const {
  if (table_.empty()) {
    return;
  }
  for (std::size_t at = hash & (table_.size() - 1); table_[at].block != kFree;
       at = (at + 1) & (table_.size() - 1)) {
    if (table_[at].hash == hash) {
      visitor(table_[at]);
    }
  }
}

void TensorFingerprints::insert(const Slot& slot) {
  std::size_t same = 0;
  visit(slot.hash, [&](const Slot&) { ++same; });
  if (same >= kMostSame) {
    return;
  }
  if ((used_ + 1) * 2 > table_.size()) {
    grow();
  }
  std::size_t at = slot.hash & (table_.size() - 1);
  while (table_[at].block != kFree) {
    at = (at + 1) & (table_.size() - 1);
  }
  table_[at] = slot;
  ++used_;
}

void TensorFingerprints::grow() {
  std::vector<Slot> old(std::max<std::size_t>(64, table_.size() * 2));
  std::swap(old, table_);
  for (const Slot& slot : old) {
    if (slot.block == kFree) {
      continue;
    }
    std::size_t at = slot.hash & (table_.size() - 1);
    while (table_[at].block != kFree) {
      at = (at + 1) & (table_.size() - 1);
    }
    table_[at] = slot;
  }
}

bool TensorFingerprints::counts(std::size_t tensor, std::span<const std::string> without) const {
  return std::find(without.begin(), without.end(), tensors_[tensor].label) == without.end();
}

std::vector<FingerprintMatch> TensorFingerprints::find(const tensor::View& view,
                                                       std::uint64_t first, std::uint64_t end,
                                                       std::span<const std::string> without) const {
  const ByteSpan bytes = stored_bytes(view);
  std::vector<FingerprintMatch> matches;
  visit(content_hash(bytes), [&](const Slot& slot) {
    if (slot.block == kWhole && tensors_[slot.tensor].bytes == bytes.size() &&
        counts(slot.tensor, without)) {
      matches.push_back({slot.tensor, true, 0, bytes.size(), 0, bytes.size() / kBlock});
    }
  });
  // Blocks that agree, by tensor and by how far they are moved.
  std::map<std::pair<std::uint32_t, std::int64_t>, FingerprintMatch> groups;
  const std::uint64_t stop = std::min<std::uint64_t>(end, bytes.size()) / kBlock;
  for (std::uint64_t block = (first + kBlock - 1) / kBlock; block < stop; ++block) {
    const Words words = words_at(bytes.data() + block * kBlock);
    if (says_nothing(words)) {
      continue;
    }
    visit(block_hash(words), [&](const Slot& slot) {
      if (slot.block == kWhole || !counts(slot.tensor, without)) {
        return;
      }
      const std::int64_t moved =
          static_cast<std::int64_t>(slot.block) - static_cast<std::int64_t>(block);
      const auto key = std::make_pair(slot.tensor, moved);
      if (groups.size() >= kMostHits && !groups.contains(key)) {
        return;
      }
      FingerprintMatch& match = groups[key];
      if (match.blocks == 0) {
        match.tensor = slot.tensor;
        match.first = block * kBlock;
        match.source = std::uint64_t{slot.block} * kBlock;
      }
      match.end = (block + 1) * kBlock;
      ++match.blocks;
    });
  }
  const auto whole = static_cast<std::ptrdiff_t>(matches.size());
  for (const auto& group : groups) {
    const FingerprintMatch& match = group.second;
    const bool known = std::any_of(matches.begin(), matches.begin() + whole,
                                   [&](const auto& one) { return one.tensor == match.tensor; });
    if (!known) {
      matches.push_back(match);
    }
  }
  std::stable_sort(matches.begin() + whole, matches.end(),
                   [](const FingerprintMatch& one, const FingerprintMatch& other) {
                     return one.blocks > other.blocks;
                   });
  return matches;
}

FingerprintMatch TensorFingerprints::grown(const FingerprintMatch& match, const tensor::View& view,
                                           const tensor::View& source) {
  const ByteSpan here = stored_bytes(view);
  const ByteSpan there = stored_bytes(source);
  FingerprintMatch result = match;
  while (result.first > 0 && result.source > 0 &&
         here[static_cast<std::size_t>(result.first - 1)] ==
             there[static_cast<std::size_t>(result.source - 1)]) {
    --result.first;
    --result.source;
  }
  std::uint64_t behind = result.source + (result.end - result.first);
  while (result.end < here.size() && behind < there.size() &&
         here[static_cast<std::size_t>(result.end)] == there[static_cast<std::size_t>(behind)]) {
    ++result.end;
    ++behind;
  }
  return result;
}

}  // namespace opdrift::verdict
