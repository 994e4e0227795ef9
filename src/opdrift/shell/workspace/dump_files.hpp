#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/shell/workspace/workspace.hpp"

/// Files of dumps by their names; of a folder with a mapping.csv the real names count.
///
///   device   type.name.task[.stream].timestamp[.csv]      .csv: statistics only
///   golden   name.index[.n].timestamp.npy
namespace opdrift::shell {

/// A dump file of a device.
struct DeviceFile {
  std::string path;
  std::string name;  ///< after mapping.csv
  std::string type;
  std::string op_name;  ///< as in file names
  std::uint64_t task = 0;
  std::optional<std::uint64_t> stream;
  std::string time;  ///< digits
  bool statistics = false;

  bool is_debug_record() const { return type == "Opdebug" && op_name == "Node_OpDebug"; }
};

/// A golden array.
struct GoldenFile {
  std::string path;
  std::string name;
  std::string op_name;
  std::uint32_t index = 0;
  std::string time;
};

/// What a name says; nothing when it is no dump of a device.
std::optional<DeviceFile> parse_device_name(std::string_view name);

/// Dump files below `folder`, by path. An absent folder has none.
std::vector<DeviceFile> device_files(const std::string& folder);
std::vector<GoldenFile> golden_files(const std::string& folder);

/// Dump files of the newest dump of a run.
std::vector<DeviceFile> device_files_of(const Workspace& workspace, int id);

/// Of `files`, those of one operator given by its names in the graph. With `part_of_path` only
/// those whose path holds it.
std::vector<DeviceFile> files_of(const std::vector<DeviceFile>& files, std::string_view type,
                                 std::string_view name, std::string_view part_of_path);
std::vector<GoldenFile> files_of(const std::vector<GoldenFile>& files, std::string_view name);

/// True when time stamp `x` is before `y`: numbers of any length.
bool is_before(std::string_view x, std::string_view y);

}  // namespace opdrift::shell
