#pragma once

#include "opdrift/base/result.hpp"
#include "opdrift/shell/session.hpp"

namespace opdrift::shell {

/// Operators that cast DT_FLOAT to DT_INT32, a type of less range, in every run.
Status show_dangerous_casts(Session& session);

/// Operators of debug_0 and debug_1 whose graphs have the same session id and whose types or
/// formats differ; nothing when only one of them has graphs.
Status show_similarity(Session& session);

}  // namespace opdrift::shell
