#pragma once

#include <cstdint>
#include <string>

#include "opdrift/base/byte_cursor.hpp"
#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"

namespace opdrift::io {

/// A file without a name, in $TMPDIR or /tmp, for data too large to unpack into memory. It is gone
/// when the last user of its bytes is, also after a crash.
class ScratchFile {
 public:
  /// Fails with what creating a file may fail with; the error names the folder.
  static Result<ScratchFile> create();

  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile& operator=(ScratchFile&&) = delete;
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  /// Appends. Fails with write_failed (disk full).
  Status write(ByteSpan bytes);
  /// Everything written, mapped. No more writes after this.
  Result<Bytes> map();

 private:
  ScratchFile() = default;

  std::string folder_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace opdrift::io
