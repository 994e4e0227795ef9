#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/io/torch/torch_pickle.hpp"
#include "opdrift/io/torch/torch_reader.hpp"

namespace opdrift::fuzz {

/// As a pickle, and as a whole file.
void pickle(ByteSpan bytes) {
  constexpr std::uint64_t kMaxLoadBytes = 1 << 24;
  if (const auto tree = io::read_pickle(bytes)) {
    OPDRIFT_CHECK(tree->root < tree->nodes.size());
    OPDRIFT_CHECK(tree->consumed_bytes <= bytes.size());
    static_cast<void>(io::describe(*tree, tree->root));
  }
  const auto dump = io::parse_torch(own_bytes({bytes.begin(), bytes.end()}), "fuzz");
  if (dump && dump->tensors.front().size_bytes <= kMaxLoadBytes) {
    static_cast<void>(io::load_tensor(dump->tensors.front()));
  }
}

}  // namespace opdrift::fuzz
