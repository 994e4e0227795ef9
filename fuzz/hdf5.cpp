#include "targets.hpp"

#include "opdrift/io/hdf5_reader.hpp"

namespace opdrift::fuzz {

void hdf5(ByteSpan bytes) {
  constexpr std::uint64_t kMaxLoadBytes = 1 << 24;
  const auto dump = io::parse_hdf5(own_bytes({bytes.begin(), bytes.end()}), "fuzz");
  if (!dump) {
    return;
  }
  for (const io::FileTensor& one : dump->tensors) {
    if (one.size_bytes <= kMaxLoadBytes) {
      static_cast<void>(io::load_tensor(one));
    }
  }
}

}  // namespace opdrift::fuzz
