#include "opdrift/base/shared_object.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include "opdrift/base/text.hpp"

namespace opdrift {

Result<SharedObject> SharedObject::open(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return Error{ErrorCode::not_found, "expected a shared object, found no such file", path};
  }
  // Without a slash the loader would search its own folders.
  const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  void* const handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe)
    return Error{ErrorCode::unsupported,
                 "expected a shared object: " + printable(why == nullptr ? "" : why), path};
  }
  return SharedObject(path, std::shared_ptr<void>(handle, [](void* open) { ::dlclose(open); }));
}

Result<void*> SharedObject::function(const std::string& name) const {
  void* const address = ::dlsym(handle_.get(), name.c_str());
  if (address == nullptr) {
    return Error{ErrorCode::unsupported, "expected the function " + name + ", found none", path_};
  }
  return address;
}

}  // namespace opdrift
