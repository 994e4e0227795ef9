#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "targets.hpp"

#include "opdrift/base/mapped_file.hpp"

namespace {

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

/// Feeds every file of corpus/<target>/ to its target, and all files to the reader table; without
/// a fuzzer, under any compiler. The name of the file at work stays on the screen after a crash.
int main(int argc, char** argv) {
  const std::string corpus = argc > 1 ? argv[1] : "fuzz/corpus";
  std::size_t count = 0;
  for (const opdrift::fuzz::Target& target : opdrift::fuzz::kTargets) {
    for (const std::string& path : files_of(corpus + "/" + target.name)) {
      std::printf("%s\n", path.c_str());
      std::fflush(stdout);
      const auto bytes = opdrift::map_file(path);
      if (!bytes) {
        std::printf("%s\n", bytes.error().to_string().c_str());
        return 1;
      }
      target.run(bytes->span);
      opdrift::fuzz::readers(bytes->span);
      ++count;
    }
  }
  std::printf("%zu files replayed\n", count);
  return count > 0 ? 0 : 1;
}
