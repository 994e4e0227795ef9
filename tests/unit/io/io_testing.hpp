#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/io/dump.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

/// What the tests of this room share: a folder that goes away, files as strings, small tensors.
namespace opdrift::io::testing {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "opdrift-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data()) != nullptr ? name : "";
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }

  /// Writes a file and returns its path.
  std::string file(std::string_view name, std::string_view content) const {
    const std::string target = *this / name;
    std::ofstream(target, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    return target;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

 private:
  std::string path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string shared_folder() {
  const char* set = std::getenv("OPDRIFT_SHARED");
  return set != nullptr ? set : OPDRIFT_SOURCE_DIR "/../shared";
}

/// A file of the fuzzing corpus, by "target/name".
inline std::string corpus_file(std::string_view name) {
  return OPDRIFT_SOURCE_DIR "/fuzz/corpus/" + std::string(name);
}

inline Bytes bytes_of(std::string_view text) {
  const ByteSpan span = as_bytes(text);
  return own_bytes({span.begin(), span.end()});
}

/// The bytes of some numbers, as this (little-endian) machine stores them.
template <typename T>
std::string text_of(const std::vector<T>& values) {
  std::string text(values.size() * sizeof(T), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  return text;
}

inline std::string little_endian(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) {
    const std::uint64_t byte = i < sizeof value ? value >> (8 * i) & 0xFFU : 0;
    text += static_cast<char>(static_cast<unsigned char>(byte));
  }
  return text;
}

inline tensor::View view_of(tensor::DType dtype, tensor::Shape shape, std::string_view elements) {
  tensor::Tensor one;
  one.desc.dtype = dtype;
  one.desc.shape = std::move(shape);
  one.bytes = bytes_of(elements);
  return std::move(tensor::stored_view(one)).value();
}

/// The elements of a tensor in logical order, little-endian; "error: ..." when they do not load.
inline std::string elements_of(const FileTensor& one) {
  const Result<tensor::Tensor> loaded = load_tensor(one);
  if (!loaded) {
    return "error: " + loaded.error().to_string();
  }
  const Result<tensor::View> view = tensor::stored_view(*loaded);
  if (!view) {
    return "error: " + view.error().to_string();
  }
  std::string text(static_cast<std::size_t>(view->count()) * tensor::info(one.desc.dtype).bits / 8,
                   '\0');
  tensor::gather(*view, 0, view->count(), reinterpret_cast<std::byte*>(text.data()));
  return text;
}

}  // namespace opdrift::io::testing
