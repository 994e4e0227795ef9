#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "opdrift/graph/api_run.hpp"
#include "opdrift/pipeline/dump_index.hpp"

namespace opdrift::pipeline {

/// One dump.json of a side.
struct ApiJson {
  std::string label;  ///< folder below the root, "step0/rank1"; "" for the root itself
  std::string path;
};

/// Runs below a path (a file or a folder), by label: dump.json or debug.json in the folder and in
/// graph, pynative, step<N>, rank<R> and proc<P> folders below it.
std::vector<ApiJson> find_api_jsons(const std::string& path);

inline constexpr std::size_t kNotIndexed = ~std::size_t{0};

/// The leaves of a side's runs as tensors of a dump:
///
///   saved tensors     their files in dump_tensor_data
///   other tensors     their statistics and check sums
///   numbers, bools    tensors of one element
///   other values      their texts, as check sums
///   nothing (None)    a line of the ledger
class ApiIndexBuilder {
 public:
  ApiIndexBuilder(std::string root, verdict::RunSide side);

  /// Adds a run. Returns the position of each leaf in the index, kNotIndexed for None.
  std::vector<std::size_t> add(const ApiJson& json, const graph::ApiRun& run);

  /// A tensor that the run of `json` saved. Fails when it has no file of its own.
  static Result<tensor::Tensor> load_leaf(const ApiJson& json, const graph::ApiLeaf& leaf);

  void add_unreadable(const ApiJson& json, const Error& error);

  /// Reads the headers of the tensor files and notes the files no run names.
  DumpIndex finish(std::size_t jobs);

 private:
  IndexedTensor describe(const graph::ApiRun& run, const graph::ApiLeaf& leaf,
                         const std::string& folder) const;

  verdict::RunSide side_;
  DumpIndex index_;
  std::uint64_t calls_ = 0;
};

}  // namespace opdrift::pipeline
