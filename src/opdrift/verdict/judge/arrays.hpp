#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/replay/array.hpp"
#include "opdrift/replay/call.hpp"
#include "opdrift/tensor/view.hpp"
#include "opdrift/verdict/judge/facts.hpp"

// Tensors in double on their way to the replay of one operator.

namespace opdrift::verdict::judging {

using ArrayPtr = std::shared_ptr<const replay::Array>;
using ArrayList = std::vector<ArrayPtr>;

/// What stands in for a value that a side did not dump (step F).
struct StandIn {
  ArrayPtr golden;  ///< f(g_in); nullptr where the golden has the value
  ArrayPtr target;  ///< f(t_in) + (g - f(g_in)); nullptr where the target has the value
  ArrayList noisy;  ///< copies of `target` with the noise of its own budget
  std::vector<std::uint32_t> group;  ///< operators replayed to get here, in order
  std::string trouble;               ///< why there is none
  std::uint32_t readers = 0;         ///< operators that have yet to read it
};

/// Inputs of one operator on both sides.
struct Inputs {
  ArrayList golden;
  ArrayList target;                  ///< same pointers where the sides agree bit by bit
  std::vector<ArrayList> noisy;      ///< kMissingDraws lists, or none when all inputs were dumped
  bool equal = true;                 ///< both sides agree on all inputs
  bool replayed = false;             ///< a stand-in is among them
  std::vector<std::uint32_t> group;  ///< operators whose outputs stand in
};

/// The run as judging one operator sees it. Read-only; outlives all workers.
struct Context {
  const Problem& problem;
  const ValueSource& source;
  const JudgeOptions& options;
  const Facts& facts;
  Assumptions assume;
};

/// Stand-ins of one component by ValueId.
class StandIns {
 public:
  explicit StandIns(const Context& context, std::span<const std::uint32_t> operators);

  /// The stand-in of a missing value; never fails for values made in this component.
  StandIn& at(ValueId value);
  /// Frees what was read for the last time by `op`.
  void release(const ProblemOperator& op);

 private:
  std::vector<std::pair<ValueId, StandIn>> entries_;
};

/// True when two views hold the same bytes in the same order.
bool same_bytes(const tensor::View& one, const tensor::View& other);

/// Loads one side of a value.
Result<ArrayPtr> load_value(const Context& context, RunSide side, ValueId value);

/// Why an input cannot be had.
Error lacking(const Context& context, ValueId value, const std::string& why);

Error lacking_parameter(const Context& context, ValueId value);

/// Loads golden and target; one array serves both when all bytes agree.
struct Pair {
  ArrayPtr golden;
  ArrayPtr target;
};
Result<Pair> load_pair(const Context& context, ValueId value);

/// Loads everything an operator reads. Fails with the reason in words when something is neither
/// dumped nor replayed.
Result<Inputs> load_inputs(const Context& context, const ProblemOperator& op, StandIns& stand_ins);

/// round_T(w) - w for parameters that the target stores narrower; nullptr elsewhere. `values` are
/// the ids of the inputs. Inputs before `first` are left out.
ArrayList narrowed(const Context& context, std::span<const ValueId> values, const Inputs& inputs,
                   tensor::DType target, std::size_t first = 0);

/// Whether a value is a parameter that the target stores in `target`, narrower than the golden.
bool is_narrowed(const Context& context, ValueId value, tensor::DType golden, tensor::DType target);

/// Plain pointers, as a replay::Call wants them.
std::vector<const replay::Array*> pointers(const ArrayList& list);

/// Limits of a replay that keep it within the memory budget.
replay::Limits limits_of(const JudgeOptions& options);

}  // namespace opdrift::verdict::judging
