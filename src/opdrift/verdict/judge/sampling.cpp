#include <algorithm>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/operator_judge.hpp"

// Tier S: large operators at some of their elements, reading only what these need.
//
//   sums of products   512 random positions and the 64 whose error stands out most of its row
//   others             1024 random positions (whole rows where rows are normalised) and those 64
//
// A sample that stands out is judged again over the whole tensor.

namespace opdrift::verdict::judging {

namespace {

// Below this a weighted operator is replayed whole: it costs less than choosing elements.
constexpr std::uint64_t kCheapMultiplyAdds = std::uint64_t{1} << 18;
constexpr std::uint64_t kSmallTensor = 8192;
constexpr std::size_t kRandomPart = 1024;
constexpr std::uint64_t kAttributeElements = 64;  // inputs so small may stand for attributes

}  // namespace

std::uint64_t sampling_seed(ValueId value) {
  return seed_of(value, 1);
}

std::uint64_t work_of(const Context& context, std::uint32_t op) {
  const ProblemOperator& own = context.problem.operators[op];
  if (own.kind == nullptr || own.outputs.empty() ||
      own.outputs.front() >= context.facts.values.size()) {
    return 0;
  }
  std::vector<const tensor::Shape*> shapes;
  for (const ValueId input : own.inputs) {
    shapes.push_back(input < context.facts.values.size() ? &context.facts.values[input].shape
                                                         : nullptr);
  }
  const std::vector<tensor::Shape> outputs = {context.facts.values[own.outputs.front()].shape};
  return replay::estimate(*own.kind, shapes, outputs).multiply_adds;
}

bool wants_confirmation(const Context& context, std::uint32_t op, const std::vector<Found>& found) {
  const std::vector<ValueId>& outputs = context.problem.operators[op].outputs;
  if (outputs.empty() || outputs.front() >= found.size()) {
    return false;
  }
  const Found& own = found[outputs.front()];
  return own.state == Found::State::judged && own.judgement.tier == Tier::sampled && !own.equal &&
         !own.judgement.inputs_replayed && exceeds(own.judgement) && !beyond_doubt(own.judgement);
}

bool OperatorJudge::one_float_output() const {
  if (full_ || context_.options.strongest == Tier::replay || op_.outputs.empty() ||
      op_.outputs.front() >= found_.size()) {
    return false;
  }
  const ValueFacts& out = context_.facts.values[op_.outputs.front()];
  const bool alone = std::none_of(op_.outputs.begin() + 1, op_.outputs.end(),
                                  [&](ValueId value) { return concerns(value); });
  return alone && out.both() && out.golden_count == out.target_count &&
         tensor::is_floating(out.golden_dtype) && tensor::is_floating(out.target_dtype);
}

bool OperatorJudge::samples_dots() const {
  return op_.kind->weighted() && one_float_output() &&
         context_.facts.values[op_.outputs.front()].golden_count > kRandomSample + kWorstSample &&
         work_of(context_, index_) > kCheapMultiplyAdds;
}

bool OperatorJudge::samples_parts() const {
  return !op_.kind->weighted() && one_float_output() &&
         context_.facts.values[op_.outputs.front()].golden_count > kSmallTensor;
}

Result<const InputReaders*> OperatorJudge::readers(std::size_t input) {
  if (!readers_[input]) {
    OPDRIFT_TRY(InputReaders opened, open_input(context_, op_.inputs[input], stand_ins_));
    readers_[input] = std::move(opened);
  }
  return &*readers_[input];
}

// Arrays that have the shapes of the inputs; the values only of those that may stand for
// attributes.
Result<std::vector<replay::Array>> OperatorJudge::outlines() {
  std::vector<replay::Array> arrays(op_.inputs.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (op_.inputs[i] >= context_.problem.values.size()) {
      continue;
    }
    OPDRIFT_TRY(const InputReaders* input, readers(i));
    arrays[i].shape = input->golden->shape();
    arrays[i].dtype = input->golden->dtype();
    const std::uint64_t count = replay::count_of(arrays[i].shape);
    for (std::uint64_t at = 0; count <= kAttributeElements && at < count; ++at) {
      arrays[i].values.push_back(input->golden->at(at));
    }
  }
  return arrays;
}

std::vector<const replay::Array*> OperatorJudge::given(
    const std::vector<replay::Array>& outlines) const {
  std::vector<const replay::Array*> inputs;
  for (std::size_t i = 0; i < outlines.size(); ++i) {
    inputs.push_back(readers_[i] ? &outlines[i] : nullptr);
  }
  return inputs;
}

Result<Survey> OperatorJudge::survey_output(ValueId value) const {
  OPDRIFT_TRY(const tensor::View golden, context_.source.view(RunSide::golden, value));
  OPDRIFT_TRY(const tensor::View target, context_.source.view(RunSide::target, value));
  return survey(golden, target, context_.source.measured(value));
}

Found OperatorJudge::surveyed(const Survey& survey, const Formats& formats) const {
  Found found;
  found.judgement.tier = Tier::sampled;
  found.dtype = formats.precision.coarser();
  found.count = survey.count;
  found.finite = survey.finite;
  found.equal = survey.equal;
  found.golden_norm = survey.golden_norm;
  found.error_norm = survey.error_norm;
  return found;
}

Status OperatorJudge::take_pair(ValueId value, std::span<const std::uint64_t> positions,
                                std::vector<double>& golden, std::vector<double>& target) const {
  OPDRIFT_TRY(tensor::View golden_view, context_.source.view(RunSide::golden, value));
  OPDRIFT_TRY(tensor::View target_view, context_.source.view(RunSide::target, value));
  golden = Reader(std::move(golden_view)).at(positions);
  target = Reader(std::move(target_view)).at(positions);
  return Unit{};
}

void complete_classes(const Survey& survey, Found& found) {
  found.shared_nonfinite = survey.shared_nonfinite;
  if (found.judgement.new_classes == 0) {
    found.judgement.inherited_classes = survey.class_mismatches;
  }
}

namespace {

std::vector<double> elements_at(const Reader& reader, const replay::PartialInput& input) {
  const bool fills = std::find(input.positions.begin(), input.positions.end(), replay::kFiller) !=
                     input.positions.end();
  if (!fills) {
    return reader.at(std::span(input.positions));
  }
  std::vector<double> values;
  for (const std::uint64_t position : input.positions) {
    values.push_back(position == replay::kFiller ? input.filler : reader.at(position));
  }
  return values;
}

}  // namespace

// Loads the elements that a small operator is made of, on both sides.
Status OperatorJudge::gather_part(const replay::Partial& partial) {
  const std::size_t count = partial.inputs.size();
  inputs_ = Inputs{};
  inputs_.golden.resize(count);
  inputs_.target.resize(count);
  input_ids_.assign(count, kAbsent);
  const auto gather = [&](const replay::PartialInput& input, auto pick) {
    replay::Array array;
    array.shape = input.shape;
    if (!input.literal.empty()) {
      array.values = input.literal;
      return std::make_shared<const replay::Array>(std::move(array));
    }
    array.dtype = pick(*readers_[input.source])->dtype();
    if (input.sources.empty()) {
      array.values = elements_at(*pick(*readers_[input.source]), input);
      return std::make_shared<const replay::Array>(std::move(array));
    }
    for (std::size_t i = 0; i < input.positions.size(); ++i) {
      array.values.push_back(pick(*readers_[input.sources[i]])->at(input.positions[i]));
    }
    return std::make_shared<const replay::Array>(std::move(array));
  };
  std::size_t draws = 0;
  for (const std::optional<InputReaders>& own : readers_) {
    draws = std::max(draws, own ? own->noisy.size() : 0);
    inputs_.replayed = inputs_.replayed || (own && own->replayed);
    if (own) {
      inputs_.group.insert(inputs_.group.end(), own->group.begin(), own->group.end());
    }
  }
  std::sort(inputs_.group.begin(), inputs_.group.end());
  inputs_.group.erase(std::unique(inputs_.group.begin(), inputs_.group.end()), inputs_.group.end());
  inputs_.noisy.assign(draws, ArrayList(count));
  for (std::size_t i = 0; i < count; ++i) {
    const replay::PartialInput& input = partial.inputs[i];
    if (!input.present) {
      continue;
    }
    input_ids_[i] = input.literal.empty() ? op_.inputs[input.source] : kAbsent;
    inputs_.golden[i] = gather(input, [](const InputReaders& r) { return r.golden; });
    inputs_.target[i] = gather(input, [](const InputReaders& r) { return r.target; });
    if (inputs_.golden[i]->values == inputs_.target[i]->values) {
      inputs_.target[i] = inputs_.golden[i];
    } else {
      inputs_.equal = false;
    }
    for (std::size_t draw = 0; draw < draws; ++draw) {
      inputs_.noisy[draw][i] = gather(input, [draw](const InputReaders& r) {
        return draw < r.noisy.size() ? r.noisy[draw] : r.target;
      });
    }
  }
  return Unit{};
}

Status OperatorJudge::judge_part(Found& found) {
  const ValueId value = op_.outputs.front();
  const ValueFacts& facts = context_.facts.values[value];
  const Formats formats = formats_of(value);
  OPDRIFT_TRY(const std::vector<replay::Array> shapes, outlines());
  const std::vector<const replay::Array*> inputs = given(shapes);
  const std::vector<std::uint64_t> random =
      random_positions(facts.golden_count, kRandomPart, sampling_seed(value));
  // A plan from the random positions alone tells whether the survey is worth its while.
  if (!replay::plan_partial(*op_.kind, call(inputs), facts.shape, random, {})) {
    return Error{ErrorCode::unsupported, "it cannot be replayed in parts"};
  }
  OPDRIFT_TRY(const Survey survey, survey_output(value));
  const std::optional<replay::Partial> partial =
      replay::plan_partial(*op_.kind, call(inputs), facts.shape, random, survey.standing_out());
  if (!partial || partial->random == 0) {
    return Error{ErrorCode::unsupported, "it cannot be replayed in parts"};
  }
  OPDRIFT_CHECK_OK(gather_part(*partial));
  model_ = &partial->op;
  kind_ = partial->kind;
  OPDRIFT_CHECK_OK(replay_sides());
  if (golden_.empty() || golden_[0].size() != partial->positions.size() ||
      target_outputs()[0].size() != partial->positions.size()) {
    return Error{ErrorCode::internal, "a part of the operator has another size"};
  }
  std::vector<double> g;
  std::vector<double> t;
  OPDRIFT_CHECK_OK(take_pair(value, partial->positions, g, t));
  Elements elements;
  elements.golden = g;
  elements.target = t;
  elements.positions = partial->positions;
  elements.random = partial->random;
  elements.population = facts.golden_count;
  Found fresh = surveyed(survey, formats);
  fresh.judgement.sampled = partial->positions.size();
  Status done = conclude(0, formats, elements, std::move(fresh), found);
  model_ = op_.op;
  if (done) {
    complete_classes(survey, found);
  }
  return done;
}

}  // namespace opdrift::verdict::judging
