#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/temporary_folder.hpp"
#include "opdrift/engine/dump.hpp"
#include "opdrift/engine/run_settings.hpp"
#include "opdrift/verdict/result.hpp"

/// A side of a comparison may be a model instead of a dump:
///
///   dump   against model   the model is fed with the network inputs that the dump holds
///   model  against model   both are fed alike, target and golden with settings of their own
///
/// Inputs that are given win over those of a dump; what neither has is made up as `opdrift dump`
/// does. Dumps go to `<output>/target_dump` and `<output>/golden_dump`, or, without an output
/// folder, to a temporary one that goes away with the Sides.
namespace opdrift::diagnose {

/// True for a path that ends in ".onnx".
bool is_model_side(const std::string& path);

/// Runs of models that stand for sides.
struct SidesOptions {
  std::string target;  ///< dump or model
  std::string golden;
  engine::RunSettings target_settings;
  engine::RunSettings golden_settings;
  engine::InputOptions inputs;
  std::string output;   ///< "" for temporary dumps
  std::string library;  ///< of ONNX Runtime
  std::string opdrift_version;
  const CancelFlag* cancel = nullptr;
  std::function<void(const std::string& side, const engine::DumpProgress&)> progress;
};

/// Two sides that are dumps, as far as they were not before.
class Sides {
 public:
  const std::string& target() const { return target_.path; }
  const std::string& golden() const { return golden_.path; }
  /// The model that was run for the golden, else for the target; "" when none was.
  const std::string& model() const { return golden_.model.empty() ? target_.model : golden_.model; }
  /// What was run with which inputs, one line each.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Puts the notes in front of those of a comparison of the two, names the sides after their
  /// models, and files of temporary dumps without their folder.
  void describe(verdict::RunResult& result) const;

 private:
  friend class SidesMaker;
  struct Side {
    std::string path;
    std::string model;  ///< "" when the side was a dump
    std::string kind;   ///< how it was run
  };
  void rename(const Side& side, std::string& path) const;

  Side target_;
  Side golden_;
  std::optional<TemporaryFolder> temporary_;
  std::vector<std::string> notes_;
};

/// Runs the sides that are models. Fails with what dump_model fails with, and with cancelled.
Result<Sides> prepare_sides(const SidesOptions& options);

}  // namespace opdrift::diagnose
