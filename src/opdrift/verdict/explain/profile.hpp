#pragma once

#include "opdrift/verdict/explain/evidence.hpp"

namespace opdrift::verdict::refit {

/// The first pass: fills `evidence.profile`. Fails with `cancelled`.
Status take_profile(Evidence& evidence);

}  // namespace opdrift::verdict::refit
