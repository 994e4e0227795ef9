#pragma once

#include "opdrift/verdict/explain/evidence.hpp"

namespace opdrift::verdict::refit {

/// The second pass: fills `evidence.bad`. An element is bad when its class differs or
///   d^2 > (k sigma)^2 + (16 m)^2 max(|b|, rms b)^2
/// k = Evidence::most_sigmas(); m = the median of
/// |d| / max(|b|, rms b) over the even half of the sample. m = 0 when nothing is bad by this, and
/// when m is above 1/32 and less than half of the error is: what lies on all elements then is no
/// noise but the fault itself.
/// Chunks with nothing beyond k sigma are not read again. Fails with `cancelled`.
Status map_bad_elements(Evidence& evidence);

}  // namespace opdrift::verdict::refit
