#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"

/// Turns the files of a dump into statistics, also while it is still being written.
///
///   for every finished file F:   measure -> write F.stats.json beside it (or below the output
///                                folder, at the same relative path), whole or not at all -> wait
///                                until it is on the disk -> delete F, if that is wanted
///
/// A file is finished when its writer closed or renamed it (inotify), or when neither its size nor
/// its time changed for `settle` and, where the system can tell, nobody has it open for writing. It
/// is deleted only while it still is what was measured. After a crash at any point either the file
/// or a complete record is there, and usually both; the next run goes on from that. Files no reader
/// knows, and files with a tensor that cannot be read, are never deleted. The record's format
/// stands in pipeline/stats_record.hpp.
namespace opdrift::pipeline {

enum class WatchEvent : std::uint8_t {
  recorded,  ///< a record was written
  resumed,   ///< a record of this very file was there already
  deleted,   ///< the file was removed; its record is on the disk
  ignored,   ///< not a tensor file
  failed,    ///< cannot be read as it is now; tried again when it changes
};

struct WatchOptions {
  std::string folder;
  std::string output_folder;  ///< "" for beside the files
  bool delete_source = false;
  bool follow = true;       ///< false: one pass over what is there, then return
  bool use_inotify = true;  ///< false: look again and again instead
  std::chrono::milliseconds settle{2000};
  std::chrono::milliseconds poll{500};
  std::chrono::milliseconds idle_limit{0};  ///< return when nothing happened for so long; 0: never
  const CancelFlag* cancel = nullptr;
  /// Told about every file: path below `folder`, event, reason for `ignored` and `failed`.
  std::function<void(std::string_view path, WatchEvent event, std::string_view reason)> report;
};

struct WatchOutcome {
  std::uint64_t recorded = 0;
  std::uint64_t resumed = 0;
  std::uint64_t deleted = 0;
  std::uint64_t ignored = 0;
  std::uint64_t failed = 0;  ///< files that cannot be read as they are now
};

/// Runs until cancelled, idle, or through. Fails when the folder cannot be read or a record cannot
/// be written (disk full): nothing is deleted then.
Result<WatchOutcome> watch_stats(const WatchOptions& options);

}  // namespace opdrift::pipeline
