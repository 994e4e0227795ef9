#pragma once

#include <string>

#include "opdrift/verdict/judge/arrays.hpp"
#include "opdrift/verdict/judge/found.hpp"

// Judgements in words: what is wrong, by how much, and the element that shows it best.

namespace opdrift::verdict::judging {

/// The sentence of an operator's output; label and cause are set.
std::string sentence(const Context& context, ValueId value, const Found& found,
                     const Judgement& judgement);

/// The sentence of an input or parameter of the network.
std::string leaf_sentence(const Context& context, ValueId value, const Found& found,
                          const Judgement& judgement);

/// "11.3", "0.042", "2.1e+09": three digits.
std::string number_text(double value);

/// "[3,17]" for a flat index.
std::string place_text(const tensor::Shape& shape, std::uint64_t index);

}  // namespace opdrift::verdict::judging
