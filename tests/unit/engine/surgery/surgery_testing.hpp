#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "unit/engine/model_testing.hpp"
#include <nlohmann/json.hpp>

#include "opdrift/engine/surgery/workpiece.hpp"

/// Small models and recorded cases for cutting models up.
namespace opdrift::engine::testing {

using Json = nlohmann::json;

/// A file of the recorded cases; its folder may be absent.
inline std::string extract_fixture(const std::string& name) {
  const char* set = std::getenv("OPDRIFT_SHARED");
  const std::string shared = set != nullptr ? set : OPDRIFT_SOURCE_DIR "/../shared";
  return shared + "/fixtures/onnx-extract/" + name;
}

inline Json fixture_json(const std::string& name) {
  return Json::parse(io::testing::content_of(extract_fixture(name)), nullptr, false);
}

inline Workpiece opened(const std::string& path) {
  Result<Workpiece> piece = open_workpiece(path);
  EXPECT_TRUE(piece) << piece.error().to_string();
  return piece ? std::move(piece).value() : Workpiece{};
}

inline Workpiece prepared(onnx::Model model) {
  Result<Workpiece> piece = prepare({std::move(model), "."});
  EXPECT_TRUE(piece) << piece.error().to_string();
  return piece ? std::move(piece).value() : Workpiece{};
}

inline std::vector<std::string> names_of(const std::vector<onnx::ValueInfo>& infos) {
  std::vector<std::string> names;
  for (const onnx::ValueInfo& info : infos) {
    names.push_back(info.name);
  }
  return names;
}

}  // namespace opdrift::engine::testing

/// Skips where the recorded cases are not at hand.
#define OPDRIFT_NEEDS_EXTRACT_FIXTURES()                                                        \
  if (!std::filesystem::exists(::opdrift::engine::testing::extract_fixture("cases.json"))) {    \
    GTEST_SKIP() << "no recorded cases at " << ::opdrift::engine::testing::extract_fixture(""); \
  }                                                                                             \
  static_assert(true)
