#include "opdrift/match/torch_match.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace opdrift::match {

namespace {

struct StandIn {
  std::string_view op;
  std::string_view other;
  std::string_view parameter;
  std::string_view other_parameter;
};

constexpr std::array<StandIn, 6> kStandIns = {{
    {"CudnnBatchNormBackward", "NativeBatchNormBackward", "epsilon", "eps"},
    {"NativeBatchNormBackward", "CudnnBatchNormBackward", "eps", "epsilon"},
    {"CudnnConvolutionBackward", "NpuConvolutionBackward", "self", "input"},
    {"ThnnConvDepthwise2DBackward", "NpuConvolutionBackward", "self", "input"},
    {"NpuConvolutionBackward", "CudnnConvolutionBackward", "input", "self"},
    {"NpuConvolutionBackward", "ThnnConvDepthwise2DBackward", "input", "self"},
}};

/// Operators of the table count their occurrences together with their stand-ins.
std::string family_of(const std::string& op) {
  if (op == "CudnnBatchNormBackward" || op == "NativeBatchNormBackward") {
    return "BatchNormBackward";
  }
  const bool convolution = op == "CudnnConvolutionBackward" || op == "NpuConvolutionBackward" ||
                           op == "ThnnConvDepthwise2DBackward";
  return convolution ? "ConvolutionBackward" : op;
}

using OpOrder = std::pair<std::string, std::uint64_t>;

/// Occurrence numbers of one side.
class Occurrences {
 public:
  explicit Occurrences(std::span<const TorchTensor> tensors) {
    std::map<std::string, std::set<std::uint64_t>> orders;
    for (const TorchTensor& tensor : tensors) {
      orders[family_of(tensor.op)].insert(tensor.order);
    }
    for (const auto& [family, numbers] : orders) {
      std::size_t position = 0;
      for (const std::uint64_t order : numbers) {
        numbers_[{family, order}] = position++;
      }
    }
  }

  std::size_t of(const std::string& op, std::uint64_t order) const {
    return numbers_.at({family_of(op), order});
  }

 private:
  std::map<OpOrder, std::size_t> numbers_;
};

using Key = std::tuple<std::string, std::size_t, std::string>;

class Pairer {
 public:
  Pairer(std::span<const TorchTensor> target, std::span<const TorchTensor> golden,
         TorchDevice device)
      : target_(target),
        golden_(golden),
        device_(device),
        target_occurrences_(target),
        golden_occurrences_(golden) {
    with_inputs_ = std::any_of(target.begin(), target.end(),
                               [](const TorchTensor& tensor) { return tensor.input; });
    for (std::size_t i = 0; i < golden.size(); ++i) {
      by_key_.emplace(Key{golden[i].op, golden_number(golden[i]), golden[i].rest}, i);
    }
  }

  std::vector<TorchPair> run();

 private:
  std::size_t golden_number(const TorchTensor& tensor) const {
    return with_inputs_ ? golden_occurrences_.of(tensor.op, tensor.order)
                        : static_cast<std::size_t>(tensor.order);
  }
  std::size_t target_number(const TorchTensor& tensor) const {
    return with_inputs_ ? target_occurrences_.of(tensor.op, tensor.order)
                        : static_cast<std::size_t>(tensor.order);
  }
  std::optional<std::size_t> find(const std::string& op, std::size_t number,
                                  const std::string& rest) const {
    const auto found = by_key_.find(Key{op, number, rest});
    return found == by_key_.end() ? std::nullopt : std::optional(found->second);
  }
  TorchPair pair_of(std::size_t position) const;
  bool wanted(const TorchTensor& tensor) const { return with_inputs_ || !tensor.input; }

  std::span<const TorchTensor> target_;
  std::span<const TorchTensor> golden_;
  TorchDevice device_;
  Occurrences target_occurrences_;
  Occurrences golden_occurrences_;
  bool with_inputs_ = false;
  std::map<Key, std::size_t> by_key_;
};

/// The path with its last part renamed.
std::string renamed(const std::string& rest, std::string_view from, std::string_view to) {
  const std::size_t slash = rest.rfind('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return rest.substr(start) == from ? rest.substr(0, start) + std::string(to) : rest;
}

TorchPair Pairer::pair_of(std::size_t position) const {
  const TorchTensor& tensor = target_[position];
  const std::size_t number = target_number(tensor);
  TorchPair pair;
  pair.target = position;
  pair.golden = find(tensor.op, number, tensor.rest);
  pair.rule = pair.golden ? TorchRule::same_name : TorchRule::none;
  for (const std::string& other : stand_ins(tensor.op, device_)) {
    if (pair.golden) {
      break;
    }
    pair.golden = find(other, number, tensor.rest);
    pair.rule = pair.golden ? TorchRule::stand_in : TorchRule::none;
    for (const StandIn& row : kStandIns) {
      if (!pair.golden && row.op == tensor.op && row.other == other) {
        pair.golden = find(other, number, renamed(tensor.rest, row.parameter, row.other_parameter));
        pair.rule = pair.golden ? TorchRule::renamed_parameter : TorchRule::none;
      }
    }
  }
  return pair;
}

std::vector<TorchPair> Pairer::run() {
  const auto in_order = [](std::span<const TorchTensor> tensors) {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [tensors](std::size_t a, std::size_t b) {
      return std::tie(tensors[a].order, tensors[a].op, tensors[a].rest) <
             std::tie(tensors[b].order, tensors[b].op, tensors[b].rest);
    });
    return order;
  };
  std::vector<TorchPair> pairs;
  std::set<OpOrder> paired;
  for (const std::size_t position : in_order(target_)) {
    pairs.push_back(pair_of(position));
    if (pairs.back().golden) {
      const TorchTensor& golden = golden_[*pairs.back().golden];
      paired.insert({golden.op, golden.order});
    }
  }
  for (const std::size_t position : in_order(golden_)) {
    const TorchTensor& tensor = golden_[position];
    if (wanted(tensor) && paired.insert({tensor.op, tensor.order}).second) {
      TorchPair pair;
      pair.golden = position;
      pairs.push_back(pair);
    }
  }
  return pairs;
}

}  // namespace

const char* to_string(TorchRule rule) {
  switch (rule) {
    case TorchRule::none: return "none";
    case TorchRule::same_name: return "same operator, occurrence and name";
    case TorchRule::stand_in: return "same occurrence of a stand-in operator";
    case TorchRule::renamed_parameter: return "stand-in operator, renamed parameter";
  }
  return "";
}

std::vector<std::string> stand_ins(const std::string& op, TorchDevice golden_device) {
  std::vector<std::string> others;
  for (const StandIn& row : kStandIns) {
    if (row.op == op) {
      others.emplace_back(row.other);
    }
  }
  const std::string_view prefix = golden_device == TorchDevice::gpu   ? "Cudnn"
                                  : golden_device == TorchDevice::cpu ? "Thnn"
                                                                      : "";
  constexpr std::string_view kNpu = "Npu";
  if (others.empty() && !prefix.empty() && op.starts_with(kNpu)) {
    others.push_back(std::string(prefix) + op.substr(kNpu.size()));
  } else if (others.empty() && !prefix.empty() && op.starts_with(prefix)) {
    others.push_back(std::string(kNpu) + op.substr(prefix.size()));
  }
  return others;
}

std::vector<TorchPair> pair_torch(std::span<const TorchTensor> target,
                                  std::span<const TorchTensor> golden, TorchDevice golden_device) {
  return Pairer(target, golden, golden_device).run();
}

}  // namespace opdrift::match
