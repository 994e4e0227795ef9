#pragma once

#include <string>

#include "opdrift/verdict/result.hpp"

namespace opdrift::report {

/// A result as the data of a page (docs/report.md): the head as in result.json, the tensors as
/// columns, the network, the ledger. Of ledgers with more than 60,000 lines those of tensors that
/// were compared are left out first.
std::string page_data(const verdict::RunResult& result);

}  // namespace opdrift::report
