#include "opdrift/verdict/judge.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <numeric>

#include "opdrift/verdict/judge/device.hpp"
#include "opdrift/verdict/judge/labels.hpp"
#include "opdrift/verdict/judge/leaf.hpp"
#include "opdrift/verdict/judge/operator_judge.hpp"

namespace opdrift::verdict {

namespace {

using namespace judging;  // NOLINT(google-build-using-namespace): the workers of this file

void say_used(const Context& context, std::uint32_t op) {
  for (const auto* list :
       {&context.problem.operators[op].inputs, &context.problem.operators[op].outputs}) {
    for (const ValueId value : *list) {
      if (value < context.problem.values.size()) {
        context.source.used(value);
      }
    }
  }
}

// Allocation failures end one component, not the run.
void run_component(const Context& context, const std::vector<std::uint32_t>& operators,
                   std::vector<Found>& found, bool full = false) {
  StandIns stand_ins(context, operators);
  for (const std::uint32_t op : operators) {
    if (context.options.cancel != nullptr && context.options.cancel->cancelled()) {
      return;
    }
    try {
      OperatorJudge(context, op, stand_ins, found, full).run();
    } catch (const std::bad_alloc&) {
      for (const ValueId value : context.problem.operators[op].outputs) {
        if (value < found.size()) {
          found[value] = Found{};
          found[value].state = Found::State::unreadable;
          found[value].reason = "not enough memory to replay the operator";
        }
      }
    }
    say_used(context, op);
  }
}

void run_components(const Context& context, const std::vector<std::size_t>& components,
                    std::vector<Found>& found) {
  std::atomic<std::uint64_t> done{0};
  const std::uint64_t all = context.problem.operators.size();
  parallel_for(
      components.size(), context.options.jobs,
      [&](std::size_t i) {
        const std::vector<std::uint32_t>& operators = context.facts.components[components[i]];
        for (const std::uint32_t op : operators) {
          for (const ValueId value : context.problem.operators[op].outputs) {
            if (value < found.size()) {
              found[value] = Found{};
            }
          }
        }
        run_component(context, operators, found);
        done += operators.size();
        if (context.options.progress) {
          context.options.progress(done, all);
        }
      },
      context.options.cancel);
}

std::vector<std::size_t> all_components(const Facts& facts) {
  std::vector<std::size_t> all(facts.components.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Components that hold one of the operators; `wanted` in rising order.
std::vector<std::size_t> components_of(const Facts& facts,
                                       const std::vector<std::uint32_t>& wanted) {
  std::vector<std::size_t> components;
  for (std::size_t i = 0; i < facts.components.size(); ++i) {
    const bool holds = std::any_of(
        facts.components[i].begin(), facts.components[i].end(),
        [&](std::uint32_t op) { return std::binary_search(wanted.begin(), wanted.end(), op); });
    if (holds) {
      components.push_back(i);
    }
  }
  return components;
}

/// Steps A to D under the assumptions that step H finds. Changes `context.assume`.
std::vector<Finding> find_device(Context& context, std::vector<Found>& found) {
  std::vector<Finding> findings;
  if (const auto truncation = find_truncation(context, found)) {
    findings.push_back(*truncation);
    context.assume.truncation = true;
    run_components(context, all_components(context.facts), found);
  }
  const auto again = [&](const Assumptions& assume, const std::vector<std::uint32_t>& operators) {
    Context other = context;
    other.assume = assume;
    std::vector<Found> fresh = found;
    run_components(other, components_of(context.facts, operators), fresh);
    return fresh;
  };
  if (const auto arithmetic = find_arithmetic(context, found, again)) {
    findings.push_back(arithmetic->finding);
    context.assume = arithmetic->assume;
    run_components(context, components_of(context.facts, weighted_operators(context.problem)),
                   found);
  }
  if (const auto wider = find_wider_inputs(context, found)) {
    findings.push_back(*wider);
    context.assume.wider_inputs = true;
  }
  return findings;
}

// Operators whose sample stands out are replayed whole, as long as all of it costs no more than one
// forward pass. A replay with its terms and the wider inputs costs about eight evaluations.
void confirm(const Context& context, std::vector<Found>& found) {
  constexpr std::uint64_t kEvaluations = 8;
  const auto count = static_cast<std::uint32_t>(context.problem.operators.size());
  std::uint64_t left = 0;
  for (std::uint32_t op = 0; op < count; ++op) {
    left += std::min(work_of(context, op), std::uint64_t{1} << 40U);
  }
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t op = 0; op < count; ++op) {
    const std::uint64_t work = work_of(context, op);
    if (wants_confirmation(context, op, found) && work <= left / kEvaluations) {
      left -= work * kEvaluations;
      chosen.push_back(op);
    }
  }
  parallel_for(
      chosen.size(), context.options.jobs,
      [&](std::size_t i) {
        const ValueId value = context.problem.operators[chosen[i]].outputs.front();
        const Found sampled = found[value];
        found[value] = Found{};
        run_component(context, {chosen[i]}, found, true);
        if (found[value].state != Found::State::judged) {
          found[value] = sampled;
        }
      },
      context.options.cancel);
}

std::string run_sentence(const Context& context, const Labels& labels) {
  if (!labels.first.empty()) {
    const ValueId value = labels.first.front();
    const ValueFacts& facts = context.facts.values[value];
    const std::string& name = facts.producer == kNobody
                                  ? context.problem.values[value].name
                                  : context.problem.operators[facts.producer].op->name;
    return "first divergence at \"" + name + "\": " + labels.values[value]->sentence;
  }
  if (!labels.lost_outputs.empty()) {
    return "output \"" + context.problem.values[labels.lost_outputs.front()].name +
           "\" of the network is on one side only";
  }
  if (labels.inputs_differ) {
    return "the two runs were not given the same inputs";
  }
  if (labels.judged == 0) {
    return "nothing could be judged";
  }
  return labels.unjudged == 0
             ? std::string("every operator stays within what its precision explains")
             : "every operator that could be judged stays within what its precision explains; " +
                   std::to_string(labels.unjudged) +
                   (labels.unjudged == 1 ? " tensor" : " tensors") + " could not be judged";
}

RunVerdict conclude(const Context& context, const Labels& labels) {
  RunVerdict run;
  if (labels.culprits > 0 || !labels.lost_outputs.empty()) {
    run.outcome = Outcome::fail;
  } else if (labels.inputs_differ || labels.judged == 0) {
    run.outcome = Outcome::inconclusive;
  } else {
    run.outcome = Outcome::pass;
  }
  run.first_divergence.assign(labels.first.begin(), labels.first.end());
  run.missing_outputs = labels.lost_outputs.size();
  run.unjudged = labels.unjudged;
  run.inputs_differ = labels.inputs_differ;
  run.sentence = run_sentence(context, labels);
  return run;
}

}  // namespace

Result<JudgedRun> judge(const Problem& problem, const ValueSource& source,
                        const JudgeOptions& options) {
  const Facts facts = gather_facts(problem, source, options.jobs, options.cancel);
  Context context{problem, source, options, facts, options.assume.value_or(Assumptions{})};
  std::vector<Found> found(problem.values.size());
  run_components(context, all_components(facts), found);
  std::vector<Finding> findings =
      options.assume ? declared(context.assume) : find_device(context, found);
  if (options.strongest != Tier::replay) {
    confirm(context, found);
  }
  compare_leaves(context, found);
  if (options.cancel != nullptr && options.cancel->cancelled()) {
    return Error{ErrorCode::cancelled, "judging interrupted"};
  }
  if (const auto flushed = find_flushed(context, found)) {
    findings.push_back(*flushed);
  }
  Labels labels = label_all(context, found);
  JudgedRun judged;
  judged.run = conclude(context, labels);
  judged.run.findings = std::move(findings);
  judged.values = std::move(labels.values);
  return judged;
}

}  // namespace opdrift::verdict
