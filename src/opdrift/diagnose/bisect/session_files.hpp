#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/diagnose/bisect/session.hpp"

/// What the two halves of a session share.
namespace opdrift::diagnose {

std::string state_path(const std::string& folder);

/// The search after the probes of a state. Fails with not_found for a probe of an unknown cut.
Result<Search> search_of(const SessionState& state);

/// A number that changes with the bytes of a file.
Result<std::string> hash_of_file(const std::string& path);

}  // namespace opdrift::diagnose
