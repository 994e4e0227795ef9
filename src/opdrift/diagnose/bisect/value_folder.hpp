#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Tensors of a run in a folder, looked up by what they are. Files are taken for
///
///   manifest.json              of `opdrift dump`: every tensor by its name
///   <stem>.<index>[.<time>].E  output `index` of the operator with that stem; the latest counts
///   input_<stem>.<i>.<time>.E  a network input
///   <tensor>.E                 the tensor of that name, '/' and ':' read as '_'
///   ...<n>.E                   the n-th output of the model that was run (results of a device)
///
/// with E = npy or bin and stem = operator name with '.' and '/' as '_'. Names of digits stand for
/// others in mapping.csv. A bin file takes type and shape from the tensor it stands for; one of
/// half the size is read as float16.
namespace opdrift::diagnose {

class ValueFolder {
 public:
  /// Fails as listing the folder and reading the tables in it does.
  static Result<ValueFolder> open(const std::string& path);

  /// What is looked for.
  struct Wanted {
    std::string tensor;
    std::string node;  ///< as dumps call it; "" for a network input
    std::size_t index = 0;
    std::size_t position = 0;                  ///< among the outputs of the model that was run
    bool by_position = false;                  ///< files that are only numbered may be taken
    const tensor::TensorDesc* like = nullptr;  ///< for bin files
  };

  /// Fails with not_found and what reading a file may fail with.
  Result<tensor::Tensor> find(const Wanted& wanted) const;

 private:
  std::string file_of(const Wanted& wanted) const;

  std::string path_;
  std::map<std::string, std::string> by_tensor_;    // from the manifest: tensor to file
  std::map<std::string, std::string> by_output_;    // "stem.index" to file
  std::map<std::string, std::uint64_t> times_;      // of by_output_
  std::map<std::string, std::string> by_name_;      // file name without its ending to file
  std::map<std::uint64_t, std::string> by_number_;  // last number of the name to file
};

/// Reads one file; a bin file as described by `like`.
Result<tensor::Tensor> read_value(const std::string& path, const tensor::TensorDesc* like);

}  // namespace opdrift::diagnose
