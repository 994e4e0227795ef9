#include "opdrift/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace opdrift {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "opdrift: internal error: %s does not hold (%s:%d)\n", condition, file,
               line);
  std::abort();
}

}  // namespace opdrift
