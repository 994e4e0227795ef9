#pragma once

#include <cstdint>
#include <string>

#include "opdrift/base/result.hpp"
#include "opdrift/engine/instrument.hpp"

namespace opdrift::engine {

/// How a part was written.
struct SavedPart {
  std::uint64_t weight_bytes = 0;
  std::string data_file;  ///< path of its external data, "" without
};

struct SaveOptions {
  /// Above this many bytes of weights they go to `<path>.data`.
  std::uint64_t max_inline_bytes = (std::uint64_t{19} << 30) / 10;
};

/// Writes a model that stands on its own: external data of the source come into the file, or, above
/// the limit, with all larger constants into `<path>.data`; a file of that name that is not needed
/// is removed. Weights are streamed from where they lie and never held in memory.
///
/// Fails with invalid_argument when `path` or its data file is one that the model's weights come
/// from, with what finding external data may fail with (io::onnx::load) and as FileWriter does.
Result<SavedPart> save_part(const std::string& path, PlacedModel placed,
                            const SaveOptions& options = {});

}  // namespace opdrift::engine
