#pragma once

#include <string>
#include <vector>

#include "opdrift/match/network.hpp"

/// Joins the target's graph with the graph of what it is compared with.
namespace opdrift::match {

/// Replaces originals by the originals of the quantised model's operators they name.
///
/// Per operator, an original that `quantised` knows becomes the originals of that operator's whole
/// group (duplicates removed, order kept); unknown ones vanish, unless none is known. An output
/// whose origin is known becomes output number `origin index` of that operator (an empty
/// description past the end), keeping format and shape when it has a format; unknown ones vanish,
/// unless none is known. Groups are made anew without L1 groups.
Network merge_quantised(const Network& target, const Network& quantised);

struct CloseFusionMerge {
  Network network;
  std::vector<std::string> warnings;  ///< originals the other graph does not know
};

/// Replaces originals by the operators of a build of the same model with fusion switched off.
///
/// An original becomes the operator of `unfused` that came from it (the last of several). An output
/// becomes that operator's output with the same origin name and index; its index stays when there
/// is none. Groups and Index stay.
///
/// `keep_first_only` leaves out every operator whose first original (or the operator that leads to)
/// was met in a later group, or earlier in its own: all device-only operators but the last go too.
CloseFusionMerge merge_close_fusion(const Network& target, const Network& unfused,
                                    bool keep_first_only);

}  // namespace opdrift::match
