#pragma once

#include <string>

#include "opdrift/report/terminal.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::report {

/// The worst tensors of a run, one a line, `style.rows` of them:
///
///   Order Operator Type Tensor | METRICS | Verdict
///
/// METRICS are relative L2, 1 - cosine and the largest error, or those that were asked for; a
/// judged run has its budget column instead of 1 - cosine, or in addition to chosen metrics. Where
/// the width does not do, the usual ones give way down to relative L2, then the last of the others;
/// what is left out is counted below.
std::string render_tensor_table(const verdict::RunResult& result, const TerminalStyle& style);

}  // namespace opdrift::report
