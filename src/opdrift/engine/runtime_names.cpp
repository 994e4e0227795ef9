#include "opdrift/engine/onnxruntime.hpp"

namespace opdrift::engine {

namespace {

struct LevelName {
  Optimization level;
  std::string_view name;
};

constexpr LevelName kLevels[] = {
    {Optimization::none, "none"},
    {Optimization::basic, "basic"},
    {Optimization::extended, "extended"},
    {Optimization::all, "all"},
};

}  // namespace

Session::Session() = default;
Session::~Session() = default;
Runtime::Runtime() = default;
Runtime::~Runtime() = default;

std::string_view to_string(Optimization level) {
  for (const LevelName& row : kLevels) {
    if (row.level == level) {
      return row.name;
    }
  }
  return "";
}

std::optional<Optimization> optimization_by_name(std::string_view name) {
  for (const LevelName& row : kLevels) {
    if (row.name == name) {
      return row.level;
    }
  }
  return std::nullopt;
}

}  // namespace opdrift::engine
