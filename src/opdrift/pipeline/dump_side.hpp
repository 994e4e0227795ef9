#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/io/dump_folder.hpp"

namespace opdrift::pipeline {

/// The dump of one operator, opened.
struct OpenedDump {
  io::FileDump dump;
  bool sliced = false;   ///< its header carries slice information
  bool complete = true;  ///< of a sliced operator, all slices are there
  std::vector<std::string> warnings;
};

/// One side of a network comparison: a folder listed once, its operators opened on demand.
///
/// Small dumps of several tensors stay in memory (up to `kKeepBytes` in all) so that an operator
/// whose tensors are compared at different times is read once; large ones are mapped again, and
/// files of one tensor are read for it. Any thread may open.
class DumpSide {
 public:
  static constexpr std::uint64_t kKeepBytes = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kSmallBytes = 64 << 10;

  /// `reference`: files the reference refuses as a whole are refused (io::first_problem).
  /// Fails as io::scan_folder does.
  static Result<std::unique_ptr<DumpSide>> scan(const std::string& path,
                                                const io::ScanOptions& options, bool reference);

  const io::DumpFolder& folder() const { return folder_; }
  io::FolderKind kind() const { return kind_; }
  bool quantised() const { return quantised_; }
  bool has_npy() const { return has_npy_; }

  /// Position of an operator by its key in the folder.
  std::optional<std::size_t> find(const std::string& key) const;
  /// The key of a model operator on this side; `output` counts where there is a file per output.
  std::string key_of(const std::string& operator_name, std::uint32_t output) const;

  /// Time stamp of the file that counts; 0 when it has none.
  std::uint64_t time_of(std::size_t entry) const { return times_[entry]; }
  /// Path of the file that counts (the first of a sliced operator).
  const std::string& path_of(std::size_t entry) const;
  /// First part of the file name of device dumps, "" for others.
  std::string type_of(std::size_t entry) const;

  /// Opens the dump. Fails with what reading or joining the files fails with.
  Result<std::shared_ptr<const OpenedDump>> open(std::size_t entry) const;

  /// Gives back what is kept of a dump that will not be opened again, or seldom.
  void forget(std::size_t entry) const;

  std::uint64_t bytes_opened() const { return bytes_opened_.load(); }

 private:
  DumpSide() = default;
  Result<OpenedDump> read(const io::FolderEntry& entry) const;
  void judge_kind();

  io::DumpFolder folder_;
  io::FolderKind kind_ = io::FolderKind::offline;
  bool quantised_ = false;
  bool has_npy_ = false;
  bool reference_ = false;
  std::vector<std::uint64_t> times_;
  mutable std::mutex kept_mutex_;
  mutable std::vector<std::shared_ptr<const OpenedDump>> kept_;
  mutable std::uint64_t kept_bytes_ = 0;
  mutable std::atomic<std::uint64_t> bytes_opened_{0};
};

/// Opens one dump file: nano by its magic number, NumPy by content or name, else a device dump.
Result<io::FileDump> open_dump_file(const std::string& path, const std::string& real_name);

}  // namespace opdrift::pipeline
