#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue.hpp"
#include "judges.hpp"
#include "network.hpp"
#include "variants.hpp"

#include "opdrift/base/result.hpp"
#include "opdrift/engine/onnxruntime.hpp"
#include "opdrift/verdict/judge.hpp"

/// The evaluation itself: clean runs and planted faults. One call handles one network and may
/// run beside others.
namespace opdrift::evaluation {

/// What the judge said of one tensor, for the log.
struct Label {
  std::string value;
  std::string type;  ///< of the operator
  verdict::Judgement judgement;
  bool genuine = false;  ///< a culprit whose range the golden really exceeds
};

/// One network on one faultless target.
struct CleanRow {
  std::string_view network;
  Group group = Group::unseen;
  const Variant* variant = nullptr;
  std::string not_run;  ///< why; "" when it was run
  std::size_t tensors = 0;
  std::size_t culprits = 0;
  std::size_t genuine = 0;  ///< of these: the golden exceeds what the target can hold
  std::size_t watched = 0;
  std::size_t victims = 0;
  std::size_t drifting = 0;
  std::size_t unjudged = 0;
  double largest_q = 0.0;  ///< of tensors that are no culprits
  double largest_z = 0.0;
  std::array<std::size_t, kRivals> rivals = {};
  std::vector<verdict::Finding> findings;
  std::vector<Label> labels;  ///< all tensors

  std::size_t wrong() const { return culprits - genuine; }
  bool found(verdict::FindingKind kind) const;
};

/// How one judge did on one fault.
struct Score {
  enum class First : std::uint8_t { right, missed, earlier, later };
  First first = First::missed;
  bool own = false;        ///< blamed at the harmed operator, whoever else was
  bool watched = false;    ///< at least WATCH there; the rivals know no such thing
  std::size_t others = 0;  ///< operators blamed that the clean run does not blame
};

struct FaultRow {
  std::string_view network;
  Group group = Group::unseen;
  Format format = Format::fp16;
  std::string_view kind;
  bool subtle = false;
  std::string value;
  std::string type;
  std::size_t elements = 0;
  bool above = false;  ///< the change is at least as large as the error already there
  verdict::Judgement judgement;
  Score opdrift;
  std::array<Score, kRivals> rivals;
  std::string first;  ///< what opdrift named first; "" for nothing
};

/// A run that was judged.
struct SeenRun {
  const Network& network;
  std::string name;  ///< of the variant, or of the fault and its place
  Format format = Format::fp16;
  std::optional<verdict::Assumptions> assume;
  const Values& wide;
  const verdict::JudgedRun& verdicts;
};

/// Is shown every run of an evaluation.
class RunObserver {
 public:
  RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;
  virtual ~RunObserver() = default;
  virtual Status see(const SeenRun& run) = 0;
};

struct EvaluationOptions {
  std::string_view variant;                          ///< the only one of the clean runs; "": all
  verdict::Tier strongest = verdict::Tier::sampled;  ///< JudgeOptions::strongest
  RunObserver* observer = nullptr;                   ///< may be null
};

Result<std::vector<CleanRow>> evaluate_clean(engine::Runtime& runtime, const CatalogueEntry& entry,
                                             const std::string& models,
                                             const EvaluationOptions& options);

/// All kinds of fault at three depths in an fp16 or bf16 run.
Result<std::vector<FaultRow>> evaluate_faults(engine::Runtime& runtime, const CatalogueEntry& entry,
                                              const std::string& models, Format format,
                                              const EvaluationOptions& options);

}  // namespace opdrift::evaluation
