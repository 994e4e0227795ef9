#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/io/io_testing.hpp"

#include "opdrift/shell/registry.hpp"
#include "opdrift/shell/session.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"

/// A workspace made for one test and a shell on it.
namespace opdrift::shell::testing {

/// One tensor of a device dump, float32.
struct TestTensor {
  bool output = true;
  std::vector<float> values;
};

class TestShell {
 public:
  explicit TestShell(std::size_t columns = 100, bool unicode = true);

  /// Runs a line; what it printed is in `out` and `err`.
  bool run(std::string_view line);

  std::string place(std::string_view relative) const { return session.workspace.path(relative); }
  /// A text file in the workspace.
  std::string file(std::string_view relative, std::string_view text) const;
  void device_dump(std::string_view relative, const std::vector<TestTensor>& tensors) const;
  void array(std::string_view relative, const tensor::Shape& shape,
             const std::vector<float>& values, tensor::DType dtype = tensor::DType::f32) const;
  /// An overflow record of the fixed form: AI Core status, task and stream.
  void overflow_record(std::string_view relative, std::uint64_t status, std::uint64_t task,
                       std::uint64_t stream) const;

  io::testing::TempFolder folder;
  std::string out;
  std::string err;
  Screen screen;
  Session session;

 private:
  ScreenOptions options(std::size_t columns, bool unicode);
};

/// A graph of one sub-graph "net": image -> conv/1 (with weight w) -> 激活/relu -> cast -> out.
/// `relu_format` is the format of the relu's output.
std::string small_graph(std::string_view relu_format = "NC1HWC0");

}  // namespace opdrift::shell::testing
