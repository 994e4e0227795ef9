#pragma once

#include <gmock/gmock.h>

#include "unit/replay/bench.hpp"

namespace opdrift::replay::test {

/// An operator of Ascend IR.
inline Bench ascend(const std::string& type) {
  Bench bench(type);
  bench.dialect(Dialect::ascend);
  return bench;
}

}  // namespace opdrift::replay::test
