#pragma once

#include <string>
#include <vector>

/// Where the ONNX Runtime library is looked for, first hit wins:
///
///   1. the path given (--onnxruntime), a library or a folder that holds one
///   2. the same from the environment variable OPDRIFT_ONNXRUNTIME
///   3. beside the executable, and in the folders `lib` and `../lib` from there
///   4. where the set-up put it: `../deps/onnxruntime/lib` or `../../deps/onnxruntime/lib` from the
///      executable, or the folder the build was configured with
///   5. the system loader: libonnxruntime.so.1, libonnxruntime.so
///   6. the `onnxruntime` package of a Python found in VIRTUAL_ENV, CONDA_PREFIX, PYTHONPATH, the
///      user's or the system's folders
///
/// 1 and 2 are wishes: when they hold no library nothing else is tried.
namespace opdrift::engine {

struct LibraryCandidate {
  std::string path;    ///< for dlopen
  std::string origin;  ///< "--onnxruntime", "the set-up", for messages
  bool required = false;
};

/// Candidates in order. `given` is the user's path or "". Only files that exist are listed, but for
/// wishes and the names left to the system loader.
std::vector<LibraryCandidate> library_candidates(const std::string& given);

/// One paragraph: how to get the library.
std::string how_to_get_onnxruntime();

}  // namespace opdrift::engine
