#include <string>

#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/graph/atc_json.hpp"
#include "opdrift/graph/om/inout_info.hpp"
#include "opdrift/graph/om/model_file.hpp"
#include "opdrift/graph/om/model_graph.hpp"
#include "opdrift/graph/om/model_json.hpp"

namespace opdrift::fuzz {

namespace {

/// The graph of a model and that of its JSON have the same operators, where both can be read.
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

}  // namespace

/// Offline models and text graphs, whole and salvaged.
void om(ByteSpan bytes) {
  for (const bool salvage : {false, true}) {
    const auto file = graph::parse_model_file(Bytes{bytes, nullptr}, "fuzz", {.salvage = salvage});
    if (!file) {
      continue;
    }
    both_ways(file->model);
    if (file->chosen) {
      static_cast<void>(graph::parse_inout_info(file->chosen->inout_info, 0));
    }
  }
  static_cast<void>(graph::parse_inout_info(bytes, 0));
}

}  // namespace opdrift::fuzz
