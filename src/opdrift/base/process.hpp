#pragma once

#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"

namespace opdrift {

/// A program of the user's machine and how to run it.
struct ProcessOptions {
  std::vector<std::string> words;  ///< program (searched in PATH when without '/') and arguments
  std::vector<std::string> environment;  ///< "NAME=value", beside what this process has
  std::string folder;                    ///< to run in; "" for the present one
  std::string log;                       ///< file for its stdout and stderr; "" throws them away
  double timeout_s = 0;                  ///< 0: none
  const CancelFlag* cancel = nullptr;
};

struct ProcessEnd {
  int exit_code = 0;  ///< 128 + signal when a signal ended it
  bool timed_out = false;
  bool cancelled = false;
};

/// Runs a program without a shell and without standard input, in a process group of its own that is
/// killed as a whole after the time or a cancel. Fails with not_found or permission (no such
/// program), invalid_argument (no words), io or write_failed (folder or log).
Result<ProcessEnd> run_process(const ProcessOptions& options);

/// Where `program` is found in PATH; "" if nowhere.
std::string program_path(const std::string& program);

}  // namespace opdrift
