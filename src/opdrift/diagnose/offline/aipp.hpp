#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/diagnose/offline/input_files.hpp"
#include "opdrift/engine/inputs.hpp"
#include "opdrift/graph/model_facts.hpp"

/// Models whose first operator turns an image into their input (AIPP). The golden model has no such
/// operator, so it gets what the device made of the image: output 0 of the operators of type Aipp.
///
///   (n,c1,h,w,c0), first k of the c0 channels kept, axes to (n,c1,k,h,w), c1 and k joined,
///   k = elements of the golden input / (n*c1*h*w)
namespace opdrift::diagnose::offline {

/// Bytes of one raw image for an input of N x C: N*C*H*W / r with r = 2 (YUV420SP_U8),
/// 1 (RGB888_U8), 3 (YUV400_U8), 3/4 (XRGB8888_U8) and H, W those of the configuration. Fails with
/// aipp_content (other formats, no size).
Outcome<std::uint64_t> aipp_image_bytes(const graph::AippOperator& aipp, std::uint64_t images,
                                        std::uint64_t channels);

/// Sets the device's sizes of the inputs of an AIPP model where the model does not tell them.
Done set_image_sizes(std::vector<WantedInput>& inputs, const graph::Graph& model);

/// Makes `<folder>/<i>.npy` in float32 for every input out of the dumps in `dump_folder`. Fails
/// with out_of_bounds when the number of Aipp operators is not that of the inputs, with bad_data
/// when a dump does not fit its input.
Outcome<std::vector<engine::InputFile>> aipp_golden_inputs(const std::string& dump_folder,
                                                           const std::vector<WantedInput>& inputs,
                                                           const std::string& folder);

}  // namespace opdrift::diagnose::offline
