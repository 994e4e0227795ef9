#pragma once

#include <string>

#include "opdrift/base/result.hpp"

namespace opdrift {

/// A folder `opdrift-XXXXXX` in $TMPDIR or /tmp that is removed with the object.
///
/// The file `.lock` in it is locked as long as its owner lives. What a process left behind that was
/// killed is removed by the next one that makes a folder there.
class TemporaryFolder {
 public:
  /// Fails with what making a folder or a file may fail with.
  static Result<TemporaryFolder> create();

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  TemporaryFolder() = default;
  void swap(TemporaryFolder& other) noexcept;

  std::string path_;
  int lock_ = -1;
};

}  // namespace opdrift
