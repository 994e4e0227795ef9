#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "opdrift/base/result.hpp"

namespace opdrift::io {

/// The error, naming `path` unless it already names a file.
inline Error in_file(Error error, const std::string& path) {
  if (error.path.empty()) {
    error.path = path;
  }
  return error;
}

/// The result, its error naming `path` unless it already names a file.
template <typename T>
Result<T> in_file(Result<T> result, const std::string& path) {
  if (!result.has_value()) {
    return in_file(std::move(result).error(), path);
  }
  return result;
}

/// The part of a path behind the last slash.
inline std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// The folder of a path with its slash, "" when there is none.
inline std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.size() - base_name(path).size());
}

}  // namespace opdrift::io
