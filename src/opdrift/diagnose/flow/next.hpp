#pragma once

#include <string>

#include "opdrift/diagnose/flow/diagnosis.hpp"
#include "opdrift/diagnose/flow/step.hpp"

namespace opdrift::diagnose::flow {

/// The command and the files of an experiment:
///
///   high       --precision_mode=allow_fp32_to_fp16, or force_fp32
///   mixed_<k>  --keep_dtype=keep_dtype.cfg --precision_mode=force_fp16
///   nobuf      --buffer_optimize=off_optimize
///   noreuse    --disable_reuse_memory=1
///   nofuse     --fusion_switch_file=fusion_switch.cfg
///   noaipp     without --insert_op_conf
///   noquant    without --compression_optimize_conf
///   dump A.vs.B, bisect   commands of opdrift
///
/// Where the options of the base command are not known only those to add are given.
NextStep next_step(const StepInput& input, const Experiment& experiment);

}  // namespace opdrift::diagnose::flow
