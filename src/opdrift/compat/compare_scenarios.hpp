#pragma once

#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/compat/compare_request.hpp"
#include "opdrift/compat/reference_log.hpp"

/// The scenarios of `compare` that are not a whole network.
namespace opdrift::compat {

/// Compares two files and logs a line of names, one of values and the messages. Both files are
/// NumPy arrays or, ending in .txt, numbers. Fails with malformed (no array) or mismatch (shapes).
Status compare_two_files(const CompareRequest& request, ReferenceLog& log);

/// Compares two files of a PyTorch dump; writes result_<time>.csv.
Status compare_torch_files(const CompareRequest& request, const std::string& output,
                           ReferenceLog& log);

/// `text` to a new file in `folder`; an older file of that name is replaced.
Status write_result(const std::string& folder, const std::string& name, const std::string& text);

}  // namespace opdrift::compat
