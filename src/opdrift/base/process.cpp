#include "opdrift/base/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "opdrift/base/text.hpp"

extern char** environ;

namespace opdrift {

namespace {

using Clock = std::chrono::steady_clock;

bool is_program(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> found;
  found.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    // exec takes writable pointers but does not write
    found.push_back(const_cast<char*>(text.c_str()));
  }
  found.push_back(nullptr);
  return found;
}

/// Later entries win over those of this process.
std::vector<std::string> merged_environment(const std::vector<std::string>& given) {
  std::vector<std::string> all = given;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& own : given) {
      replaced = replaced || std::string_view(own).substr(0, name.size()) == name;
    }
    if (!replaced) {
      all.emplace_back(text);
    }
  }
  return all;
}

/// Only calls that are safe between fork and exec.
[[noreturn]] void become(const std::string& program, const std::vector<char*>& arguments,
                         const std::vector<char*>& environment, const char* folder, int output) {
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
      dup2(output, STDERR_FILENO) < 0 || (folder != nullptr && chdir(folder) != 0)) {
    _exit(126);
  }
  execve(program.c_str(), arguments.data(), environment.data());
  _exit(127);
}

ProcessEnd wait_for(pid_t child, const ProcessOptions& options) {
  ProcessEnd end;
  const auto start = Clock::now();
  auto pause = std::chrono::milliseconds(1);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    end.timed_out = options.timeout_s > 0 && !(spent.count() <= options.timeout_s);
    end.cancelled = options.cancel != nullptr && options.cancel->cancelled();
    if (end.timed_out || end.cancelled) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(50));
  }
  end.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

Error refused(ErrorCode code, const std::string& what, const std::string& path) {
  return Error{code, what + ": " + std::strerror(errno), path};
}

}  // namespace

std::string program_path(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return is_program(program) ? program : "";
  }
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    std::string candidate = (folder.empty() ? "." : std::string(folder)) + "/" + program;
    if (!program.empty() && is_program(candidate)) {
      return candidate;
    }
  }
  return "";
}

Result<ProcessEnd> run_process(const ProcessOptions& options) {
  if (options.words.empty() || options.words.front().empty()) {
    return Error{ErrorCode::invalid_argument, "expected a program to run"};
  }
  const std::string program = program_path(options.words.front());
  if (program.empty()) {
    return Error{ErrorCode::not_found, "no such program", options.words.front()};
  }
  const std::string log = options.log.empty() ? "/dev/null" : options.log;
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (output < 0) {
    return refused(ErrorCode::write_failed, "cannot write", log);
  }
  const std::vector<std::string> environment = merged_environment(options.environment);
  const std::vector<char*> argument_list = pointers(options.words);
  const std::vector<char*> environment_list = pointers(environment);
  const pid_t child = fork();
  if (child == 0) {
    become(program, argument_list, environment_list,
           options.folder.empty() ? nullptr : options.folder.c_str(), output);
  }
  close(output);
  if (child < 0) {
    return refused(ErrorCode::io, "cannot start", program);
  }
  return wait_for(child, options);
}

}  // namespace opdrift
