#pragma once

#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"
#include "opdrift/graph/graph.hpp"
#include "opdrift/graph/om/model_def.hpp"

/// A ModelDef as a graph, the same graph that its JSON rendering gives (atc_json.hpp): single texts
/// of attributes keep their C escapes, single reals are as exact as the rendering is.
namespace opdrift::graph {

/// `attributes`: keep scalar and list attributes of operators and of the model, and input_descs.
/// Fails with malformed, truncated or limit, or with the codes of read_atc_json.
Result<Graph> graph_of_model(const ModelDef& model, bool attributes);

/// The text that a single real is rendered as, six digits; "" when that takes more than nine
/// characters and the number itself is rendered.
std::string short_real(float value);

/// "DT_FLOAT16" of the proto's number 2.
std::string proto_dtype_text(std::uint64_t number);

}  // namespace opdrift::graph
