#pragma once

namespace opdrift {

/// Prints the broken promise and aborts. Never reachable from the bytes of a file.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace opdrift

/// A promise between opdrift's own functions; always on.
#define OPDRIFT_CHECK(condition)                               \
  do {                                                         \
    if (!(condition)) [[unlikely]] {                           \
      ::opdrift::check_failed(#condition, __FILE__, __LINE__); \
    }                                                          \
  } while (false)
