#include "opdrift/verdict/judge/arrays.hpp"

#include <algorithm>
#include <cstring>

#include "opdrift/replay/budget.hpp"
#include "opdrift/replay/number_format.hpp"
#include "opdrift/replay/replay.hpp"

namespace opdrift::verdict::judging {

namespace {

using Role = ProblemValue::Role;

const std::byte* first_byte(const tensor::View& view) {
  const unsigned bits = tensor::info(view.tensor.desc.dtype).bits;
  return view.tensor.bytes.span.data() +
         static_cast<std::size_t>(view.offset) * static_cast<std::size_t>(bits / 8);
}

std::string name_of(const Context& context, ValueId value) {
  return "\"" + context.problem.values[value].name + "\"";
}

// One input as both sides have it.
struct Side {
  ArrayPtr golden;
  ArrayPtr target;
  const StandIn* stand_in = nullptr;
};

Result<Side> load_parameter(const Context& context, ValueId value) {
  Side side;
  if (!context.facts.values[value].golden) {
    return lacking_parameter(context, value);
  }
  if (context.facts.values[value].target) {
    OPDRIFT_TRY(Pair pair, load_pair(context, value));
    return Side{std::move(pair.golden), std::move(pair.target), nullptr};
  }
  OPDRIFT_TRY(side.golden, load_value(context, RunSide::golden, value));
  side.target = side.golden;
  return side;
}

Result<Side> load_computed(const Context& context, ValueId value, StandIns& stand_ins) {
  const ValueFacts& facts = context.facts.values[value];
  if (facts.both()) {
    OPDRIFT_TRY(Pair pair, load_pair(context, value));
    return Side{std::move(pair.golden), std::move(pair.target), nullptr};
  }
  Side side;
  if (!is_missing(context.problem, context.facts, value)) {
    // An input of the network that only one side dumped: both were given the same.
    if (!facts.golden && !facts.target) {
      return lacking(context, value, facts.trouble);
    }
    OPDRIFT_TRY(side.golden,
                load_value(context, facts.golden ? RunSide::golden : RunSide::target, value));
    side.target = side.golden;
    return side;
  }
  const StandIn& stand_in = stand_ins.at(value);
  if (!stand_in.trouble.empty()) {
    return lacking(context, value, stand_in.trouble);
  }
  side.stand_in = &stand_in;
  side.golden = stand_in.golden;
  side.target = stand_in.target;
  if (side.golden == nullptr) {
    OPDRIFT_TRY(side.golden, load_value(context, RunSide::golden, value));
  }
  if (side.target == nullptr) {
    OPDRIFT_TRY(side.target, load_value(context, RunSide::target, value));
  }
  return side;
}

void add_noisy(Inputs& inputs, const Side& side, std::size_t index) {
  for (std::size_t draw = 0; draw < inputs.noisy.size(); ++draw) {
    const bool own = side.stand_in != nullptr && draw < side.stand_in->noisy.size();
    inputs.noisy[draw][index] = own ? side.stand_in->noisy[draw] : side.target;
  }
}

void merge_group(std::vector<std::uint32_t>& group, const std::vector<std::uint32_t>& more) {
  group.insert(group.end(), more.begin(), more.end());
  std::sort(group.begin(), group.end());
  group.erase(std::unique(group.begin(), group.end()), group.end());
}

}  // namespace

Error lacking(const Context& context, ValueId value, const std::string& why) {
  return Error{ErrorCode::not_found,
               "its input " + name_of(context, value) + " was not dumped" +
                   (why.empty() ? std::string() : " and cannot be replayed: " + why)};
}

Error lacking_parameter(const Context& context, ValueId value) {
  return Error{ErrorCode::not_found, "its parameter " + name_of(context, value) + " is missing"};
}

StandIns::StandIns(const Context& context, std::span<const std::uint32_t> operators) {
  for (const std::uint32_t op : operators) {
    for (const ValueId value : context.problem.operators[op].outputs) {
      if (value < context.facts.values.size() &&
          is_missing(context.problem, context.facts, value)) {
        entries_.emplace_back(value, StandIn{});
      }
    }
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const std::uint32_t op : operators) {
    for (const ValueId value : context.problem.operators[op].inputs) {
      if (value < context.facts.values.size() &&
          is_missing(context.problem, context.facts, value)) {
        ++at(value).readers;
      }
    }
  }
}

StandIn& StandIns::at(ValueId value) {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), value,
                       [](const auto& entry, ValueId wanted) { return entry.first < wanted; });
  OPDRIFT_CHECK(found != entries_.end() && found->first == value);
  return found->second;
}

void StandIns::release(const ProblemOperator& op) {
  const auto known = [&](ValueId value) {
    const auto found =
        std::lower_bound(entries_.begin(), entries_.end(), value,
                         [](const auto& entry, ValueId wanted) { return entry.first < wanted; });
    return found != entries_.end() && found->first == value ? &found->second : nullptr;
  };
  for (const ValueId value : op.inputs) {
    StandIn* entry = known(value);
    if (entry != nullptr && entry->readers > 0 && --entry->readers == 0) {
      *entry = StandIn{};
    }
  }
}

bool same_bytes(const tensor::View& one, const tensor::View& other) {
  const tensor::DType dtype = one.tensor.desc.dtype;
  const unsigned bits = tensor::info(dtype).bits;
  if (dtype != other.tensor.desc.dtype || bits == 0 || bits % 8 != 0 ||
      one.count() != other.count() || !one.contiguous() || !other.contiguous() ||
      one.tensor.desc.big_endian != other.tensor.desc.big_endian) {
    return false;
  }
  const std::byte* left = first_byte(one);
  const std::byte* right = first_byte(other);
  return left == right || std::memcmp(left, right, one.count() * (bits / 8)) == 0;
}

Result<ArrayPtr> load_value(const Context& context, RunSide side, ValueId value) {
  OPDRIFT_TRY(const tensor::View view, context.source.view(side, value));
  OPDRIFT_TRY(replay::Array array, replay::load(view, limits_of(context.options)));
  return ArrayPtr(std::make_shared<const replay::Array>(std::move(array)));
}

Result<Pair> load_pair(const Context& context, ValueId value) {
  OPDRIFT_TRY(const tensor::View golden, context.source.view(RunSide::golden, value));
  OPDRIFT_TRY(const tensor::View target, context.source.view(RunSide::target, value));
  Pair pair;
  OPDRIFT_TRY(replay::Array array, replay::load(golden, limits_of(context.options)));
  pair.golden = std::make_shared<const replay::Array>(std::move(array));
  if (same_bytes(golden, target)) {
    pair.target = pair.golden;
    return pair;
  }
  OPDRIFT_TRY(replay::Array other, replay::load(target, limits_of(context.options)));
  pair.target = std::make_shared<const replay::Array>(std::move(other));
  return pair;
}

Result<Inputs> load_inputs(const Context& context, const ProblemOperator& op, StandIns& stand_ins) {
  const std::size_t count = op.inputs.size();
  Inputs inputs;
  inputs.golden.resize(count);
  inputs.target.resize(count);
  std::vector<Side> sides(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId value = op.inputs[i];
    if (value >= context.problem.values.size()) {
      continue;
    }
    const bool parameter = context.problem.values[value].role == Role::parameter;
    OPDRIFT_TRY(sides[i], parameter ? load_parameter(context, value)
                                    : load_computed(context, value, stand_ins));
    inputs.golden[i] = sides[i].golden;
    inputs.target[i] = sides[i].target;
    inputs.equal = inputs.equal && sides[i].golden == sides[i].target;
    if (sides[i].stand_in != nullptr) {
      inputs.replayed = true;
      merge_group(inputs.group, sides[i].stand_in->group);
      if (!sides[i].stand_in->noisy.empty()) {
        inputs.noisy.resize(sides[i].stand_in->noisy.size(), ArrayList(count));
      }
    }
  }
  for (std::size_t i = 0; i < count && !inputs.noisy.empty(); ++i) {
    add_noisy(inputs, sides[i], i);
  }
  return inputs;
}

bool is_narrowed(const Context& context, ValueId value, tensor::DType golden,
                 tensor::DType target) {
  if (value >= context.problem.values.size() ||
      context.problem.values[value].role != Role::parameter) {
    return false;
  }
  // What was given for the target is what its model holds, not yet what its arithmetic made of it.
  const ValueFacts& facts = context.facts.values[value];
  const bool given = context.problem.values[value].given_for_target;
  const tensor::DType held = given && facts.target ? facts.target_dtype : golden;
  return (given || !facts.target) && tensor::is_floating(held) && tensor::is_floating(target) &&
         replay::unit_roundoff(target) > replay::unit_roundoff(held);
}

ArrayList narrowed(const Context& context, std::span<const ValueId> values, const Inputs& inputs,
                   tensor::DType target, std::size_t first) {
  ArrayList deltas(values.size());
  for (std::size_t i = first; i < values.size(); ++i) {
    const ArrayPtr& weights = inputs.golden[i];
    if (weights != nullptr && is_narrowed(context, values[i], weights->dtype, target)) {
      deltas[i] = std::make_shared<const replay::Array>(replay::Array{
          weights->shape, replay::rounding_errors(weights->values, target), weights->dtype});
    }
  }
  return deltas;
}

std::vector<const replay::Array*> pointers(const ArrayList& list) {
  std::vector<const replay::Array*> plain;
  plain.reserve(list.size());
  for (const ArrayPtr& array : list) {
    plain.push_back(array.get());
  }
  return plain;
}

replay::Limits limits_of(const JudgeOptions& options) {
  replay::Limits limits;
  limits.max_elements = std::min(limits.max_elements, options.memory_budget / sizeof(double));
  return limits;
}

}  // namespace opdrift::verdict::judging
