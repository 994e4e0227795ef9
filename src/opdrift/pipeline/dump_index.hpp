#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/match/name_match.hpp"
#include "opdrift/pipeline/stats/tensor_summary.hpp"
#include "opdrift/verdict/result.hpp"

namespace opdrift::pipeline {

/// One tensor of a dump, described but not loaded.
struct IndexedTensor {
  match::NamedTensor name;
  std::string operator_type;  ///< "" when the dump does not tell
  std::string path;
  std::size_t position = 0;  ///< among the tensors of its file
  std::uint64_t order = 0;   ///< execution order as far as the dump tells
  std::uint64_t size_bytes = 0;
  tensor::TensorDesc desc;
  std::optional<Error> problem;                   ///< cannot be decoded
  std::shared_ptr<const io::FileDump> container;  ///< kept open for files of many tensors
  std::shared_ptr<const TensorSummary> summary;   ///< set when only statistics were kept

  std::string label() const;
};

struct IndexOptions {
  std::size_t jobs = 0;
  /// Keeps every file of an operator instead of the newest one.
  bool keep_superseded = false;
};

/// All tensors of one side of a comparison.
struct DumpIndex {
  std::string path;
  std::string kind;                          ///< for people: "Ascend dump", "opdrift dump" ...
  std::vector<IndexedTensor> tensors;        ///< by execution order
  std::vector<verdict::LedgerEntry> ledger;  ///< files that gave no tensor, with the reason
  std::vector<std::string> notes;            ///< remarks on the dump as a whole
  bool has_order = false;                    ///< `order` comes from a manifest or time stamps
};

/// Reads the headers of everything below `path` (a file or a folder) on up to `jobs` threads.
/// Records and tables of statistics (pipeline/stats/stats_record.hpp) stand for tensors that are
/// not there: a record only when its file is gone, a table only when it is all there is.
/// Fails only when the path itself cannot be read; what is wrong with single files goes into the
/// ledger.
Result<DumpIndex> index_dump(const std::string& path, verdict::RunSide side,
                             const IndexOptions& options);
Result<DumpIndex> index_dump(const std::string& path, verdict::RunSide side, std::size_t jobs);

/// Brings the tensor in (mapped). Fails with not_found when only statistics were kept.
Result<tensor::Tensor> load(const IndexedTensor& indexed);

}  // namespace opdrift::pipeline
