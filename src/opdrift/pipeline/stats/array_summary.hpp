#pragma once

#include <string>

#include "opdrift/base/result.hpp"

/// Largest, smallest and mean element of an npy file, as NumPy computes and prints them:
///
///   max, min   in the type of the array; NaN when any element is NaN
///   mean       sum / count; floats are added pairwise (blocks of 128 in eight strands) in their
///   own
///              type, float16 in float32 and then rounded, integers and bools in float64
///   text       fewest digits that read back as the same value of the type; positional from 1e-4 up
///              to 1e16, else with an exponent of two digits or more; "nan", "inf", "True"
namespace opdrift::pipeline {

struct ArraySummary {
  std::string shape;  ///< "(1, 3)", "(4,)", "()"
  std::string dtype;  ///< "float16"
  std::string max;
  std::string min;
  std::string mean;
};

/// Fails with malformed (no elements), unsupported_dtype (complex numbers) or as io::open_npy does.
Result<ArraySummary> summarise_npy(const std::string& path);

/// A number as NumPy prints a scalar of that type.
std::string numpy_text(double value);
std::string numpy_text(float value);
std::string numpy_text_f16(float value);

}  // namespace opdrift::pipeline
