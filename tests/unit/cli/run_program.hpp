#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace opdrift::testing {

/// How a program ended.
struct Outcome {
  int exit_code = -1;
  std::string text;  ///< standard output and error
};

/// One word for the shell. The word must not hold a quote.
inline std::string quoted(const std::string& word) {
  return "'" + word + "'";
}

inline Outcome run_shell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.text.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace opdrift::testing
