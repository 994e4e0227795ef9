#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

/// File names of framework dumps (docs/formats/opdrift-dump.md):
///
///   file    = stem '.' output index '.' time '.npy'
///   stem    = node name, '.' and '/' replaced by '_'; where that is taken by an earlier node,
///             followed by '__2', '__3' and so on
///   time    = microseconds since 1970, one for the whole dump
///
/// A name of 250 bytes or more, and one with characters that some file system or tool refuses
/// (anything but letters, digits, '_', '-' and well-formed non-ASCII UTF-8), becomes
///
///   file    = 20 decimal digits '.npy'
///
/// and a row `file,name it stands for` of mapping.csv.
namespace opdrift::engine {

/// A cell of a csv file, quoted where that is needed.
std::string csv_cell(const std::string& text);

/// Hands out names that are unique within one dump.
class DumpNames {
 public:
  explicit DumpNames(std::uint64_t time_us) : time_us_(time_us) {}

  /// The stem of the next node of this name.
  std::string claim_stem(std::string_view node_name);

  /// The file for one output.
  std::string file_for(const std::string& stem, std::size_t index);

  /// Content of mapping.csv, "" when no name had to be replaced.
  std::string mapping_csv() const;

 private:
  std::uint64_t time_us_;
  std::unordered_set<std::string> stems_;
  std::unordered_set<std::string> digits_;
  std::vector<std::pair<std::string, std::string>> mapping_;
};

}  // namespace opdrift::engine
