#pragma once

#include <span>
#include <string>

/// Comparing commands of the msit front end (diagnose/offline/compare_run.hpp does the work; see
/// docs/offline.md for what differs).
namespace opdrift::compat {

/// `msit debug compare -gm MODEL -om MODEL.om [option]...`, or -mp DUMP -gp DUMP --ops-json GRAPH.
/// With neither a golden model nor a golden path the help text is printed and the status is 0.
int run_msit_compare(std::span<const std::string> args);

/// `msit debug dump -m MODEL -dp cpu [option]...`
int run_msit_dump(std::span<const std::string> args);

}  // namespace opdrift::compat
