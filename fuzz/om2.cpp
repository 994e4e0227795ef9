#include "model_checks.hpp"
#include "targets.hpp"

#include "opdrift/graph/om/visual_json.hpp"
#include "opdrift/io/model_file.hpp"

namespace opdrift::fuzz {

/// Archives with models in them, and the descriptions alone.
void om2(ByteSpan bytes) {
  if (const auto file = io::parse_model_file(Bytes{bytes, nullptr}, "fuzz")) {
    both_ways(file->model);
  }
  if (const auto message = graph::encode_visual_json(bytes)) {
    if (const auto model = graph::ModelDef::read(*message, 0)) {
      both_ways(*model);
    }
  }
}

}  // namespace opdrift::fuzz
