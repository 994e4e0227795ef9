#include "opdrift/verdict/judge/labels.hpp"

#include <algorithm>
#include <cmath>

#include "opdrift/replay/number_format.hpp"
#include "opdrift/verdict/judge/sentence.hpp"

namespace opdrift::verdict::judging {

namespace {

using Role = ProblemValue::Role;
using State = Found::State;

constexpr double kCulprit = 4.0;
constexpr double kWatch = 2.0;
constexpr double kHuge = 1e60;

// What a value hands on to the operators that read it.
struct Depth {
  double r = 0.0;
  double b = 0.0;
  bool culprit_upstream = false;  ///< or made here; inputs that differ count
  bool blamed_upstream = false;   ///< an operator or a parameter, or made here
  bool classes = false;           ///< elements of another class here or, unseen, upstream
  bool known = false;             ///< both sides were seen, or stood in for
};

double ratio(double part, double whole) {
  return part == 0.0 ? 0.0 : std::min(part / std::max(whole, 1e-300), kHuge);
}

class Labeller {
 public:
  Labeller(const Context& context, const std::vector<Found>& found)
      : context_(context), found_(found), depth_(found.size()) {
    labels_.values.resize(found.size());
  }

  Labels run() {
    for (ValueId value = 0; value < found_.size(); ++value) {
      if (context_.facts.values[value].producer == kNobody) {
        label_leaf(value);
      }
      const ValueFacts& facts = context_.facts.values[value];
      if (context_.problem.values[value].network_output && facts.golden != facts.target) {
        labels_.lost_outputs.push_back(value);
      }
    }
    for (const ProblemOperator& op : context_.problem.operators) {
      bool blamed = false;
      for (const ValueId value : op.outputs) {
        if (value < found_.size()) {
          blamed = label_output(op, value, blamed) || blamed;
        }
      }
    }
    return std::move(labels_);
  }

 private:
  // What reaches an operator through its inputs.
  struct Incoming {
    double r2 = 0.0;
    double b2 = 0.0;
    double b_sum = 0.0;
    bool culprit = false;
    bool blamed = false;  ///< not the inputs of the network
    bool classes = false;
    double scale = 0.0;  ///< largest input norm per root of its elements
    double largest_r = 0.0;
    bool known = true;  ///< every input was looked at, or stood in for
    bool any = false;   ///< there are inputs at all

    /// The sides read the same: whatever differs behind the operator is its own.
    bool same() const { return any && known && !classes && r2 == 0.0; }
  };

  Incoming incoming(const ProblemOperator& op) const {
    Incoming in;
    for (const ValueId value : op.inputs) {
      if (value >= found_.size() || (context_.problem.values[value].role == Role::parameter &&
                                     !context_.facts.values[value].target)) {
        continue;
      }
      const Depth& depth = depth_[value];
      in.any = true;
      in.culprit = in.culprit || depth.culprit_upstream;
      in.blamed = in.blamed || depth.blamed_upstream;
      in.classes = in.classes || depth.classes;
      in.r2 += depth.r * depth.r;
      in.b2 += depth.b * depth.b;
      in.b_sum += depth.b;
      in.largest_r = std::max(in.largest_r, depth.r);
      in.known = in.known && depth.known;
      const Found& found = found_[value];
      if (!found.exact && found.count > 0) {
        in.scale =
            std::max(in.scale, found.golden_norm / std::sqrt(static_cast<double>(found.count)));
      }
    }
    return in;
  }

  void label_leaf(ValueId value) {
    const Found& found = found_[value];
    if (found.state == State::absent) {
      return;
    }
    depth_[value].known = found.state == State::judged;
    const ValueFacts& facts = context_.facts.values[value];
    const bool coarser =
        replay::unit_roundoff(facts.target_dtype) > replay::unit_roundoff(facts.golden_dtype);
    Judgement judgement = found.judgement;
    Depth& depth = depth_[value];
    depth.b = coarser ? 0.42 * replay::unit_roundoff(facts.target_dtype) : 0.0;
    depth.r = ratio(found.error_norm, found.golden_norm);
    depth.classes = found.judgement.new_classes > 0;
    judgement.relative = depth.r;
    judgement.depth = depth.b;
    const bool input = context_.problem.values[value].role == Role::network_input;
    if (context_.problem.values[value].role == Role::computed) {
      depth.b = std::max(depth.b, depth.r);  // by something that nobody recorded
    }
    if (found.state == State::unreadable) {
      judgement.label = Label::unjudged;
    } else if (found.judgement.cause != Cause::none || found.judgement.new_classes > 0) {
      const bool parameter = context_.problem.values[value].role == Role::parameter;
      judgement.label = parameter ? Label::culprit : Label::watch;
      judgement.cause = parameter ? cause_of_parameter(found) : Cause::different;
      if (parameter) {
        labels_.first.push_back(value);
        ++labels_.culprits;
        depth.culprit_upstream = depth.blamed_upstream = true;
        // No norm tells how far an Inf is from a number: all that it was is lost.
        depth.r = depth.classes ? std::max(depth.r, 1.0) : depth.r;
      }
      depth.culprit_upstream =
          depth.culprit_upstream || input;  // what follows is a victim of the inputs
      labels_.inputs_differ = labels_.inputs_differ || input;
    } else {
      judgement.label = Label::healthy;
      // Below the normal numbers rounding costs more than 0.42 u, and is still nothing but that.
      depth.b = judgement.depth = std::max(depth.b, depth.r);
    }
    const bool unknown = context_.problem.values[value].role == Role::computed;
    labels_.unjudged += unknown && judgement.label != Label::healthy ? 1U : 0U;
    judgement.sentence = leaf_sentence(context_, value, found, judgement);
    labels_.judged += judgement.label != Label::unjudged && input ? 1U : 0U;
    labels_.values[value] = std::move(judgement);
  }

  // Another class tells more only where it is that of a number beyond the range.
  static Cause cause_of_parameter(const Found& found) {
    const Cause cause = found.judgement.new_classes > 0 ? found.class_cause : found.judgement.cause;
    return cause == Cause::overflow || cause == Cause::saturated ? cause : Cause::different;
  }

  void step_e(const Incoming& in, const Found& found, Judgement& judgement, Depth& depth) const {
    const auto count = static_cast<double>(std::max<std::uint64_t>(found.count, 1));
    double scale = found.golden_norm;
    if (!(scale > found.budget)) {
      scale = std::max({scale, found.budget, in.scale * std::sqrt(count)});
    }
    double rho = ratio(found.budget, scale);
    if (found.equal && found.budget == 0.0) {
      rho = 0.42 * replay::unit_roundoff(found.dtype);
    }
    const double h = ratio(found.inherited_norm, scale);
    const double inputs = std::sqrt(in.r2);
    const double gain = inputs > 0.0 ? std::min(h / inputs, kHuge) : 1.0;
    depth.r = ratio(found.error_norm, scale);
    const double carried = context_.assume.truncation ? gain * in.b_sum : gain * std::sqrt(in.b2);
    depth.b = context_.assume.truncation ? rho + carried : std::hypot(rho, carried);
    depth.b = std::min(depth.b, kHuge);
    judgement.relative = depth.r;
    judgement.rho = rho;
    judgement.depth = depth.b;
    judgement.inherited = h;
    judgement.gain = gain;
    judgement.own = ratio(found.own_norm, scale);
    judgement.q_cum = ratio(depth.r, depth.b);
  }

  void decide(const Found& found, const Incoming& in, Judgement& judgement) const {
    const double peak = std::max(judgement.q_own, judgement.z);
    // What the precision costs here anyway, as foreseen and as measured.
    const double cost = std::min(judgement.depth, std::hypot(judgement.rho, judgement.inherited));
    const double before = std::max(judgement.q1, judgement.z1);
    const bool wide = context_.assume.wider_inputs;
    set(judgement, Label::healthy, Cause::none);
    if (judgement.new_classes > 0) {
      set(judgement, Label::culprit, found.class_cause);
      return;
    }
    if (found.equal) {
      return;
    }
    if (!(judgement.z <= kCulprit)) {
      const bool wide_spread = !(judgement.q_own <= kCulprit);
      set(judgement, Label::culprit, wide_spread ? Cause::own_error : Cause::local_error);
    } else if (!(judgement.q_own <= kCulprit) && !(judgement.own <= cost)) {
      set(judgement, Label::culprit, Cause::own_error);
    } else if (judgement.inherited_classes > 0) {
      set(judgement, Label::victim, Cause::inherited_class);
    } else if (!(judgement.q_cum <= kCulprit)) {
      set(judgement, in.culprit ? Label::victim : Label::drift, Cause::inherited_error);
    } else if (!(judgement.q_own <= kCulprit)) {
      set(judgement, Label::watch, Cause::below_precision);
    } else if (!(peak <= kWatch)) {
      set(judgement, Label::watch, Cause::above_budget);
    } else if (!(before <= kCulprit) && !wide) {
      set(judgement, Label::watch, Cause::wider_inputs);
    }
  }

  static void set(Judgement& judgement, Label label, Cause cause) {
    judgement.label = label;
    judgement.cause = cause;
  }

  void decide_exact(const Found& found, const Incoming& in, Judgement& judgement) const {
    if (judgement.new_classes > 0) {
      set(judgement, Label::culprit, found.class_cause);
    } else if (judgement.inherited_classes > 0) {
      set(judgement, in.culprit ? Label::victim : Label::healthy,
          in.culprit ? Cause::inherited_error : Cause::tie);
    } else {
      set(judgement, Label::healthy, Cause::none);
    }
  }

  // The operator could not be replayed: classes speak, and the shape of the error (tier N).
  void decide_unmodelled(const ProblemOperator& op, const Found& found, const Incoming& in,
                         Judgement& judgement) const {
    if (found.equal) {
      judgement.tier = Tier::exact;
      set(judgement, Label::healthy, Cause::none);
    } else if (judgement.new_classes > 0 && !in.classes) {
      set(judgement, Label::culprit, found.class_cause);
    } else if (judgement.new_classes > 0) {
      judgement.inherited_classes = judgement.new_classes;
      judgement.new_classes = 0;
      set(judgement, Label::victim, Cause::inherited_class);
    } else if ((judgement.tier != Tier::shape && judgement.tier != Tier::norms) || !in.known) {
      judgement.tier = Tier::none;
      set(judgement, Label::unjudged, Cause::not_modelled);
    } else {
      decide_by_shape(op, found, in, judgement);
    }
  }

  // Where nothing came in no gain is needed. What the operator does inside is not known, so it gets
  // the limit of results without a model.
  static bool too_large_alone(const Found& found, const Incoming& in) {
    constexpr double kRoundoffs = 32.0;
    constexpr double kLeast = 1e-3;
    const double limit = std::max(kRoundoffs * replay::unit_roundoff(found.dtype), kLeast);
    return in.same() && !(ratio(found.error_norm, found.golden_norm) <= limit);
  }

  // Without weights the gain is unknown, so the size of the error alone is never blamed. Without a
  // profile of what the inputs bring, their faults are not told from new ones.
  void decide_by_shape(const ProblemOperator& op, const Found& found, const Incoming& in,
                       Judgement& judgement) const {
    const double u = replay::unit_roundoff(found.dtype);
    const double own = std::hypot(found.budget, 0.42 * u * found.golden_norm);
    const double carried = std::max(found.white, in.largest_r * found.golden_norm);
    judgement.q_own = ratio(found.error_norm, std::hypot(own, carried));
    const bool blamed = !(judgement.z <= kCulprit) && (found.shaped || !in.culprit);
    const bool sized = judgement.tier == Tier::norms && !(judgement.q_own <= kCulprit);
    const bool random = op.kind != nullptr && op.kind->evaluate == nullptr;
    const bool alone = !random && too_large_alone(found, in);
    if (blamed || sized || alone) {
      set(judgement, Label::culprit, blamed ? Cause::local_error : Cause::own_error);
    } else if (!(judgement.z <= kCulprit)) {
      set(judgement, Label::victim, Cause::inherited_error);
    } else if (!(std::max(judgement.q_own, judgement.z) <= kWatch)) {
      set(judgement, Label::watch, Cause::not_modelled);
    } else {
      set(judgement, Label::healthy, Cause::not_modelled);
    }
  }

  void pass_on(const Incoming& in, const Found& found, Depth& depth) const {
    depth.culprit_upstream = in.culprit;
    depth.blamed_upstream = in.blamed;
    depth.classes = in.classes;
    depth.known = found.state == State::replayed;
    if (found.state == State::replayed) {
      depth.r = ratio(found.error_norm, found.golden_norm);
      depth.b =
          std::min(std::hypot(ratio(found.budget, found.golden_norm), std::sqrt(in.b2)), kHuge);
    } else {
      depth.r = std::sqrt(in.r2);
      depth.b = std::sqrt(in.b2);
    }
  }

  // All of the error may have come in: the gain is unknown.
  static void note_unmodelled(const Incoming& in, const Found& found, Depth& depth) {
    depth.r = ratio(found.error_norm, found.golden_norm);
    depth.b = in.r2 > 0.0 ? depth.r * std::sqrt(in.b2 / in.r2) : depth.r;
  }

  // An operator that is not judged hands on what it was given.
  static void hand_on(const Incoming& in, const Found& found, Depth& depth) {
    note_unmodelled(in, found, depth);
    depth.culprit_upstream = in.culprit;
    depth.blamed_upstream = in.blamed;
    depth.classes = found.judgement.new_classes > 0 && !found.exact;
    depth.known = found.state != State::unreadable;
  }

  // Returns whether the value is a CULPRIT. `blamed`: an earlier output of the operator is one.
  bool label_output(const ProblemOperator& op, ValueId value, bool blamed) {
    const Found& found = found_[value];
    const Incoming in = incoming(op);
    Depth& depth = depth_[value];
    if (found.state == State::absent || found.state == State::replayed) {
      pass_on(in, found, depth);
      return false;
    }
    if (!op.judged) {
      hand_on(in, found, depth);
      return false;
    }
    Judgement judgement = found.judgement;
    if (found.state == State::unreadable) {
      pass_on(in, found, depth);
      set(judgement, Label::unjudged, Cause::not_modelled);
    } else if (found.state == State::compared) {
      note_unmodelled(in, found, depth);
      judgement.relative = depth.r;
      decide_unmodelled(op, found, in, judgement);
    } else if (found.exact) {
      decide_exact(found, in, judgement);
    } else {
      step_e(in, found, judgement, depth);
      decide(found, in, judgement);
    }
    depth.known = found.state != State::unreadable;
    const bool culprit = judgement.label == Label::culprit;
    depth.culprit_upstream = in.culprit || culprit;
    depth.blamed_upstream = in.blamed || culprit;
    depth.classes = judgement.new_classes + judgement.inherited_classes > 0 && !found.exact;
    if (culprit && !in.blamed && !blamed) {
      labels_.first.push_back(value);
    }
    labels_.culprits += culprit ? 1U : 0U;
    ++(judgement.label != Label::unjudged ? labels_.judged : labels_.unjudged);
    judgement.sentence = sentence(context_, value, found, judgement);
    labels_.values[value] = std::move(judgement);
    return culprit;
  }

  const Context& context_;
  const std::vector<Found>& found_;
  std::vector<Depth> depth_;
  Labels labels_;
};

}  // namespace

Labels label_all(const Context& context, const std::vector<Found>& found) {
  return Labeller(context, found).run();
}

}  // namespace opdrift::verdict::judging
