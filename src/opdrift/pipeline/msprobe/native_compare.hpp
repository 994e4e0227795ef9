#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"

/// msprobe's dumps as opdrift compares them: the pairs of the front end, every tensor measured and
/// judged like that of any other dump, every file and tensor of both sides in the ledger.
///
///   torchair   a folder with dynamo_original_*.txt: GE dump, beside a GE or an FX dump
///   api run    dump.json or debug.json, or a folder with ([graph|pynative/] step<N>/ rank<R>/) one
namespace opdrift::pipeline {

enum class MsprobeKind : std::uint8_t { none, torchair, api_run };

/// What two paths hold. Looks at names, and at the head of files named like runs.
MsprobeKind msprobe_kind(const std::string& target, const std::string& golden);

/// Fails when no rank is on both sides or a graph cannot be read.
Result<verdict::RunResult> compare_torchair_dumps(const std::string& target,
                                                  const std::string& golden,
                                                  const CompareOptions& options);

/// Fails when a side holds no run that can be read; says what was looked for and what was found.
Result<verdict::RunResult> compare_api_dumps(const std::string& target, const std::string& golden,
                                             const CompareOptions& options);

}  // namespace opdrift::pipeline
