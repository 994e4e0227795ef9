#pragma once

#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/verdict/judge/arrays.hpp"
#include "opdrift/verdict/judge/shape_grid.hpp"

// B of tier N: the squared error of an operator's first input, summed over what an output is made
// of. Only what the entries of a grid need is read.
//
//   Conv                  the channels of its group under the kernel
//   MatMul, Gemm, Linear  the row of the input

namespace opdrift::verdict::judging {

/// The axis along which outputs share what they are made of: 1 for Conv, the last one for products
/// of rows. Others: axis 1 with four axes or more, else the last one.
std::size_t channel_axis(const ProblemOperator& op, std::size_t rank);

/// One number per entry of the grid of the operator's result, which has shape `out`. Fails with
/// `unsupported` or `not_found` when it is not known where the error of the input arrives.
Result<std::vector<double>> input_energy(const Context& context, const ProblemOperator& op,
                                         const Grid& grid, const tensor::Shape& out);

}  // namespace opdrift::verdict::judging
