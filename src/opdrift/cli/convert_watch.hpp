#pragma once

#include <string>

namespace opdrift::cli {

/// `convert FOLDER --to stats --watch`: follows a dump while it is written.
struct WatchRequest {
  std::string folder;
  std::string output;          ///< "" for records beside the files
  bool delete_source = false;  ///< remove a file once its record is on the disk
  double settle_s = 2.0;       ///< a file whose writer gives no sign is finished after this
  double idle_s = 0.0;         ///< end when nothing happened for so long; 0: only on Ctrl-C
};

/// One line on standard output per record, failure and removed file; a summary at the end. Returns
/// kExitTrouble when a tensor file could not be read or a record not be written.
int watch_folder(const WatchRequest& request);

}  // namespace opdrift::cli
