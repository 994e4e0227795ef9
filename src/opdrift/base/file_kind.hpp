#pragma once

#include <cstddef>
#include <string>

/// What stands under a path, links followed. Nothing here waits for a pipe or a device.
namespace opdrift {

bool is_folder(const std::string& path);
/// A regular file.
bool is_file(const std::string& path);

/// The first `most` bytes of a regular file, fewer when it is shorter; "" when it cannot be read.
std::string file_head(const std::string& path, std::size_t most);

}  // namespace opdrift
