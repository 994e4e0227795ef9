#pragma once

#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"

/// Path checks of every command of the reference, in this order:
///
///   1. empty                                                         invalid_argument
///   2. a character outside A-Z a-z 0-9 _ . / : ( ) = \ -             invalid_argument
///   3. real path of 4096 or more characters                          not_found
///   4. a component of 255 or more characters                         not_found
///   5. does not exist                                                not_found
///   6. not readable (outputs: not writable)                          permission
///   7. a folder where a file is needed, or the reverse               wrong_kind
namespace opdrift::compat {

enum class PathKind : unsigned char { file, folder, any };
enum class PathUse : unsigned char { read, write };

/// Fails as listed above.
Status check_path(const std::string& path, PathKind kind, PathUse use = PathUse::read);

/// Makes a missing output folder (with its parents, mode 700), then checks it like `check_path`.
Status prepare_output_folder(const std::string& path);

/// The path without links and relative parts; as much of it as exists is resolved.
std::string real_path(const std::string& path);

}  // namespace opdrift::compat
