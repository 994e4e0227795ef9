#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "opdrift/base/text.hpp"

/// Recorded runs of the reference tool on Ascend dumps: `<case>/case.json`, `<case>/in`, and per
/// run
/// `<case>/expected/<run>`.
namespace opdrift::testing {

namespace fs = std::filesystem;

/// The folder of all cases; may be absent.
inline fs::path fixture_root() {
  const char* set = std::getenv("OPDRIFT_SHARED");
  const fs::path shared =
      set != nullptr ? fs::path(set) : fs::path(OPDRIFT_SOURCE_DIR) / ".." / "shared";
  return shared / "fixtures" / "ascend-dump";
}

/// One command on one case.
struct FixtureRun {
  std::string case_name;
  std::string run_name;
  fs::path folder;  ///< of the case
  std::vector<std::string> args;
  int exit_code = 0;
  int warnings = 0;
  int errors = 0;

  std::string id() const { return case_name + "/" + run_name; }
  fs::path expected() const { return folder / "expected" / run_name; }
};

/// How a failing test names the run.
inline void PrintTo(const FixtureRun& run, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << run.id();
}

inline std::string file_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// `arg` with the folders of input and output in place of {in} and {out}.
inline std::string filled(const std::string& arg, const fs::path& in, const fs::path& out) {
  return replace_all(replace_all(arg, "{in}", in.string()), "{out}", out.string());
}

/// All files below a folder: name to content. Time stamps of result names read TIME; the folder
/// `in` reads {in} inside texts.
inline std::map<std::string, std::string> folder_content(const fs::path& folder,
                                                         const fs::path& in) {
  static const std::regex kStamp("^(overflow_summary_)[0-9]{14}(\\.txt)$");
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_regular_file()) {
      continue;
    }
    const std::string name = fs::relative(entry->path(), folder).string();
    std::string text = file_text(entry->path());
    if (!in.empty() && (name.ends_with(".txt") || name.ends_with(".csv"))) {
      text = replace_all(replace_all(text, fs::weakly_canonical(in).string(), "{in}"), in.string(),
                         "{in}");
    }
    files[std::regex_replace(name, kStamp, "$1TIME$2")] = std::move(text);
  }
  return files;
}

/// All runs of all cases, by name; none when the folder is absent.
inline std::vector<FixtureRun> load_runs() {
  std::vector<FixtureRun> runs;
  std::error_code error;
  for (fs::directory_iterator entry(fixture_root(), error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path description = entry->path() / "case.json";
    if (!fs::exists(description)) {
      continue;
    }
    const nlohmann::json json = nlohmann::json::parse(file_text(description));
    for (const auto& run : json["runs"]) {
      FixtureRun one;
      one.case_name = entry->path().filename().string();
      one.run_name = run["name"];
      one.folder = entry->path();
      one.args = run["args"].get<std::vector<std::string>>();
      one.exit_code = run["exit_code"];
      one.warnings = run.contains("log") ? run["log"]["warnings"].get<int>() : 0;
      one.errors = run.contains("log") ? run["log"]["errors"].get<int>() : 0;
      runs.push_back(std::move(one));
    }
  }
  std::sort(runs.begin(), runs.end(),
            [](const FixtureRun& a, const FixtureRun& b) { return a.id() < b.id(); });
  return runs;
}

/// A folder of its own, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "opdrift-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace opdrift::testing
