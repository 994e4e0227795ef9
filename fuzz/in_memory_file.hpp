#pragma once

#include <string>

#include "opdrift/base/byte_cursor.hpp"

namespace opdrift::fuzz {

/// The bytes as a file that needs no disk and is gone with this object.
class InMemoryFile {
 public:
  explicit InMemoryFile(ByteSpan bytes);
  InMemoryFile(const InMemoryFile&) = delete;
  InMemoryFile& operator=(const InMemoryFile&) = delete;
  ~InMemoryFile();

  /// "" when the file could not be made.
  std::string path() const;

 private:
  int descriptor_ = -1;
};

}  // namespace opdrift::fuzz
