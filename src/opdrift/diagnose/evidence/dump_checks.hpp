#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/evidence/edges.hpp"
#include "opdrift/diagnose/flow/facts.hpp"
#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/verdict/result.hpp"

/// Is a dump fit to be compared? (Checks C1 and C3 of the flow.)
namespace opdrift::diagnose::evidence {

/// Operators of the graph without a file and files without an operator, in words; "" when at most a
/// tenth is missing, or there is no graph.
std::string completeness(const pipeline::DumpIndex& dump, const Edges& edges);

/// Two dumps of one run.
flow::RepeatFacts compare_repeat(const verdict::RunResult& result);

}  // namespace opdrift::diagnose::evidence
