#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/bisect/search.hpp"
#include "opdrift/engine/surgery/workpiece.hpp"

/// The part of a network that is searched, in topological order, and the places to cut it.
///
///   order        nodes on paths from a start to an end
///   stops        positions in `order`: the cut points, and for a suffix position 0, for a prefix
///                the last position, so that the largest part is everything
///   part(p)      suffix: order[p ...]; prefix: order[... p]
///
/// All nodes behind a cut point depend on it, and it depends on all before it, so these parts are
/// "the cut point and all it feeds" and "all that feeds the cut point and itself". Between two cut
/// points any position can be cut at, with several values crossing the cut.
namespace opdrift::diagnose {

class CutPlan {
 public:
  /// `start` and `end` name operators; "" stands for all that read an input and all that make an
  /// output. Fails with not_found, ambiguous, or mismatch (no path).
  static Result<CutPlan> create(const engine::Workpiece& piece, const std::string& start,
                                const std::string& end);

  const std::vector<std::size_t>& order() const { return order_; }
  /// Ascending; never empty.
  std::vector<std::size_t> stops(Direction direction) const;
  engine::NodeSet part(Direction direction, std::size_t position) const;
  /// The positions that a search over `stops` has left: those from its answer to its neighbour.
  std::vector<std::size_t> between(Direction direction, const std::vector<std::size_t>& stops,
                                   const SearchAnswer& answer) const;
  /// Values that are judged: all outputs of `end`, or the graph outputs that nodes make.
  const std::vector<std::string>& finals() const { return finals_; }
  const std::vector<std::size_t>& ends() const { return ends_; }

 private:
  std::size_t nodes_ = 0;  // of the whole graph
  std::vector<std::size_t> order_;
  std::vector<std::size_t> cuts_;  // positions in order_
  std::vector<std::size_t> ends_;
  std::vector<std::string> finals_;
};

/// What two runtimes exchange when one runs `target` and the other one everything else.
struct Split {
  engine::NodeSet target;
  engine::NodeSet rest;                 ///< nodes that depend on the target's values
  std::vector<std::string> to_target;   ///< golden values the target part reads
  std::vector<std::string> to_rest;     ///< values the target part makes and the rest reads
  std::vector<std::string> rest_reads;  ///< golden values the rest reads beside those
  std::vector<std::string> target_finals;
  std::vector<std::string> rest_finals;
};

Split split_off(const engine::Workpiece& piece, const CutPlan& plan, engine::NodeSet target);

}  // namespace opdrift::diagnose
