#pragma once

#include "opdrift/shell/screen/screen.hpp"

namespace opdrift::shell {

/// Stops at the end of a page of the terminal until a key is pressed: blank for the next page,
/// enter for the next line, q or Ctrl-C to leave out the rest.
PageAnswer ask_for_page();

}  // namespace opdrift::shell
