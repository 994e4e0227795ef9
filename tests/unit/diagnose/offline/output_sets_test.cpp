#include "opdrift/diagnose/offline/output_sets.hpp"

#include <gtest/gtest.h>

#include "unit/diagnose/offline/offline_testing.hpp"

#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"

namespace opdrift::diagnose::offline {
namespace {

using namespace opdrift::diagnose::testing;  // NOLINT
using tensor::DType;

/// Folders of arrays.
struct Sets {
  TempFolder folder;
  OutputSets sets;

  std::string npy(const std::string& set, const std::string& name, DType dtype,
                  const std::vector<double>& values) const {
    fs::create_directories(folder / set);
    auto writer = io::NpyWriter::create(folder / set + "/" + name, dtype, {values.size()});
    EXPECT_TRUE(writer->write(bytes_of(dtype, values)));
    EXPECT_TRUE(writer->finish());
    return folder / set;
  }
  std::string bin(const std::string& set, const std::string& name, DType dtype,
                  const std::vector<double>& values) const {
    fs::create_directories(folder / set);
    const std::vector<std::byte> bytes = bytes_of(dtype, values);
    EXPECT_TRUE(io::write_file(folder / set + "/" + name, as_text(bytes)));
    return folder / set;
  }
};

const std::vector<double> kRight = {1.0, -2.0, 3.0, 0.5};
const std::vector<double> kWrong = {3.0, 1.0, -2.0, 4.0};

TEST(OutputSets, AgreementPointsBehindTheOutputs) {
  Sets s;
  s.sets.onnx = s.npy("onnx", "y.npy", DType::f32, {1.0, -2.0, 3.0, 0.1});
  s.sets.offline = s.bin("om", "y.bin", DType::f16, {1.0, -2.0, 3.0, 0.1});
  const auto report = compare_output_sets(s.sets);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->verdict, Boundary::postprocess);
  EXPECT_EQ(report->outputs[0].pairs[0].nearness, Nearness::close);
}

TEST(OutputSets, TheFirstBoundaryWithADifferenceIsTheVerdict) {
  Sets s;
  s.sets.framework = s.npy("torch", "y.npy", DType::f32, kRight);
  s.sets.onnx = s.npy("onnx", "y.npy", DType::f32, kRight);
  s.sets.offline = s.bin("om", "y.bin", DType::f32, kWrong);
  auto report = compare_output_sets(s.sets);
  EXPECT_EQ(report->verdict, Boundary::model);
  EXPECT_EQ(report->outputs[0].pairs[0].nearness, Nearness::identical);
  s.sets.onnx = s.npy("onnx2", "y.npy", DType::f32, kWrong);
  report = compare_output_sets(s.sets);
  EXPECT_EQ(report->verdict, Boundary::export_model);
  EXPECT_EQ(report->culprit, "outputs, onnx against framework");
  s.sets.framework_inputs = s.npy("in1", "x.npy", DType::f32, kRight);
  s.sets.offline_inputs = s.npy("in2", "x.npy", DType::f32, kWrong);
  EXPECT_EQ(compare_output_sets(s.sets)->verdict, Boundary::preprocess);
}

TEST(OutputSets, FilesArePairedByNameElseByNumber) {
  Sets s;
  s.npy("onnx", "a.npy", DType::f32, kRight);
  s.sets.onnx = s.npy("onnx", "b.npy", DType::f32, kWrong);
  s.npy("om", "b.npy", DType::f32, kWrong);
  s.sets.offline = s.npy("om", "a.npy", DType::f32, kRight);
  EXPECT_EQ(compare_output_sets(s.sets)->verdict, Boundary::postprocess);
  for (int i = 0; i < 11; ++i) {
    const std::vector<double> values = {static_cast<double>(i), 1.0};
    s.sets.onnx = s.npy("many", "out_" + std::to_string(i) + ".npy", DType::f32, values);
    s.sets.offline = s.bin("bins", "output_" + std::to_string(i) + ".bin", DType::f32, values);
  }
  EXPECT_EQ(compare_output_sets(s.sets)->verdict, Boundary::postprocess);
}

TEST(OutputSets, WhatCannotBeComparedDoesNotAgree) {
  Sets s;
  s.sets.onnx = s.npy("onnx", "y.npy", DType::f32, kRight);
  s.sets.offline = s.bin("om", "y.bin", DType::f32, {1.0, 2.0, 3.0});
  auto report = compare_output_sets(s.sets);
  EXPECT_EQ(report->verdict, Boundary::model);
  EXPECT_EQ(report->outputs[0].pairs[0].nearness, Nearness::unreadable);
  s.sets.offline = s.npy("om2", "y.npy", DType::f32, kRight);
  s.npy("om2", "z.npy", DType::f32, kRight);
  EXPECT_EQ(compare_output_sets(s.sets)->outputs[0].lonely, std::vector<std::string>{"z.npy"});
  EXPECT_EQ(compare_output_sets(s.sets)->verdict, Boundary::model);
}

TEST(OutputSets, ANaNInAnotherPlaceIsADifference) {
  Sets s;
  s.sets.onnx = s.npy("onnx", "y.npy", DType::f32, kRight);
  s.sets.offline =
      s.npy("om", "y.npy", DType::f32, {1.0, -2.0, 3.0, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(compare_output_sets(s.sets)->verdict, Boundary::model);
}

TEST(OutputSets, TwoSetsAreNeeded) {
  Sets s;
  s.sets.onnx = s.npy("onnx", "y.npy", DType::f32, kRight);
  EXPECT_EQ(compare_output_sets(s.sets).error().code, ErrorCode::invalid_argument);
  fs::create_directories(s.folder / "empty");
  s.sets.offline = s.folder / "empty";
  EXPECT_EQ(compare_output_sets(s.sets).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace opdrift::diagnose::offline
