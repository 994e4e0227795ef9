#pragma once

#include <cstddef>
#include <string_view>

#include "opdrift/match/network.hpp"

/// Leaves out operators that work on quantised numbers.
///
/// Operators are walked by id. From its name or its joined originals an operator is a quantiser
/// (`_quant_layer`, `/AscendQuant`, `/AscendWeightQuant`, `.quant`, `.weight_quant`) and/or a
/// dequantiser (`_dequant_layer`, `_anti_quant_layer`, `/AscendDequant`, `/AntiQuant`, `.dequant`,
/// `.anti_quant`). It is inside a pair when an input comes from an output classed quant or middle.
///
///   class of an output     quantiser with DT_INT8       quant
///                          dequantiser with DT_FLOAT16  dequant
///                          otherwise                    inside a pair ? middle : normal
///
/// An operator inside a pair is left out unless all its outputs are dequant.
namespace opdrift::match {

/// Marks the operators with LeftOut::quant_pair; they stay known as producers. Returns how many.
std::size_t leave_out_quantised(Network& network);

/// True when an operator name of a dump marks its folder as quantised. `whole_suffix`: the mark
/// must end the name (a trailing `_<digits>` is allowed); otherwise it may stand anywhere.
bool is_quantised_name(std::string_view dump_name, bool whole_suffix);

}  // namespace opdrift::match
