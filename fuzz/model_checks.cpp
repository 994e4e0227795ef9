#include "model_checks.hpp"

#include <string>

#include "opdrift/base/check.hpp"
#include "opdrift/graph/atc_json.hpp"
#include "opdrift/graph/om/model_graph.hpp"
#include "opdrift/graph/om/model_json.hpp"

namespace opdrift::fuzz {

void both_ways(const graph::ModelDef& model) {
  std::string text;
  const Status written = graph::write_model_json(model, [&text](std::string_view piece) -> Status {
    text += piece;
    return Unit{};
  });
  const auto direct = graph::graph_of_model(model, true);
  static_cast<void>(graph::graph_of_model(model, false));
  if (!written || !direct) {
    return;
  }
  const auto through_json = graph::parse_atc_json(as_bytes(text), "fuzz", {.attributes = true});
  if (through_json) {
    OPDRIFT_CHECK(through_json->operators.size() == direct->operators.size());
  }
}

}  // namespace opdrift::fuzz
