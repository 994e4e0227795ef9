#pragma once

#include <string_view>

#include "opdrift/shell/input/line_reader.hpp"
#include "opdrift/shell/session.hpp"

namespace opdrift::shell {

/// Words that may stand where the last one of `text` does: a command first, then its options, the
/// names it takes (operators, tensors, files) or the value its last option takes.
Completion complete_line(Session& session, std::string_view text);

}  // namespace opdrift::shell
