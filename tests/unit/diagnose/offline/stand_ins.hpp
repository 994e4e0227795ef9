#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

/// Programs of a device's tool kit that only look like them.
namespace opdrift::diagnose::testing {

/// PATH as long as the object lives.
class SearchPath {
 public:
  explicit SearchPath(const std::string& value) : before_(std::getenv("PATH")) {
    ::setenv("PATH", value.c_str(), 1);
  }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;
  ~SearchPath() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

/// A shell script as a program of that path.
inline void write_program(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << "#!/bin/sh\n" << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

/// Start of a script that puts the values of --model, --output and so on into $model, $output.
inline constexpr const char* kReadOptions =
    "[ \"$1\" = -c ] && exit 0\n"
    "while [ $# -gt 0 ]; do\n"
    "  case $1 in\n"
    "    --*=*) name=${1%%=*}; value=${1#*=} ;;\n"
    "    --*) name=$1; value=$2 ;;\n"
    "  esac\n"
    "  case $1 in --*) export \"opt_${name#--}=$value\" ;; esac\n"
    "  shift\n"
    "done\n";

}  // namespace opdrift::diagnose::testing
