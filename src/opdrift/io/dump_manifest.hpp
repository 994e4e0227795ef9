#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/tensor/dtype.hpp"

/// Reads the manifest.json that `opdrift dump` writes beside its tensors. Grammar: see
/// docs/formats/opdrift-dump.md; only what pairing and reports need is taken.
namespace opdrift::io {

inline constexpr std::string_view kManifestFileName = "manifest.json";

/// What the manifest says about one file.
struct ManifestTensor {
  std::string operator_name;
  std::string operator_type;
  std::string tensor_name;
  std::uint32_t index = 0;
  std::uint64_t order = 0;  ///< of the operator; 0 for network inputs
  std::optional<tensor::DType> dtype;
  /// Operators of the model as given whose work the operator does.
  std::vector<std::string> originals;
};

/// An operator output that was not written.
struct ManifestSkip {
  std::string operator_name;
  std::string tensor_name;
  std::string reason;
};

struct DumpManifest {
  std::string model_path;
  std::uint64_t model_size_bytes = 0;
  std::string model_hash;  ///< "fnv1a64:<hex>" of the file's bytes
  std::string precision;
  std::string optimize;
  bool complete = true;       ///< false when the dump was interrupted
  bool outputs_equal = true;  ///< looking at all tensors did not change the final outputs
  std::map<std::string, ManifestTensor, std::less<>> by_file;
  std::vector<ManifestSkip> skipped;
};

/// Fails with bad_json when the text is no manifest of a known version.
Result<DumpManifest> read_dump_manifest(const std::string& path);

}  // namespace opdrift::io
