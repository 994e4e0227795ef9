#pragma once

#include <memory>
#include <string>

#include "opdrift/base/result.hpp"

namespace opdrift {

/// A shared object that a user named, for example a plug-in. Opening it runs its code. Copies share
/// it; it stays loaded as long as one of them lives.
class SharedObject {
 public:
  /// Fails with not_found (no such file) or `unsupported` (no shared object, or one that needs what
  /// is not there).
  static Result<SharedObject> open(const std::string& path);

  /// Where the function of that name is; the object must keep to the type the caller takes it for.
  /// Fails with `unsupported`.
  Result<void*> function(const std::string& name) const;

  const std::string& path() const { return path_; }

 private:
  SharedObject(std::string path, std::shared_ptr<void> handle)
      : path_(std::move(path)), handle_(std::move(handle)) {}

  std::string path_;
  std::shared_ptr<void> handle_;
};

}  // namespace opdrift
