#include <cstdint>
#include <string>

#include "in_memory_file.hpp"
#include "targets.hpp"

#include "opdrift/io/registry.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::fuzz {

namespace {

constexpr std::uint64_t kMaxLoadBytes = 1 << 24;

void load_all(const io::FileDump& dump) {
  for (const io::FileTensor& one : dump.tensors) {
    if (one.size_bytes > kMaxLoadBytes) {
      continue;
    }
    const Result<tensor::Tensor> loaded = io::load_tensor(one);
    if (!loaded) {
      continue;
    }
    const Result<tensor::View> view = tensor::stored_view(*loaded);
    if (view && view->count() <= kMaxLoadBytes) {
      tensor::TileReader tiles(*view);
      for (std::uint64_t i = 0; i < tiles.tile_count(); ++i) {
        tiles.read(i);
      }
    }
  }
}

}  // namespace

/// Every reader opens the same bytes, then loads what it found and reads it tile by tile.
void readers(ByteSpan bytes) {
  const InMemoryFile file(bytes);
  const std::string path = file.path();
  if (path.empty()) {
    return;
  }
  static_cast<void>(io::find_reader(path));
  for (const io::Reader& reader : io::readers()) {
    const Result<io::FileDump> dump = reader.open(path);
    if (dump) {
      load_all(*dump);
    }
  }
}

}  // namespace opdrift::fuzz
