#include "opdrift/verdict/judge/sentence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace opdrift::verdict::judging {

namespace {

std::string value_text(double value) {
  if (std::isnan(value)) {
    return "nan";  // the sign of a NaN says nothing
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string count_text(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string type_text(const Found& found) {
  return std::string(tensor::name_of(found.dtype));
}

// Tiers P and N look at the error without what the operator should have made.
bool without_replay(const Judgement& judgement) {
  return judgement.tier == Tier::shape || judgement.tier == Tier::norms;
}

std::string worst_text(const Context& context, ValueId value, const Judgement& judgement) {
  if (judgement.worst == ~std::uint64_t{0}) {
    return "";
  }
  std::string text = "; worst element " +
                     place_text(context.facts.values[value].shape, judgement.worst) + ": target " +
                     value_text(judgement.worst_target);
  if (!without_replay(judgement)) {
    text += ", expected " + value_text(judgement.worst_expected);
  }
  if (!(judgement.worst_expected == judgement.worst_golden)) {
    text += ", golden " + value_text(judgement.worst_golden);
  }
  return text;
}

std::string group_text(const Judgement& judgement) {
  if (judgement.group.empty()) {
    return "";
  }
  constexpr std::size_t kShown = 4;
  const std::size_t size = judgement.group.size();
  std::string text = " (judged as one with ";
  // The last member is the operator itself.
  for (std::size_t i = 0; i + 1 < size && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + judgement.group[i];
  }
  if (size > kShown + 1) {
    text += " and " + std::to_string(size - kShown - 1) + " more";
  }
  return text + ", whose results were not dumped)";
}

// A sample counts what it looked at, which may be all that there is.
bool saw_all_classes(const Context& context, ValueId value, const Judgement& judgement) {
  if (judgement.sampled == 0) {
    return true;
  }
  const MeasuredValue known = context.source.measured(value);
  return known.measurement != nullptr &&
         known.measurement->class_mismatches == judgement.new_classes + judgement.inherited_classes;
}

std::string class_text(const Context& context, ValueId value, const Found& found,
                       const Judgement& judgement) {
  const std::string many = (saw_all_classes(context, value, judgement) ? "" : "at least ") +
                           count_text(judgement.new_classes, "element");
  const std::string where = worst_text(context, value, judgement);
  const ValueFacts& facts = context.facts.values[value];
  switch (judgement.cause) {
    case Cause::shape:
      return "expected " + count_text(facts.golden_count, "element") + ", found " +
             std::to_string(facts.target_count);
    case Cause::overflow:
      return "overflows: " + many + " beyond the range of " + type_text(found) + where;
    case Cause::saturated:
      return "clamps " + many + " at the largest number of " + type_text(found) + where;
    case Cause::golden_overflow:
      return "the golden has " + many + " NaN or infinite where the target is finite" + where;
    default:
      return "makes " + many + " NaN or infinite out of numbers that do not explain it" + where;
  }
}

std::string culprit_text(const Context& context, ValueId value, const Found& found,
                         const Judgement& judgement) {
  const std::string where = worst_text(context, value, judgement);
  if (judgement.cause == Cause::own_error) {
    return "adds " + number_text(judgement.q_own) + " times the error that " + type_text(found) +
           " explains" + where;
  }
  if (judgement.cause == Cause::local_error) {
    return "a few elements are " + number_text(judgement.z) +
           " times further off than the largest error that " + type_text(found) + " explains" +
           where;
  }
  if (judgement.cause == Cause::different) {
    return count_text(judgement.new_classes, "element") + " of " + std::to_string(found.count) +
           " differ although they must be equal" + where;
  }
  return class_text(context, value, found, judgement);
}

std::string victim_text(const Judgement& judgement) {
  if (judgement.cause == Cause::inherited_class) {
    return "passes on " + count_text(judgement.inherited_classes, "element") +
           " NaN or infinite that came in with its inputs";
  }
  if (without_replay(judgement)) {
    return "carries a local error that an operator upstream made";
  }
  if (std::isnan(judgement.q_cum)) {
    return count_text(judgement.inherited_classes, "element") +
           " differ because of what came in with its inputs";
  }
  const std::string size = "is " + number_text(judgement.q_cum) +
                           " times further off than its depth explains; it adds only " +
                           number_text(judgement.q_own) + " times its own budget";
  return judgement.label == Label::drift ? size + " and no operator upstream is to blame" : size;
}

std::string watch_text(const Context& context, ValueId value, const Found& found,
                       const Judgement& judgement) {
  if (judgement.cause == Cause::not_modelled) {
    return "its error is " + number_text(std::max(judgement.q_own, judgement.z)) +
           " times what storage and inputs suggest" +
           (judgement.tier == Tier::norms ? ", not enough to blame it"
                                          : ", but its gain is not known");
  }
  if (judgement.cause == Cause::wider_inputs) {
    return "agrees only if its inputs were read with more digits than were dumped (" +
           number_text(std::max(judgement.q1, judgement.z1)) + " times its budget otherwise)";
  }
  if (judgement.cause == Cause::below_precision) {
    return "adds " + number_text(judgement.q_own) +
           " times its own budget, yet less than the precision has cost so far";
  }
  if (judgement.q_own >= judgement.z) {
    return "adds " + number_text(judgement.q_own) + " times the error that " + type_text(found) +
           " explains, not enough to blame it" + worst_text(context, value, judgement);
  }
  return "some elements are " + number_text(judgement.z) +
         " times further off than expected, not enough to blame it" +
         worst_text(context, value, judgement);
}

std::string healthy_text(const Found& found, const Judgement& judgement) {
  if (judgement.cause == Cause::tie) {
    return count_text(judgement.inherited_classes, "element") +
           " differ as the rounding of the inputs decides";
  }
  if (found.equal) {
    return "equal";
  }
  if (found.exact) {
    return "equal in every element that counts";
  }
  if (without_replay(judgement)) {
    return "its error has the shape of what its inputs brought";
  }
  std::string text = "within its budget (" + number_text(judgement.q_own) + ")";
  if (judgement.wider_inputs) {
    text += ", reading its inputs with more digits than were dumped";
  }
  return text;
}

// People know operators, not constants.
std::string reader_text(const Context& context, ValueId value) {
  for (const ProblemOperator& op : context.problem.operators) {
    if (std::find(op.inputs.begin(), op.inputs.end(), value) != op.inputs.end()) {
      return " (read by " + op.op->type + " \"" + op.op->name + "\")";
    }
  }
  return "";
}

std::string unjudged_text(const Found& found) {
  return found.reason.empty() ? "nothing to replay it with" : found.reason;
}

}  // namespace

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

std::string place_text(const tensor::Shape& shape, std::uint64_t index) {
  std::vector<std::uint64_t> place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::uint64_t extent = shape[axis] == 0 ? 1 : shape[axis];
    place[axis] = index % extent;
    index /= extent;
  }
  std::string text = "[";
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    text += (axis == 0 ? "" : ",") + std::to_string(place[axis]);
  }
  return text + "]";
}

std::string sentence(const Context& context, ValueId value, const Found& found,
                     const Judgement& judgement) {
  std::string text;
  switch (judgement.label) {
    case Label::culprit: text = culprit_text(context, value, found, judgement); break;
    case Label::victim:
    case Label::drift: text = victim_text(judgement); break;
    case Label::watch: text = watch_text(context, value, found, judgement); break;
    case Label::healthy: text = healthy_text(found, judgement); break;
    case Label::unjudged: text = unjudged_text(found); break;
  }
  text += group_text(judgement);
  if (found.shared_nonfinite > 0) {
    text += "; " + count_text(found.shared_nonfinite, "element") +
            " NaN or infinite on both sides alike";
  }
  if (!found.reason.empty() && judgement.label != Label::unjudged) {
    text += "; not replayed: " + found.reason;
  }
  return text;
}

std::string leaf_sentence(const Context& context, ValueId value, const Found& found,
                          const Judgement& judgement) {
  if (judgement.label == Label::unjudged) {
    return unjudged_text(found);
  }
  const bool parameter = context.problem.values[value].role == ProblemValue::Role::parameter;
  if (judgement.label == Label::healthy) {
    return found.equal ? "equal" : "equal but for the rounding of its type";
  }
  if (context.problem.values[value].role == ProblemValue::Role::computed) {
    return "differs from the golden, and nothing that was judged makes it" +
           worst_text(context, value, judgement);
  }
  if (!parameter) {
    return "the inputs of the two runs differ" + worst_text(context, value, judgement);
  }
  const std::string reader = reader_text(context, value);
  const std::string where = worst_text(context, value, judgement);
  if (judgement.cause == Cause::overflow) {
    return "a parameter" + reader + " is beyond the range of " + type_text(found) + where;
  }
  if (judgement.cause == Cause::saturated) {
    return "a parameter" + reader + " is clamped at the largest number of " + type_text(found) +
           where;
  }
  return "the target uses another parameter than the golden" + reader + where;
}

}  // namespace opdrift::verdict::judging
