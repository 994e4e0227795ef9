#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opdrift/diagnose/offline/failure.hpp"

/// The folder of one comparison, `<output>/YYYYmmddHHMMSS`. While it waits for device dumps it
/// holds a file `.waiting` with the key of its command, by which the same command finds it again.
namespace opdrift::diagnose::offline {

struct Workspace {
  std::string folder;  ///< absolute
  bool resumed = false;
};

/// The latest folder that waits for `key`, else a new one. Fails with write_file.
Outcome<Workspace> open_workspace(const std::string& output, std::string_view key);

/// Marks the folder as waiting for `key`.
Done mark_waiting(const Workspace& workspace, std::string_view key);
/// Takes the mark away.
void unmark_waiting(const Workspace& workspace);

/// The key of a command: its options, whatever their texts hold.
std::string command_key(const std::vector<std::string>& options);

}  // namespace opdrift::diagnose::offline
