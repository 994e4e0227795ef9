#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"

namespace opdrift::pipeline {

/// A regular file below a dump folder.
struct WalkedFile {
  std::string path;  ///< as opened
  std::string step;  ///< folder relative to the root, "" for the root itself, `/` between parts
  std::string name;  ///< last component
};

/// What a walk found. Entries are sorted by path, so the order never depends on the file system.
struct Walk {
  std::vector<WalkedFile> files;
  std::vector<Error> problems;  ///< folders that could not be listed, entries that are no files
};

/// Lists every regular file below `root`, which may also be a single file. Links to files are
/// followed; links to folders are followed once per target, so loops end. At most 64 levels deep.
/// Fails with not_found or permission when the root itself cannot be listed.
Result<Walk> walk_folder(const std::string& root);

}  // namespace opdrift::pipeline
