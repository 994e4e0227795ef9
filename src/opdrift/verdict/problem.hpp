#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/replay/kind.hpp"
#include "opdrift/replay/registry.hpp"
#include "opdrift/tensor/view.hpp"
#include "opdrift/verdict/result.hpp"

/// What a judge needs to know of a network: operators in topological order over numbered values,
/// and a way to look at the values of both sides.
namespace opdrift::verdict {

/// Position in Problem::values.
using ValueId = std::uint32_t;
inline constexpr ValueId kAbsent = ~ValueId{0};

struct ProblemValue {
  enum class Role : std::uint8_t { network_input, parameter, computed };
  std::string name;
  Role role = Role::computed;
  bool network_output = false;
};

struct ProblemOperator {
  const graph::Operator* op = nullptr;         ///< outlives the problem
  const replay::OperatorKind* kind = nullptr;  ///< nullptr: not known
  std::vector<ValueId> inputs;                 ///< kAbsent for absent optional inputs
  std::vector<ValueId> outputs;                ///< kAbsent for outputs nobody named
  /// False: whoever made the problem decides about the outputs; what stands upstream is passed on.
  bool judged = true;
};

/// A golden graph. Every value is made by at most one operator and before it is read.
struct Problem {
  std::vector<ProblemValue> values;
  std::vector<ProblemOperator> operators;  ///< topological order
};

/// Values of both sides. All functions may be called from several threads.
class ValueSource {
 public:
  ValueSource() = default;
  ValueSource(const ValueSource&) = delete;
  ValueSource& operator=(const ValueSource&) = delete;
  virtual ~ValueSource() = default;

  /// Whether this side has the value. Parameters: the golden's own, and the target's only where
  /// they were given separately (else the golden's stand for both).
  virtual bool has(RunSide side, ValueId value) const = 0;

  /// The value in the logical order of the golden, mapped and not copied. The view keeps its bytes
  /// alive. The target's view may have another shape only where the element counts differ.
  virtual Result<tensor::View> view(RunSide side, ValueId value) const = 0;
};

}  // namespace opdrift::verdict
