#pragma once

#include <string>
#include <unordered_map>

#include "evaluation.hpp"

/// Judged runs of one network as files, for another judge (agree.py):
///
///   model.onnx        the simplified model
///   values/<n>.npy    tensors, f32 where they are floats; shared by runs
///   golden.tsv        value, file
///   runs.tsv          file of the run, name, format ("fp16"), assumption ("", "tf32", "half")
///   run<n>.tsv        value, file, label, tier, q_own, z' ("-" where there is no judgement)
namespace opdrift::evaluation {

class RunExporter final : public RunObserver {
 public:
  explicit RunExporter(std::string folder) : folder_(std::move(folder)) {}
  Status see(const SeenRun& run) override;

 private:
  Status begin(const Network& network);
  Result<std::string> file_of(const tensor::Tensor& tensor);

  std::string folder_;
  std::string runs_;
  std::size_t count_ = 0;
  /// Tensors already written, by the address of their bytes; they are kept alive.
  std::unordered_map<const std::byte*, std::pair<tensor::Tensor, std::string>> written_;
};

}  // namespace opdrift::evaluation
