#include "opdrift/tensor/align.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "unit/tensor/shared_npy.hpp"
#include <nlohmann/json.hpp>

#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/encode.hpp"

namespace opdrift::tensor {
namespace {

using nlohmann::json;

LayoutRules reference_rules() {
  LayoutRules rules;
  rules.reference = true;
  return rules;
}

/// 0, s, 2s, ... as float16, the data of the shared alignment cases.
Tensor halves(Format format, const Shape& shape, const Shape& original = {}, double scale = 1.0) {
  std::vector<double> numbers(element_count(shape).value());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = scale * static_cast<double>(i);
  }
  std::vector<std::byte> bytes(numbers.size() * 2);
  encode(DType::f16, numbers.data(), numbers.size(), bytes.data());
  Tensor tensor;
  tensor.desc.dtype = DType::f16;
  tensor.desc.format = format;
  tensor.desc.shape = shape;
  tensor.desc.original_shape = original;
  tensor.bytes = own_bytes(std::move(bytes));
  return tensor;
}

std::vector<std::byte> bytes_of(const View& view) {
  std::vector<std::byte> bytes(*storage_bytes(view.tensor.desc.dtype, view.count()));
  gather(view, 0, view.count(), bytes.data());
  return bytes;
}

std::vector<double> numbers_of(const View& view) {
  const std::vector<std::byte> bytes = bytes_of(view);
  std::vector<double> numbers(view.count());
  decode_to_double(view.tensor.desc.dtype, bytes.data(), 0, numbers.size(), numbers.data());
  return numbers;
}

std::string cases_folder() {
  return testing::shared_folder() + "/fixtures/ascend-dump/";
}

json read_json(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file, nullptr, false);
}

/// Exit status the reference gives an error of these functions.
int status_of(ErrorCode code, bool comparing) {
  switch (code) {
    case ErrorCode::malformed: return 11;
    case ErrorCode::unsupported_format: return 22;
    case ErrorCode::mismatch: return 23;
    case ErrorCode::conversion_failed: return 26;
    case ErrorCode::bad_nz_shape: return comparing ? 34 : 6;
    default: return 1;
  }
}

void expect_alignment(const std::string& folder, bool detail) {
  const std::string root = cases_folder() + folder;
  if (!std::filesystem::exists(root)) {
    GTEST_SKIP() << "no shared fixtures in " << root;
  }
  const json expected = read_json(root + "/expected/align/align.json");
  for (const json& job : read_json(root + "/in/jobs.json")) {
    const std::string name = job["name"];
    const auto golden_shape = job["right_shape"].get<Shape>();
    const Tensor target =
        halves(static_cast<Format>(job["left_format"].get<int>()), job["left_shape"].get<Shape>());
    const Tensor golden = halves(Format::reserved, golden_shape, {}, 2.0);
    GoldenLayout layout;
    layout.format = job["rule_format"];
    layout.shape = job["rule_shape"].get<Shape>();
    layout.detail = detail;
    layout.rules = reference_rules();
    const auto aligned = align_to_golden(target, golden, layout);
    const json& wanted = expected[name];
    ASSERT_EQ(aligned.has_value(), !wanted.contains("error")) << name;
    if (!aligned.has_value()) {
      EXPECT_EQ(status_of(aligned.error().code, true), wanted["error"].get<int>()) << name;
      continue;
    }
    EXPECT_EQ(aligned->shape, wanted["shape"].get<Shape>()) << name;
    EXPECT_EQ(aligned->target.count(), wanted["elements"].get<std::uint64_t>()) << name;
    const std::string stem = root + "/expected/align/" + name;
    EXPECT_EQ(bytes_of(aligned->target), testing::npy_payload(stem + ".left.npy")) << name;
    EXPECT_EQ(bytes_of(aligned->golden), testing::npy_payload(stem + ".right.npy")) << name;
  }
}

TEST(AlignToGolden, ReferenceRulesEqualTheReferenceInNetworkMode) {
  expect_alignment("y1a_align_network", false);
}

TEST(AlignToGolden, ReferenceRulesEqualTheReferenceInDetailMode) {
  expect_alignment("y2a_align_detail", true);
}

TEST(RemovePadding, ReferenceRulesEqualTheReference) {
  const std::string root = cases_folder() + "y3a_restore";
  if (!std::filesystem::exists(root)) {
    GTEST_SKIP() << "no shared fixtures in " << root;
  }
  const json expected = read_json(root + "/expected/restore/restore.json");
  for (const json& job : read_json(root + "/in/jobs.json")) {
    const std::string name = job["name"];
    const Tensor tensor = halves(static_cast<Format>(job["format"].get<int>()),
                                 job["shape"].get<Shape>(), job["original_shape"].get<Shape>());
    const RestoredTensor restored = remove_padding(tensor, reference_rules()).value();
    EXPECT_EQ(restored.view.shape(), expected[name]["shape"].get<Shape>()) << name;
    EXPECT_EQ(bytes_of(restored.view),
              testing::npy_payload(root + "/expected/restore/" + name + ".npy"))
        << name;
  }
}

/// The only tensor of a case's dump, from the description in case.json.
std::optional<Tensor> only_tensor(const json& description, const std::string& path) {
  const json& dump = description.at("dump");
  const json tensors = dump["outputs"].empty() ? dump["inputs"] : dump["outputs"];
  if (tensors.size() != 1 || dump["inputs"].size() + dump["outputs"].size() != 1) {
    return std::nullopt;
  }
  const auto dtype = dtype_by_ascend_number(tensors[0]["data_type"]);
  const std::vector<std::byte> file = testing::file_bytes(path);
  std::uint64_t header = 0;
  std::memcpy(&header, file.data(), 8);
  Tensor tensor;
  tensor.desc.dtype = dtype.value_or(DType::raw);
  tensor.desc.format = static_cast<Format>(tensors[0].value("format", 0));
  tensor.desc.shape = tensors[0].value("shape", Shape{});
  tensor.desc.original_shape = tensors[0].value("original_shape", Shape{});
  tensor.desc.sub_format = tensors[0].value("sub_format", 0);
  tensor.bytes = own_bytes({file.begin() + 8 + static_cast<std::ptrdiff_t>(header), file.end()});
  return tensor;
}

struct ConvertRun {
  Format format = Format::nd;
  Shape shape;
  bool usable = false;
};

/// Understands `convert ... -f FORMAT [-s SHAPE]` with npy output.
ConvertRun convert_run(const json& args) {
  ConvertRun run;
  for (std::size_t i = 0; i + 1 < args.size(); ++i) {
    const std::string option = args[i];
    const std::string value = args[i + 1];
    if (option == "-t" && value != "npy") {
      return {};
    }
    if (option == "-f") {
      const auto format = format_by_name(value);
      run.usable = format.has_value();
      run.format = format.value_or(Format::nd);
    }
    if (option == "-s") {
      std::istringstream text(value);
      for (std::string part; std::getline(text, part, ',');) {
        run.shape.push_back(std::stoull(part));
      }
    }
    if ((option == "-o" || option == "-i") && value != "0") {
      return {};
    }
  }
  return run;
}

/// Compares one run; true when it was a run this test understands.
bool check_run(const std::string& folder, const json& run, const Tensor& tensor) {
  const ConvertRun wanted = convert_run(run["args"]);
  if (!wanted.usable) {
    return false;
  }
  const std::string where = folder + " " + run["name"].get<std::string>();
  OutputRequest request;
  request.format = wanted.format;
  request.target_shape = wanted.shape;
  request.rules = reference_rules();
  const auto converted = convert_for_output(tensor, request);
  EXPECT_EQ(converted.has_value() ? 0 : status_of(converted.error().code, false),
            run["exit_code"].get<int>())
      << where;
  if (!converted.has_value() || run["outputs"].size() != 1) {
    return true;
  }
  const auto output = run["outputs"].begin();
  EXPECT_EQ(converted->view.shape(), output.value()["npy"]["shape"].get<Shape>()) << where;
  EXPECT_EQ(converted->fortran_order, output.value()["npy"]["fortran_order"].get<bool>()) << where;
  std::vector<double> numbers = numbers_of(converted->view);
  const std::string path =
      folder + "/expected/" + run["name"].get<std::string>() + "/" + output.key();
  const std::vector<std::byte> payload = testing::npy_payload(path);
  const std::string descr = output.value()["npy"]["descr"];
  const DType saved = descr == "<f8" ? DType::f64 : tensor.desc.dtype;
  if (output.value()["npy"]["fortran_order"].get<bool>() || payload.empty()) {
    return true;
  }
  std::vector<double> found(numbers.size());
  EXPECT_EQ(payload.size(), *storage_bytes(saved, numbers.size())) << where;
  decode_to_double(saved, payload.data(), 0, found.size(), found.data());
  EXPECT_EQ(numbers, found) << where;
  return true;
}

TEST(ConvertForOutput, ReferenceRulesEqualTheReference) {
  if (!std::filesystem::exists(cases_folder())) {
    GTEST_SKIP() << "no shared fixtures in " << cases_folder();
  }
  int runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases_folder())) {
    const std::string folder = entry.path().string();
    if (entry.path().filename().string()[0] != 't') {
      continue;
    }
    const json description = read_json(folder + "/case.json");
    const auto& inputs = description["inputs"];
    if (inputs.size() != 1 || !inputs.begin().value().contains("dump")) {
      continue;
    }
    const auto tensor = only_tensor(inputs.begin().value(), folder + "/in/" + inputs.begin().key());
    for (const json& run : description["runs"]) {
      runs += tensor.has_value() && check_run(folder, run, *tensor) ? 1 : 0;
    }
  }
  EXPECT_GE(runs, 30);
}

ConvertedTensor converted(const Tensor& tensor, Format format, const Shape& target = {}) {
  OutputRequest request;
  request.format = format;
  request.target_shape = target;
  return convert_for_output(tensor, request).value();
}

// The original shape is in NCHW whatever layout is asked for.
TEST(ConvertForOutput, OwnRuleCutsTheChannelsInEveryLayout) {
  const Tensor tensor = halves(Format::nc1hwc0, {1, 2, 3, 2, 16}, {1, 20, 3, 2});
  EXPECT_EQ(converted(tensor, Format::nchw).view.shape(), (Shape{1, 20, 3, 2}));
  EXPECT_EQ(converted(tensor, Format::nhwc).view.shape(), (Shape{1, 3, 2, 20}));
  EXPECT_EQ(converted(tensor, Format::hwcn).view.shape(), (Shape{3, 2, 20, 1}));
  EXPECT_FALSE(converted(tensor, Format::hwcn).crop_failed);
}

TEST(ConvertForOutput, OwnRuleTakesAnOriginalShapeInNhwc) {
  const Tensor tensor = halves(Format::nc1hwc0, {2, 2, 3, 5, 16}, {2, 3, 5, 20});
  EXPECT_EQ(converted(tensor, Format::nhwc).view.shape(), (Shape{2, 3, 5, 20}));
  EXPECT_EQ(converted(tensor, Format::nchw).view.shape(), (Shape{2, 20, 3, 5}));
}

TEST(ConvertForOutput, CropsThatDoNotFitAreFlagged) {
  const Tensor tensor = halves(Format::nc1hwc0, {1, 1, 2, 2, 16}, {1, 17, 2, 2});
  const ConvertedTensor result = converted(tensor, Format::nchw);
  EXPECT_TRUE(result.crop_failed);
  EXPECT_FALSE(result.crop_problem.empty());
  EXPECT_EQ(result.view.shape(), (Shape{1, 16, 2, 2}));
}

TEST(ConvertForOutput, OwnRuleKeepsLeadingDimsOfFractalNz) {
  const Tensor tensor = halves(Format::fractal_nz, {2, 3, 1, 1, 16, 16}, {2, 3, 10, 16});
  EXPECT_EQ(converted(tensor, Format::nd).view.shape(), (Shape{2, 3, 10, 16}));
  EXPECT_FALSE(converted(tensor, Format::nd).crop_failed);
}

TEST(ConvertForOutput, UserShapesMayCutFurther) {
  const Tensor tensor = halves(Format::nc1hwc0, {2, 2, 3, 2, 16}, {2, 20, 3, 2});
  EXPECT_EQ(converted(tensor, Format::nhwc, {1, 3, 2, 5}).view.shape(), (Shape{1, 3, 2, 5}));
}

TEST(CutTo, OwnRuleLooksAtEveryAxis) {
  const View view = stored_view(halves(Format::nd, {3, 8})).value();
  EXPECT_EQ(cut_to(view, {3, 6}, {}).value().shape(), (Shape{3, 6}));
  EXPECT_EQ(cut_to(view, {2, 9}, {}).error().code, ErrorCode::mismatch);
  EXPECT_EQ(cut_to(view, {3}, {}).error().code, ErrorCode::mismatch);
  EXPECT_EQ(cut_to(view, {1, 3, 8}, {}).value().shape(), (Shape{3, 8}));
  EXPECT_EQ(cut_to(view, {3, 8, 1, 1, 1}, {}).value().shape(), (Shape{3, 8}));
}

// By the rule: the first differing axis is long enough, so the cut goes ahead and the second stays.
TEST(CutTo, ReferenceStopsLookingAtTheFirstAxisThatDiffers) {
  const View view = stored_view(halves(Format::nd, {3, 8})).value();
  EXPECT_EQ(cut_to(view, {2, 9}, reference_rules()).value().shape(), (Shape{2, 8, 1, 1}));
  EXPECT_EQ(cut_to(view, {4, 2}, reference_rules()).error().code, ErrorCode::mismatch);
  const View six = stored_view(halves(Format::nd, {2, 2, 2, 2, 2, 2})).value();
  EXPECT_EQ(cut_to(six, {1, 2, 2, 2, 2, 2}, reference_rules()).value().count(), 64U);
  EXPECT_EQ(cut_to(six, {1, 2, 2, 2, 2, 2}, {}).value().count(), 32U);
}

TEST(AlignToGolden, OwnRuleCutsNdByShape) {
  const Tensor target = halves(Format::nd, {3, 8});
  const Tensor golden = halves(Format::reserved, {3, 6});
  GoldenLayout layout;
  layout.format = "ND";
  const AlignedTensors aligned = align_to_golden(target, golden, layout).value();
  EXPECT_EQ(aligned.shape, (Shape{3, 6}));
  EXPECT_EQ(numbers_of(aligned.target)[6], 8.0);  // second row
  layout.rules = reference_rules();
  const AlignedTensors flat = align_to_golden(target, golden, layout).value();
  EXPECT_EQ(flat.shape, (Shape{18, 1, 1, 1}));
  EXPECT_EQ(numbers_of(flat.target)[6], 6.0);
}

TEST(AlignToGolden, OtherShapesOfOneSizeAreComparedFlatWithANote) {
  GoldenLayout layout;
  layout.format = "ND";
  const Tensor target = halves(Format::nd, {4, 6});
  const AlignedTensors aligned =
      align_to_golden(target, halves(Format::reserved, {6, 4}), layout).value();
  EXPECT_NE(aligned.note.find("[6,4]"), std::string::npos);
  EXPECT_EQ(aligned.golden.count(), 24U);
  const AlignedTensors ones =
      align_to_golden(target, halves(Format::reserved, {1, 4, 6}), layout).value();
  EXPECT_EQ(ones.note, "");
}

TEST(AlignToGolden, ShapesThatAddUpToTheRankAreScalarForTheReferenceOnly) {
  EXPECT_TRUE(is_scalar({}, {}));
  EXPECT_TRUE(is_scalar({1, 1}, {}));
  EXPECT_FALSE(is_scalar({0, 2}, {}));
  EXPECT_TRUE(is_scalar({0, 2}, reference_rules()));
  EXPECT_FALSE(is_scalar({1, 2}, reference_rules()));
}

// A graph that calls an NCHW array NHWC: its rule shape is the array's shape in NHWC order.
TEST(AlignToGolden, LayoutIsFlippedWhenTheGraphContradictsTheArray) {
  const Tensor target = halves(Format::nc1hwc0, {1, 1, 6, 5, 16}, {1, 6, 5, 3});
  const Tensor golden = halves(Format::reserved, {1, 3, 6, 5});
  GoldenLayout layout;
  layout.format = "NHWC";
  const AlignedTensors aligned = align_to_golden(target, golden, layout).value();
  EXPECT_EQ(aligned.format, Format::nchw);
  EXPECT_EQ(aligned.shape, (Shape{1, 3, 6, 5}));
}

TEST(AlignToGolden, StridedGoldensAreReadInLogicalOrder) {
  Tensor golden = halves(Format::reserved, {2, 3});
  golden.desc.strides = {1, 2};
  GoldenLayout layout;
  layout.format = "ND";
  for (const LayoutRules& rules : {LayoutRules{}, reference_rules()}) {
    layout.rules = rules;
    const AlignedTensors aligned =
        align_to_golden(halves(Format::nd, {2, 3}), golden, layout).value();
    EXPECT_EQ(numbers_of(aligned.golden), (std::vector<double>{0, 2, 4, 1, 3, 5}));
  }
}

TEST(AlignToGolden, StridedTargetsCutFlatByTheReferenceKeepLogicalOrder) {
  Tensor target = halves(Format::nd, {2, 3});
  target.desc.strides = {1, 2};
  GoldenLayout layout;
  layout.format = "ND";
  layout.rules = reference_rules();
  const AlignedTensors aligned =
      align_to_golden(target, halves(Format::reserved, {4}), layout).value();
  EXPECT_EQ(numbers_of(aligned.target), (std::vector<double>{0, 2, 4, 1}));
}

TEST(AlignToGolden, FrameworkArraysNeedEqualShapes) {
  GoldenLayout layout;
  layout.same_kind = true;
  const Tensor array = halves(Format::reserved, {2, 3});
  EXPECT_EQ(align_to_golden(array, array, layout).value().shape, (Shape{2, 3}));
  EXPECT_EQ(align_to_golden(array, halves(Format::reserved, {3, 2}), layout).error().code,
            ErrorCode::mismatch);
}

TEST(AlignToGolden, UnknownFormatsAreRefused) {
  const Tensor golden = halves(Format::reserved, {2, 3});
  GoldenLayout layout;
  layout.format = "FOO";
  EXPECT_EQ(align_to_golden(halves(Format::nd, {2, 3}), golden, layout).error().code,
            ErrorCode::unsupported_format);
  layout.format = "NCHW";
  EXPECT_EQ(align_to_golden(halves(static_cast<Format>(200), {2, 3}), golden, layout).error().code,
            ErrorCode::unsupported_format);
}

TEST(AlignDevicePair, CutsEachSideToItsOriginalShape) {
  const Tensor target = halves(Format::nc1hwc0, {1, 2, 2, 3, 16}, {1, 20, 2, 3});
  const AlignedTensors aligned = align_device_pair(target, target).value();
  EXPECT_EQ(aligned.shape, (Shape{1, 20, 2, 3}));
  const Tensor other = halves(Format::nc1hwc0, {1, 2, 2, 3, 16}, {1, 21, 2, 3});
  EXPECT_EQ(align_device_pair(target, other).error().code, ErrorCode::mismatch);
  EXPECT_EQ(align_device_pair(target, halves(Format::nd, {3})).error().code, ErrorCode::mismatch);
}

TEST(RemovePadding, OwnRuleUnfoldsFractalNzOfEveryRank) {
  EXPECT_EQ(remove_padding(halves(Format::fractal_nz, {2, 3, 1, 1, 16, 16}, {2, 3, 10, 16}))
                .value()
                .view.shape(),
            (Shape{2, 3, 10, 16}));
  EXPECT_EQ(remove_padding(halves(Format::fractal_nz, {1, 1, 16, 16}, {10})).value().view.shape(),
            Shape{10});
  EXPECT_EQ(remove_padding(halves(Format::ndc1hwc0, {1, 2, 2, 2, 3, 4}, {1, 7, 2, 2, 3}))
                .value()
                .view.shape(),
            (Shape{1, 7, 2, 2, 3}));
}

TEST(RemovePadding, WhatCannotBeRestoredStaysWithANote) {
  const RestoredTensor wrong =
      remove_padding(halves(Format::fractal_nz, {1, 1, 16, 16}, {17, 16})).value();
  EXPECT_EQ(wrong.view.shape(), (Shape{1, 1, 16, 16}));
  EXPECT_FALSE(wrong.note.empty());
  Tensor cut_off = halves(Format::nd, {4});
  cut_off.desc.shape = {5};
  const RestoredTensor flat = remove_padding(cut_off).value();
  EXPECT_EQ(flat.view.count(), 4U);
  EXPECT_FALSE(flat.note.empty());
}

}  // namespace
}  // namespace opdrift::tensor
