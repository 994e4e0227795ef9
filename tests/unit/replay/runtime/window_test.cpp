#include "unit/replay/runtime/twin.hpp"

// Kinds with windows, samples and sums of products, beside ONNX Runtime.

namespace opdrift::replay::test {
namespace {

using tensor::DType;

Array codes(const tensor::Shape& shape, std::uint64_t seed, DType dtype = DType::u8) {
  Array a = noise(shape, seed);
  for (double& value : a.values) {
    value = dtype == DType::u8 ? std::floor(127.5 + 127.0 * value) : std::floor(127.0 * value);
  }
  a.dtype = dtype;
  return a;
}

TEST(RuntimeConv, PaddingGroupsAndAxes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Twin("Conv", 11)
      .in(noise({2, 4, 6, 7}, 1))
      .in(noise({6, 2, 3, 2}, 2))
      .in(noise({6}, 3))
      .set("group", 2)
      .set("strides", Integers{2, 1})
      .set("dilations", Integers{1, 2})
      .set("pads", Integers{1, 0, 2, 1})
      .expect_alike(1e-5);
  for (const char* padding : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    Twin("Conv", 11)
        .in(noise({1, 2, 7, 6}, 1))
        .in(noise({3, 2, 2, 3}, 2))
        .set("strides", Integers{2, 2})
        .set("auto_pad", padding)
        .expect_alike(1e-5);
    Twin("ConvTranspose", 11)
        .in(noise({1, 2, 4, 3}, 1))
        .in(noise({2, 3, 2, 3}, 2))
        .set("strides", Integers{2, 2})
        .set("auto_pad", padding)
        .expect_alike(1e-5);
    Twin("ConvTranspose", 11)
        .in(noise({1, 2, 4, 3}, 1))
        .in(noise({2, 3, 3, 3}, 2))
        .set("strides", Integers{2, 2})
        .set("output_shape", Integers{8, 8})
        .set("auto_pad", padding)
        .expect_alike(1e-5);
  }
  Twin("Conv", 11).in(noise({1, 2, 9}, 1)).in(noise({3, 2, 4}, 2)).expect_alike(1e-5);
  Twin("Conv", 11).in(noise({1, 2, 4, 4, 4}, 1)).in(noise({3, 2, 2, 3, 2}, 2)).expect_alike(1e-5);
  Twin("ConvTranspose", 11)
      .in(noise({2, 4, 3, 4}, 1))
      .in(noise({4, 3, 3, 2}, 2))
      .in(noise({6}, 3))
      .set("group", 2)
      .set("strides", Integers{2, 3})
      .set("dilations", Integers{2, 1})
      .set("pads", Integers{1, 0, 2, 1})
      .set("output_padding", Integers{1, 2})
      .expect_alike(1e-5);
  Twin("ConvTranspose", 11)
      .in(noise({1, 2, 3, 3}, 1))
      .in(noise({2, 3, 3, 3}, 2))
      .set("strides", Integers{3, 2})
      .set("output_shape", Integers{10, 8})
      .expect_alike(1e-5);
}

TEST(RuntimePool, LargestAndMeansUnderAWindow) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const int ceil : {0, 1}) {
    Twin("MaxPool", 12)
        .in(noise({2, 3, 6, 7}, 1))
        .set("kernel_shape", Integers{3, 2})
        .set("strides", Integers{2, 2})
        .set("dilations", Integers{1, 2})
        .set("pads", Integers{1, 0, 1, 1})
        .set("ceil_mode", ceil)
        .outputs(2)
        .expect_alike(0);
    for (const int padded : {0, 1}) {
      Twin("AveragePool", 19)
          .in(noise({2, 3, 6, 7}, 1))
          .set("kernel_shape", Integers{3, 2})
          .set("strides", Integers{2, 3})
          .set("pads", Integers{1, 0, 1, 1})
          .set("ceil_mode", ceil)
          .set("count_include_pad", padded)
          .expect_alike(1e-6);
      Twin("AveragePool", 19)
          .in(noise({2, 3, 8, 7}, 1))
          .set("kernel_shape", Integers{2, 2})
          .set("dilations", Integers{2, 3})
          .set("pads", Integers{1, 1, 1, 1})
          .set("ceil_mode", ceil)
          .set("count_include_pad", padded)
          .expect_alike(1e-6);
    }
  }
  for (const char* padding : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    for (const char* type : {"MaxPool", "AveragePool", "LpPool"}) {
      Twin(type, 11)
          .in(noise({1, 2, 7, 6}, 1))
          .set("kernel_shape", Integers{2, 3})
          .set("strides", Integers{2, 2})
          .set("auto_pad", padding)
          .expect_alike(1e-6);
    }
  }
  Twin("LpPool", 18)
      .in(noise({1, 2, 7, 6}, 1))
      .set("kernel_shape", Integers{2, 3})
      .set("p", 3)
      .set("pads", Integers{1, 0, 1, 1})
      .expect_alike(1e-5);
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool"}) {
    Twin(type, 1).in(noise({2, 3, 4, 5}, 1)).expect_alike(1e-6);
  }
  Twin("MaxPool", 12)
      .in(noise({1, 2, 9}, 1))
      .set("kernel_shape", Integers{4})
      .outputs(2)
      .expect_alike(0);
  Twin("MaxPool", 12)
      .in(noise({1, 2, 4, 5, 4}, 1))
      .set("kernel_shape", Integers{2, 3, 2})
      .outputs(2)
      .expect_alike(0);
}

TEST(RuntimeProduct, MatricesAndLabels) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Twin("MatMul", 13).in(noise({2, 1, 3, 4}, 1)).in(noise({5, 4, 2}, 2)).expect_alike(1e-5);
  Twin("MatMul", 13).in(noise({4}, 1)).in(noise({5, 4, 2}, 2)).expect_alike(1e-5);
  Twin("MatMul", 13).in(noise({2, 3, 4}, 1)).in(noise({4}, 2)).expect_alike(1e-5);
  Twin("Gemm", 13)
      .in(noise({4, 3}, 1))
      .in(noise({5, 4}, 2))
      .in(noise({3, 1}, 3))
      .set("transA", 1)
      .set("transB", 1)
      .set("alpha", 0.5)
      .set("beta", 2.0)
      .expect_alike(1e-5);
  const auto einsum = [](const char* equation, const Array& x, const Array& y) {
    Twin("Einsum", 12).in(x).in(y).set("equation", equation).expect_alike(1e-5);
  };
  einsum("bij,bjk->bik", noise({2, 3, 4}, 1), noise({2, 4, 5}, 2));
  einsum("bhid,bhjd->bhij", noise({2, 2, 3, 4}, 1), noise({2, 2, 5, 4}, 2));
  einsum("...ij,...jk", noise({2, 3, 4}, 1), noise({2, 4, 5}, 2));
  einsum("i,j->ji", noise({3}, 1), noise({4}, 2));
  einsum("ij,jk", noise({3, 4}, 1), noise({4, 2}, 2));
  Twin("Einsum", 12).in(noise({3, 3}, 1)).set("equation", "ii->i").expect_alike(1e-5);
  Twin("Einsum", 12).in(noise({3, 4}, 1)).set("equation", "ij->j").expect_alike(1e-5);
}

TEST(RuntimeProduct, OfCodes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  const Array zero = array({}, {120}, DType::u8);
  Twin("MatMulInteger", 10)
      .in(codes({2, 3, 4}, 1))
      .in(codes({4, 5}, 2))
      .in(zero)
      .in(array({5}, {100, 110, 120, 130, 140}, DType::u8))
      .expect_alike(0);
  Twin("ConvInteger", 10)
      .in(codes({1, 2, 5, 5}, 1))
      .in(codes({3, 2, 2, 2}, 2))
      .in(zero)
      .in(array({}, {130}, DType::u8))
      .set("pads", Integers{1, 1, 0, 0})
      .expect_alike(0);
  Twin("QLinearMatMul", 10)
      .in(codes({3, 4}, 1))
      .in(array({}, {0.021}))
      .in(zero)
      .in(codes({4, 5}, 2, DType::i8))
      .in(array({5}, {0.01, 0.011, 0.012, 0.013, 0.014}))
      .in(array({5}, {0, 0, 0, 0, 0}, DType::i8))
      .in(array({}, {0.031}))
      .in(array({}, {100}, DType::u8))
      .expect_alike(0);
  Twin("QLinearConv", 10)
      .in(codes({1, 4, 5, 6}, 1))
      .in(array({}, {0.021}))
      .in(zero)
      .in(codes({4, 2, 2, 3}, 2, DType::i8))
      .in(array({4}, {0.01, 0.011, 0.012, 0.013}))
      .in(array({4}, {0, 0, 0, 0}, DType::i8))
      .in(array({}, {0.131}))
      .in(array({}, {100}, DType::u8))
      .in(array({4}, {100, -50, 20, 7}, DType::i32))
      .set("group", 2)
      .set("auto_pad", "SAME_UPPER")
      .expect_alike(0);
}

TEST(RuntimeResize, NearestInAllModes) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const char* place : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}) {
    for (const char* nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
      for (const double factor : {1.7, 0.6}) {
        Twin("Resize", 13)
            .in(noise({1, 2, 5, 6}, 1))
            .absent()
            .in(array({4}, {1, 1, factor, 2}))
            .set("coordinate_transformation_mode", place)
            .set("nearest_mode", nearest)
            .expect_alike(0);
      }
    }
  }
}

TEST(RuntimeResize, LinearAndCubic) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const char* mode : {"linear", "cubic"}) {
    for (const char* place : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                              "half_pixel_symmetric"}) {
      for (const double factor : {1.7, 0.6}) {
        Twin("Resize", 19)
            .in(noise({1, 2, 5, 6}, 1))
            .absent()
            .in(array({4}, {1, 1, factor, 2}))
            .set("mode", mode)
            .set("coordinate_transformation_mode", place)
            .expect_alike(1e-5);
      }
    }
    for (const int antialias : {0, 1}) {
      Twin("Resize", 18)
          .in(noise({1, 2, 9, 8}, 1))
          .absent()
          .absent()
          .in(array({4}, {1, 2, 4, 5}, DType::i64))
          .set("mode", mode)
          .set("antialias", antialias)
          .expect_alike(1e-5);
    }
  }
  Twin("Resize", 13)
      .in(noise({1, 1, 5, 6}, 1))
      .absent()
      .in(array({4}, {1, 1, 1.7, 0.6}))
      .set("mode", "cubic")
      .set("cubic_coeff_a", -0.5)
      .set("exclude_outside", 1)
      .expect_alike(1e-5);
  Twin("Resize", 13)
      .in(noise({1, 1, 5, 6}, 1))
      .in(array({8}, {0, 0, 0.2, 0.1, 1, 1, 0.9, 1.2}))
      .in(array({4}, {1, 1, 1.4, 0.7}))
      .set("mode", "linear")
      .set("coordinate_transformation_mode", "tf_crop_and_resize")
      .set("extrapolation_value", 7.0)
      .expect_alike(1e-5);
}

TEST(RuntimeResize, AxesRatiosAndOldForms) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  for (const char* policy : {"stretch", "not_larger", "not_smaller"}) {
    Twin("Resize", 18)
        .in(noise({1, 2, 5, 6}, 1))
        .absent()
        .absent()
        .in(array({2}, {7, 9}, DType::i64))
        .set("axes", Integers{2, 3})
        .set("keep_aspect_ratio_policy", policy)
        .expect_alike(0);
  }
  for (const char* mode : {"nearest", "linear"}) {
    Twin("Upsample", 9)
        .in(noise({1, 2, 3, 4}, 1))
        .in(array({4}, {1, 1, 2, 3}))
        .set("mode", mode)
        .expect_alike(1e-6);
    Twin("Resize", 10)
        .in(noise({1, 2, 5, 4}, 1))
        .in(array({4}, {1, 1, 1.5, 0.5}))
        .set("mode", mode)
        .expect_alike(1e-6);
  }
}

TEST(RuntimeSamples, GridsAndRegions) {
  OPDRIFT_NEEDS_ONNXRUNTIME();
  Array grid = noise({2, 3, 4, 2}, 2);
  for (double& value : grid.values) {
    value *= 1.4;
  }
  for (const char* mode : {"linear", "nearest", "cubic"}) {
    for (const char* border : {"zeros", "border", "reflection"}) {
      for (const int align : {0, 1}) {
        Twin("GridSample", 20)
            .in(noise({2, 2, 5, 6}, 1))
            .in(grid)
            .set("mode", mode)
            .set("padding_mode", border)
            .set("align_corners", align)
            .expect_alike(1e-5);
      }
    }
  }
  const Array rois = array({3, 4}, {0.3, 1, 4.6, 5, 0, 2.2, 3, 6, -1, -1, 9, 9});
  for (const char* mode : {"avg", "max"}) {
    for (const char* place : {"half_pixel", "output_half_pixel"}) {
      for (const int samples : {0, 2}) {
        Twin("RoiAlign", 16)
            .in(noise({2, 2, 7, 8}, 1))
            .in(rois)
            .in(array({3}, {0, 1, 1}, DType::i64))
            .set("mode", mode)
            .set("coordinate_transformation_mode", place)
            .set("sampling_ratio", samples)
            .set("output_height", 2)
            .set("output_width", 3)
            .set("spatial_scale", 0.8)
            .expect_alike(1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace opdrift::replay::test
