#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/compare.hpp"
#include "opdrift/verdict/result.hpp"

/// Every operator on its own: run by ONNX Runtime, unoptimised and in the model's own types, on the
/// inputs that the target dumped, and compared with what the target made of them. Nothing is
/// inherited, so what is bad here is bad by itself.
///
///   blame      single   entire (target against golden)
///   own        bad      any
///   inherited  good     bad
///   none       good     good, or not known
///   unknown    none     any
namespace opdrift::diagnose {

struct CheckOpOptions {
  std::string target;                  ///< dump
  std::string model;                   ///< ONNX
  std::string golden;                  ///< dump for the comparison beside it; "" for none
  std::vector<std::string> operators;  ///< by name; empty for all
  std::vector<std::string> types;      ///< only operators of these types; empty for all
  pipeline::CompareOptions compare;    ///< rule, threads, graphs of the target
  std::string library;                 ///< of ONNX Runtime
  unsigned threads = 0;                ///< of ONNX Runtime
  std::uint64_t memory_budget = std::uint64_t{1} << 30;
  std::string output;  ///< folder for kits of operators that cannot be run; "" for none
  std::function<void(std::string_view stage, std::uint64_t done, std::uint64_t total)> progress;
};

enum class Blame : std::uint8_t { none, own, inherited, unknown };

std::string_view to_string(Blame blame);

/// The table above. A tensor of another size than the operator makes is bad; one that could not be
/// read tells nothing.
Blame blame_of(const std::optional<verdict::TensorResult>& single,
               const std::optional<verdict::TensorResult>& entire);

/// One output of an operator. Rows that were not compared are absent.
struct CheckedOutput {
  std::uint32_t index = 0;
  std::string tensor;
  std::optional<verdict::TensorResult> single;
  std::optional<verdict::TensorResult> entire;
  Blame blame = Blame::unknown;
};

struct CheckedOperator {
  std::uint64_t order = 0;  ///< position in the model, from 1
  std::string name;
  std::string type;
  std::vector<std::string> merged;  ///< operators that were run with it
  std::vector<CheckedOutput> outputs;
  std::string reason;  ///< why it was not run; "" when it was
  std::string kit;     ///< folder to run it elsewhere, "" for none

  /// The worst of its outputs: own, inherited, unknown, none.
  Blame blame() const;
};

struct CheckOpResult {
  std::string target;
  std::string golden;
  std::string model;
  std::string library_version;
  std::string rule;
  std::vector<CheckedOperator> operators;  ///< chosen ones, in the model's order
  std::vector<verdict::Finding> findings;  ///< about the device, from the single operators
  std::vector<std::string> notes;
  std::size_t sessions = 0;
  double run_s = 0;      ///< wall time of opening sessions and running operators
  double elapsed_s = 0;  ///< of everything
  bool interrupted = false;

  std::size_t count(Blame blame) const;
  std::size_t checked() const;  ///< operators that were run
};

/// Fails with invalid_argument (no such operator, nothing chosen), not_found (model, library,
/// dump), and with what compare_dumps fails with. What cannot be run is listed with its reason.
Result<CheckOpResult> check_operators(const CheckOpOptions& options);

}  // namespace opdrift::diagnose
