#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/diagnose/flow/facts_json.hpp"
#include "opdrift/diagnose/flow/flow.hpp"
#include "opdrift/diagnose/flow/report.hpp"

namespace opdrift::fuzz {

/// Facts are diagnosed and reported, and come back from their own text with the same answer.
void diagnosis_facts(ByteSpan bytes) {
  namespace flow = diagnose::flow;
  const auto facts = flow::parse_facts(as_text(bytes), "fuzz");
  if (!facts) {
    return;
  }
  for (const bool greedy : {false, true}) {
    flow::FlowOptions options;
    options.greedy = greedy;
    const flow::Diagnosis diagnosis = flow::diagnose(*facts, options);
    static_cast<void>(flow::render_text(diagnosis));
    static_cast<void>(flow::render_json(diagnosis));
    const auto again = flow::parse_facts(flow::write_facts(*facts), "fuzz");
    OPDRIFT_CHECK(again.has_value());
    OPDRIFT_CHECK(flow::diagnose(*again, options).conclusion == diagnosis.conclusion);
  }
}

}  // namespace opdrift::fuzz
