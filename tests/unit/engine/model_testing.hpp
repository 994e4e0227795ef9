#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "unit/io/io_testing.hpp"
#include "unit/io/onnx_testing.hpp"

#include "opdrift/engine/onnxruntime.hpp"

/// What tests of running models share.
namespace opdrift::engine::testing {

namespace onnx = io::onnx;
using io::testing::TempFolder;

using io::testing::body;
using io::testing::constant;
using io::testing::empty_model;
using io::testing::floats;
using io::testing::kBool;
using io::testing::keep_field;
using io::testing::kFloat;
using io::testing::kInt64;
using io::testing::small_model;

/// The library, or nothing where it is not installed.
inline std::shared_ptr<Runtime> runtime() {
  auto loaded = Runtime::load();
  return loaded ? std::move(loaded).value() : nullptr;
}

}  // namespace opdrift::engine::testing

/// Only for want of the library: every other failure has to show.
#define OPDRIFT_NEEDS_ONNXRUNTIME()                                                      \
  if (const auto opdrift_loaded = ::opdrift::engine::Runtime::load(); !opdrift_loaded) { \
    GTEST_SKIP() << "ONNX Runtime is not installed: " << opdrift_loaded.error().message; \
  }                                                                                      \
  static_assert(true)
