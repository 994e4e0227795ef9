#pragma once

#include <string>
#include <vector>

#include "opdrift/verdict/result.hpp"

namespace opdrift::report {

/// A result as the data of a page (docs/report.md): the head as in result.json, the tensors as
/// columns, the network, the ledger. Of ledgers with more than 60,000 lines those of tensors that
/// were compared are left out first. In pieces of JSON in the order of need: what summary and
/// curve show; the network and the table; the numbers of single tensors; the ledger. The page is
/// there when the first has been read. Texts have one numbering; every piece brings its new ones.
std::vector<std::string> page_data(const verdict::RunResult& result);

}  // namespace opdrift::report
