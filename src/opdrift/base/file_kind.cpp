#include "opdrift/base/file_kind.hpp"

#include <sys/stat.h>

#include "opdrift/base/mapped_file.hpp"

namespace opdrift {

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string file_head(const std::string& path, std::size_t most) {
  const auto file = MappedFile::open(path);
  return file ? std::string(as_text((*file)->bytes()).substr(0, most)) : std::string();
}

}  // namespace opdrift
