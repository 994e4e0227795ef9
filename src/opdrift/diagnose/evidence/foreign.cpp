#include "opdrift/diagnose/evidence/foreign.hpp"

#include "opdrift/pipeline/dump_index.hpp"
#include "opdrift/verdict/explain/explain.hpp"

namespace opdrift::diagnose::evidence {

std::vector<std::string> foreign_data(const std::vector<verdict::Explanation>& explanations) {
  std::vector<std::string> sentences;
  for (const verdict::Explanation& one : explanations) {
    if (one.kind == verdict::ExplanationKind::other_tensor ||
        one.kind == verdict::ExplanationKind::overwritten) {
      sentences.push_back(one.sentence);
    }
  }
  return sentences;
}

Result<DumpFingerprints> DumpFingerprints::read(const std::string& folder, std::size_t jobs,
                                                const CancelFlag* cancel) {
  OPDRIFT_TRY(const pipeline::DumpIndex dump,
              pipeline::index_dump(folder, verdict::RunSide::target, jobs));
  DumpFingerprints made;
  for (const pipeline::IndexedTensor& indexed : dump.tensors) {
    if (cancel != nullptr && cancel->cancelled()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    const auto loaded = pipeline::load(indexed);
    const auto view = loaded ? tensor::stored_view(*loaded) : Result<tensor::View>(loaded.error());
    if (view) {
      made.known_.add(*view, indexed.label());
    }
  }
  return made;
}

std::vector<std::string> DumpFingerprints::look_at(const pipeline::AlignedPair& pair,
                                                   const std::string& label) const {
  verdict::ExplainContext context;
  context.fingerprints = &known_;
  context.without = {label};
  const auto found = verdict::explain(pair.golden, pair.target, nullptr, context);
  return found ? foreign_data(*found) : std::vector<std::string>{};
}

}  // namespace opdrift::diagnose::evidence
