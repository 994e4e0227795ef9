#include "opdrift/verdict/judge.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "opdrift/verdict/judge/labels.hpp"
#include "opdrift/verdict/judge/leaf.hpp"
#include "opdrift/verdict/judge/operator_judge.hpp"

namespace opdrift::verdict {

namespace {

using namespace judging;  // NOLINT(google-build-using-namespace): the workers of this file

// Allocation failures end one component, not the run.
void run_component(const Context& context, const std::vector<std::uint32_t>& operators,
                   std::vector<Found>& found) {
  StandIns stand_ins(context, operators);
  for (const std::uint32_t op : operators) {
    if (context.options.cancel != nullptr && context.options.cancel->cancelled()) {
      return;
    }
    try {
      OperatorJudge(context, op, stand_ins, found).run();
    } catch (const std::bad_alloc&) {
      for (const ValueId value : context.problem.operators[op].outputs) {
        if (value < found.size()) {
          found[value] = Found{};
          found[value].state = Found::State::unreadable;
          found[value].reason = "not enough memory to replay the operator";
        }
      }
    }
  }
}

std::vector<Found> find_all(const Context& context) {
  std::vector<Found> found(context.problem.values.size());
  std::atomic<std::uint64_t> done{0};
  const std::uint64_t all = context.problem.operators.size();
  parallel_for(
      context.facts.components.size(), context.options.jobs,
      [&](std::size_t i) {
        const std::vector<std::uint32_t>& operators = context.facts.components[i];
        run_component(context, operators, found);
        done += operators.size();
        if (context.options.progress) {
          context.options.progress(done, all);
        }
      },
      context.options.cancel);
  compare_leaves(context, found);
  return found;
}

std::string run_sentence(const Context& context, const Labels& labels) {
  if (!labels.first.empty()) {
    const ValueId value = labels.first.front();
    const ValueFacts& facts = context.facts.values[value];
    const std::string op = context.problem.operators[facts.producer].op->name;
    return "first divergence at \"" + op + "\": " + labels.values[value]->sentence;
  }
  if (!labels.lost_outputs.empty()) {
    return "output \"" + context.problem.values[labels.lost_outputs.front()].name +
           "\" of the network is on one side only";
  }
  if (labels.inputs_differ) {
    return "the two runs were not given the same inputs";
  }
  return labels.judged == 0 ? "nothing could be judged"
                            : "every operator stays within what its precision explains";
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
  run.sentence = run_sentence(context, labels);
  return run;
}

}  // namespace

Result<JudgedRun> judge(const Problem& problem, const ValueSource& source,
                        const JudgeOptions& options) {
  const Facts facts = gather_facts(problem, source, options.jobs, options.cancel);
  const Context context{problem, source, options, facts, options.assume.value_or(Assumptions{})};
  const std::vector<Found> found = find_all(context);
  if (options.cancel != nullptr && options.cancel->cancelled()) {
    return Error{ErrorCode::cancelled, "judging interrupted"};
  }
  Labels labels = label_all(context, found);
  JudgedRun judged;
  judged.run = conclude(context, labels);
  judged.values = std::move(labels.values);
  return judged;
}

}  // namespace opdrift::verdict
