#pragma once

#include <vector>

#include "opdrift/engine/inputs.hpp"
#include "opdrift/io/onnx/model.hpp"
#include "opdrift/pipeline/dump_index.hpp"

/// What a model was fed with, out of the dump of a run of it. Of the first step, the first hit:
///
///   1. the tensor with the input's value name
///   2. the first output of an operator of the input's name (Data operators, framework dumps)
///   3. the same with names normalised
///   4. the dumped input of an operator that reads it, by node name and position
namespace opdrift::diagnose {

/// The inputs of `graph` that `dump` holds and that can be read, in the model's order.
std::vector<engine::InputTensor> inputs_in_dump(const io::onnx::Graph& graph,
                                                const pipeline::DumpIndex& dump);

}  // namespace opdrift::diagnose
