#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/metrics/measurement.hpp"
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
  /// A parameter that was given for the target: it may differ from the golden's, on purpose.
  bool given_for_target = false;
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

/// What a comparison has found out about the two sides of a value.
struct MeasuredValue {
  const metrics::Measurement* measurement = nullptr;  ///< over all elements; nullptr: not known
  std::span<const float> peaks;                       ///< MeasureOptions::peaks
};

/// What kind of tensor a value is on one side, in the golden's logical order.
struct ValueOutline {
  tensor::DType dtype = tensor::DType::raw;
  tensor::Shape shape;
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

  /// Type and shape of what view() gives, where they are known without opening it.
  virtual Result<ValueOutline> outline(RunSide side, ValueId value) const {
    OPDRIFT_TRY(const tensor::View seen, view(side, value));
    return ValueOutline{seen.tensor.desc.dtype, seen.shape()};
  }

  /// What is known of a value that both sides have, as long as the source lives.
  virtual MeasuredValue measured(ValueId value) const {
    static_cast<void>(value);
    return {};
  }

  /// An operator that makes or reads the value has been judged, once for each time that it names
  /// the value: what was kept for it may go.
  virtual void used(ValueId value) const { static_cast<void>(value); }
};

}  // namespace opdrift::verdict
