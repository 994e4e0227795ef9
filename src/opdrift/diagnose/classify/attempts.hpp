#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/classify/input_class.hpp"

/// The tests of input_class.hpp, one function per row of its table.
namespace opdrift::diagnose::classify {

/// One hypothesis, what it leaves, and whether that is good enough.
struct Attempt {
  InputClass found;
  bool accepted = false;
};
using Attempts = std::vector<Attempt>;

/// The device's elements in the golden's order, by one hypothesis about layouts.
struct Alignment {
  Image device;
  std::string layout;  ///< "" for no difference
};

/// Both sides, read once.
struct InputPair {
  Array golden;
  Array device;
  Layout golden_layout = Layout::nchw;
  Image golden_image;
  Image device_image;  ///< in its own layout
  std::string layout;  ///< how that differs from the golden's; "" if it does not
  std::vector<Alignment> alignments;

  bool same_count() const { return golden.values.size() == device.values.size(); }
};

InputPair make_pair(Array golden, Array device);

using Test = void (*)(const InputPair& pair, Attempts& attempts);

void try_equal(const InputPair& pair, Attempts& attempts);
void try_shape(const InputPair& pair, Attempts& attempts);
void try_layout(const InputPair& pair, Attempts& attempts);
void try_swap(const InputPair& pair, Attempts& attempts);
void try_affine(const InputPair& pair, Attempts& attempts);
void try_swap_affine(const InputPair& pair, Attempts& attempts);
void try_offset(const InputPair& pair, Attempts& attempts);
void try_resize(const InputPair& pair, Attempts& attempts);
void try_cast(const InputPair& pair, Attempts& attempts);
void try_missing(const InputPair& pair, Attempts& attempts);

/// "golden in NHWC, " before a finding; "" where layouts agree.
std::string with_layout(const std::string& layout, const std::string& finding);

/// A fit in words and its kind, by which numbers differ between channels.
InputClass describe_fit(const AffineFit& fit, const Image& golden);

/// A fit is a finding when every channel correlates and little is left.
bool fits(const AffineFit& fit);

}  // namespace opdrift::diagnose::classify
