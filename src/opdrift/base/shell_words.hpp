#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opdrift {

/// Words of a command line: split at blanks; '…' and "…" keep blanks together, a backslash takes
/// the next character as it is (not within '…'). Nothing else of a shell has a meaning here: `;`
/// and `|` are characters of a word. A quote that is never closed reaches to the end.
std::vector<std::string> shell_words(std::string_view text);

/// A word as a POSIX shell takes it back; unchanged where no quoting is needed.
std::string shell_quoted(std::string_view word);

/// A command to copy into a shell.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace opdrift
