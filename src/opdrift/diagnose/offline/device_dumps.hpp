#pragma once

#include <string>
#include <vector>

#include "opdrift/diagnose/offline/failure.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/tensor/tensor.hpp"

/// Device dumps where a run left them: somewhere below a folder,
/// `<time>/<device>/<model>/<id>/<n>/` or flat.
namespace opdrift::diagnose::offline {

/// The folder below `folder` (or it) with the most dump files, of equal ones the last by name; ""
/// when no file below is named like a dump.
std::string find_dump_folder(const std::string& folder);

/// Net outputs that a run left: all files ending in .bin below `folder`, by the number their names
/// end in, then by name.
std::vector<std::string> find_output_files(const std::string& folder);

/// One file of a device dump.
struct DumpedOperator {
  std::string op_type;
  std::string op_name;  ///< as in the file name
  std::string path;
};

/// The operators of a dump folder, by name of the file. Of repeated dumps the last counts.
Outcome<std::vector<DumpedOperator>> list_dumped(const std::string& folder);

/// Output number `index` of a dump file, dense. NC1HWC0 comes as NCHW, cut to its original shape.
/// Fails with out_of_bounds when the file has no such output.
Outcome<tensor::Tensor> load_output(const std::string& path, std::size_t index);

/// A dense tensor with its numbers in float32.
tensor::Tensor to_f32(const tensor::Tensor& tensor);

/// Writes a dense tensor as npy.
Done write_tensor(const std::string& path, const tensor::Tensor& tensor);

}  // namespace opdrift::diagnose::offline
