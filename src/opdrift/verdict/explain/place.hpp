#pragma once

#include "opdrift/verdict/explain/evidence.hpp"
#include "opdrift/verdict/explanation.hpp"

namespace opdrift::verdict::refit {

/// The place of the error; `full_shape` has the axes of extent 1 that the evidence left out.
ErrorPlace place_of(const Evidence& evidence, const tensor::Shape& full_shape);

}  // namespace opdrift::verdict::refit
