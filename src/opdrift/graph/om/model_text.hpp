#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"

/// A ModelDef (or a lone GraphDef) as text, as GE writes it on request (ge_proto_*.txt, what
/// `atc --mode=5` converts), turned into the serialised message: from there on text and offline
/// model are the same. Fields that model_schema.hpp does not name, and the bytes of weights, are
/// passed over.
namespace opdrift::graph {

/// Fails with the codes of scan_text_format, and with malformed for a value of another kind than
/// its field has, or a text that holds neither graph nor operators.
Result<std::vector<std::byte>> encode_model_text(std::string_view text);

}  // namespace opdrift::graph
