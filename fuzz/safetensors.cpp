#include "targets.hpp"

#include "opdrift/io/safetensors/reader.hpp"

namespace opdrift::fuzz {

void safetensors(ByteSpan bytes) {
  const auto dump = io::parse_safetensors(own_bytes({bytes.begin(), bytes.end()}), "fuzz");
  if (dump) {
    for (const io::FileTensor& one : dump->tensors) {
      static_cast<void>(io::load_tensor(one));
    }
  }
}

}  // namespace opdrift::fuzz
