#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"

/// Names too long for a file system. `mapping.csv` in a dump folder lists them:
///
///   file = row*      row = name on disk "," real name "\n"      fields as in CSV, quotes allowed
///
/// Names opdrift shortens are 32 hexadecimal digits plus the suffix: the version-3 UUID (RFC 4122)
/// of the real name in the DNS namespace, without hyphens.
namespace opdrift::io {

inline constexpr std::string_view kMappingFileName = "mapping.csv";

/// The table of one folder.
struct NameMapping {
  bool present = false;                                  ///< the folder has such a file
  std::map<std::string, std::string, std::less<>> real;  ///< name on disk -> real name
  std::vector<std::string> warnings;                     ///< rows without exactly two columns

  /// The real name; "" when the name is not listed.
  std::string_view lookup(std::string_view name_on_disk) const;
};

/// Reads `<folder>/mapping.csv`; an absent file gives an empty table. Fails with limit (over 1 GiB)
/// or what mapping a file may fail with.
Result<NameMapping> read_name_mapping(const std::string& folder);

/// Adds one row, making the file when there is none. Any thread of this process may call it.
Status append_name_mapping(const std::string& folder, std::string_view name_on_disk,
                           std::string_view real_name);

/// True for names a file system would refuse, or the reference shortens: 255 or more characters, or
/// more than 255 bytes.
bool is_too_long(std::string_view name);

/// The short name of a long one: 32 digits and `suffix` (".npy").
std::string short_name(std::string_view name, std::string_view suffix);

/// Fields of one CSV text: rows at line ends, fields at commas, both plain inside double quotes.
std::vector<std::vector<std::string>> parse_csv(std::string_view text);

}  // namespace opdrift::io
