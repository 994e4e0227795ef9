#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "unit/engine/model_testing.hpp"
#include "unit/replay/bench.hpp"

namespace opdrift::replay::test {

/// One operator that is run both by ONNX Runtime and by its kind, on the same inputs.
class Twin {
 public:
  explicit Twin(std::string type, int opset = 21, std::string domain = "");

  /// Values are rounded to the type of the array first.
  Twin& in(Array a);
  Twin& absent();
  Twin& set(const std::string& name, std::int64_t value);
  Twin& set(const std::string& name, int value) { return set(name, std::int64_t{value}); }
  Twin& set(const std::string& name, double value);
  Twin& set(const std::string& name, const char* value);
  Twin& set(const std::string& name, Integers values);
  Twin& set(const std::string& name, Values values);
  Twin& outputs(std::size_t count);
  /// ONNX Runtime computes this otherwise than the kind has a budget for.
  Twin& coarse();

  /// Every output of the replay has the shape and, within `tolerance` of its own size or of 1, the
  /// values that ONNX Runtime gives it, and what these err by is within the budget of the kind.
  void expect_alike(double tolerance) const;

 private:
  io::onnx::Model model() const;
  Result<Outputs> run() const;
  io::onnx::Attribute& attribute(const std::string& name, io::onnx::AttributeType type);

  io::onnx::Node node_;
  int opset_;
  std::vector<std::optional<Array>> inputs_;
  bool budgeted_ = true;
};

}  // namespace opdrift::replay::test
