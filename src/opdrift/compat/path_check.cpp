#include "opdrift/compat/path_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::compat {

namespace {

constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxComponent = 255;
constexpr mode_t kFolderMode = 0700;

bool is_allowed(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("_./:()=\\-").find(c) != std::string_view::npos;
}

Status check_text(const std::string& path) {
  if (path.empty()) {
    return Error{ErrorCode::invalid_argument, "expected a path, found nothing"};
  }
  if (!std::all_of(path.begin(), path.end(), is_allowed)) {
    return Error{ErrorCode::invalid_argument,
                 "expected letters, digits and _ . / : ( ) = \\ - only", path};
  }
  const std::string real = real_path(path);
  if (real.size() >= kMaxPath) {
    return Error{ErrorCode::not_found,
                 "expected a path below " + std::to_string(kMaxPath) + " characters", path};
  }
  for (const std::string_view part : split(real, '/')) {
    if (part.size() >= kMaxComponent) {
      return Error{
          ErrorCode::not_found,
          "expected path components below " + std::to_string(kMaxComponent) + " characters", path};
    }
  }
  return Unit{};
}

}  // namespace

std::string real_path(const std::string& path) {
  std::error_code error;
  std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  if (error) {
    real = std::filesystem::absolute(path, error).lexically_normal();
  }
  return error ? path : real.string();
}

Status check_path(const std::string& path, PathKind kind, PathUse use) {
  OPDRIFT_CHECK_OK(check_text(path));
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return system_error(errno, "stat", path);
  }
  if (::access(path.c_str(), use == PathUse::read ? R_OK : W_OK) != 0) {
    return system_error(errno, "access", path);
  }
  if (kind == PathKind::file && !S_ISREG(info.st_mode)) {
    return Error{ErrorCode::wrong_kind, "expected a file", path};
  }
  if (kind == PathKind::folder && !S_ISDIR(info.st_mode)) {
    return Error{ErrorCode::wrong_kind, "expected a folder", path};
  }
  return Unit{};
}

Status prepare_output_folder(const std::string& path) {
  OPDRIFT_CHECK_OK(check_text(path));
  std::string built;
  for (const std::string_view part : split(path, '/')) {
    built += std::string(part);
    if (!part.empty() && ::mkdir(built.c_str(), kFolderMode) != 0 && errno != EEXIST) {
      return system_error(errno, "mkdir", built);
    }
    built += '/';
  }
  return check_path(path, PathKind::folder, PathUse::write);
}

}  // namespace opdrift::compat
