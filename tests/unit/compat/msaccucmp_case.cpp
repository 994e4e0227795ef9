#include "msaccucmp_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/mapping.hpp"

namespace opdrift::compat {

namespace fs = std::filesystem;

namespace {

constexpr const char* kReason = "CompareFailReason";

int position_of(const std::vector<std::string>& header, const std::string& name) {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? -1 : static_cast<int>(found - header.begin());
}

std::string cell_of(const std::vector<std::string>& row, int column) {
  return column < 0 || static_cast<std::size_t>(column) >= row.size()
             ? std::string()
             : row[static_cast<std::size_t>(column)];
}

/// Cells between separators that may hold numbers: commas, blanks, tabs, colons and brackets.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  std::string token;
  for (const char c : text) {
    if (std::string_view(", \t\n:;()").find(c) == std::string_view::npos) {
      token += c;
      continue;
    }
    tokens.push_back(token);
    tokens.emplace_back(1, c);
    token.clear();
  }
  tokens.push_back(token);
  return tokens;
}

bool near(const std::string& expected, const std::string& actual, const Tolerance& tolerance) {
  if (expected == actual) {
    return true;
  }
  const std::optional<double> wanted = parse_double(expected);
  const std::optional<double> found = parse_double(actual);
  return wanted && found &&
         std::abs(*wanted - *found) <= tolerance.abs + tolerance.rel * std::abs(*wanted);
}

}  // namespace

fs::path shared_folder() {
  const char* set = std::getenv("OPDRIFT_SHARED");
  return set != nullptr ? fs::path(set) : fs::path(OPDRIFT_SOURCE_DIR) / ".." / "shared";
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

WorkingCopy::WorkingCopy(const fs::path& source) : before_(fs::current_path()) {
  std::string pattern = (fs::temp_directory_path() / "opdrift-case-XXXXXX").string();
  path_ = fs::canonical(::mkdtemp(pattern.data()));
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    const fs::path relative = fs::relative(entry.path(), source);
    if (*relative.begin() == "expected") {
      continue;
    }
    if (entry.is_directory()) {
      fs::create_directories(path_ / relative);
    } else {
      fs::copy_file(entry.path(), path_ / relative);
    }
  }
  fs::current_path(path_);
  first_files_ = files();
}

WorkingCopy::~WorkingCopy() {
  std::error_code ignored;
  fs::current_path(before_, ignored);
  fs::remove_all(path_, ignored);
}

std::vector<std::string> WorkingCopy::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    if (entry.is_regular_file()) {
      names.push_back(fs::relative(entry.path(), path_).string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::map<std::string, fs::path> WorkingCopy::new_files() const {
  static const std::regex kStamp("_[0-9]{14}(\\.|_filtered)");
  std::map<std::string, fs::path> found;
  for (const std::string& name : files()) {
    if (!std::binary_search(first_files_.begin(), first_files_.end(), name)) {
      found[std::regex_replace(name, kStamp, "_TIMESTAMP$1")] = path_ / name;
    }
  }
  return found;
}

FileComparer::FileComparer(const nlohmann::json& description, std::vector<Deviation> deviations,
                           std::string root)
    : description_(description), deviations_(std::move(deviations)), root_(std::move(root)) {}

std::string FileComparer::expected_text(const fs::path& file) const {
  return replace_all(read_file(file), "{ROOT}", root_);
}

std::vector<std::string> FileComparer::compare(const std::string& name, const fs::path& expected,
                                               const fs::path& actual) const {
  const std::string found = read_file(actual);
  if (const Deviation* whole = deviation(name, "")) {
    return compare_plain(name, whole->value, found);
  }
  std::string wanted = expected_text(expected);
  if (const Deviation* first = deviation(name, "first row")) {
    const std::size_t start = wanted.find('\n') + 1;
    wanted.replace(start, wanted.find('\n', start) - start, first->value);
  }
  if (name.ends_with(".npy")) {
    return wanted == found ? std::vector<std::string>{}
                           : std::vector<std::string>{name + ": other bytes"};
  }
  const bool table = name.find("result_TIMESTAMP.csv") != std::string::npos ||
                     name.find("mapping_TIMESTAMP.csv") != std::string::npos;
  if (!table) {
    return compare_plain(name, wanted, found);
  }
  std::vector<std::string> problems = compare_table(io::parse_csv(wanted), io::parse_csv(found));
  if (std::count(found.begin(), found.end(), '\n') !=
      static_cast<std::ptrdiff_t>(std::count(found.begin(), found.end(), '\r'))) {
    problems.push_back(name + ": line ends are not CR LF");
  }
  return problems;
}

std::vector<std::string> FileComparer::compare_plain(const std::string& name,
                                                     const std::string& expected,
                                                     const std::string& actual) const {
  const std::vector<std::string> wanted = tokens_of(expected);
  const std::vector<std::string> found = tokens_of(actual);
  const Tolerance tolerance = tolerance_of("");
  for (std::size_t i = 0; i < std::max(wanted.size(), found.size()); ++i) {
    const std::string want = i < wanted.size() ? wanted[i] : "(end)";
    const std::string got = i < found.size() ? found[i] : "(end)";
    if (!near(want, got, tolerance)) {
      return {name + ": token " + std::to_string(i) + ": expected \"" + want + "\", found \"" +
              got + "\"\n--- found\n" + actual.substr(0, 2000)};
    }
  }
  return {};
}

std::vector<std::string> FileComparer::compare_table(const Rows& expected,
                                                     const Rows& actual) const {
  std::vector<std::string> problems;
  if (expected.empty() || actual.empty() || expected[0] != actual[0]) {
    problems.emplace_back("other header");
    return problems;
  }
  const std::vector<std::string>& header = expected[0];
  for (std::size_t i = 1; i < std::max(expected.size(), actual.size()); ++i) {
    if (i >= expected.size() || i >= actual.size()) {
      const Rows& longer = i < expected.size() ? expected : actual;
      std::string line;
      for (const std::string& cell : longer[i]) {
        line += cell + "|";
      }
      const std::string key = cell_of(longer[i], position_of(header, "NPUDump"));
      if (deviation(key, i < expected.size() ? "no row" : "new row") == nullptr) {
        problems.push_back((i < expected.size() ? "missing row: " : "surplus row: ") + line);
      }
      continue;
    }
    std::string difference = compare_row(header, expected[i], actual[i]);
    if (!difference.empty()) {
      problems.push_back("row " + std::to_string(i) + ": " + difference);
    }
  }
  return problems;
}

std::string FileComparer::compare_row(const std::vector<std::string>& header,
                                      const std::vector<std::string>& expected,
                                      const std::vector<std::string>& actual) const {
  std::string key = cell_of(expected, position_of(header, "TensorIndex"));
  if (key.empty() || key == "NaN") {
    key = cell_of(expected, position_of(header, "NPUDump"));
  }
  if (expected.size() != actual.size()) {
    return key + ": expected " + std::to_string(expected.size()) + " cells, found " +
           std::to_string(actual.size());
  }
  // A short row of the reference lacks the cell behind Shape, so names stop fitting there.
  std::string problems;
  const bool short_row = expected.size() + 1 == header.size();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string column = short_row && i + 1 == expected.size() ? kReason : header[i];
    if (const Deviation* changed = deviation(key, column)) {
      if (changed->value != "*" && changed->value != actual[i]) {
        problems += key + " " + column + ": expected the mended \"" + changed->value +
                    "\", found \"" + actual[i] + "\"; ";
      }
      continue;
    }
    const bool failed = cell_of(expected, position_of(header, "DataType")) == "NaN";
    if (column == kReason) {
      if (expected[i].empty() != actual[i].empty() && !(failed && expected[i].empty())) {
        problems +=
            key + " reason: expected \"" + expected[i] + "\", found \"" + actual[i] + "\"; ";
      }
      continue;
    }
    if (!same_cell(column, expected[i], actual[i]) && actual[i] != better_cell(key, column)) {
      problems +=
          key + " " + column + ": expected \"" + expected[i] + "\", found \"" + actual[i] + "\"; ";
    }
  }
  return problems;
}

std::string FileComparer::better_cell(const std::string& row, const std::string& column) const {
  if (!description_.contains("better_cells") || !description_["better_cells"].contains(row)) {
    return "(none)";
  }
  const auto& cells = description_["better_cells"][row];
  return cells.contains(column) ? cells[column].get<std::string>() : "(none)";
}

const Deviation* FileComparer::deviation(const std::string& row, const std::string& column) const {
  const auto found =
      std::find_if(deviations_.begin(), deviations_.end(),
                   [&](const Deviation& one) { return one.row == row && one.column == column; });
  return found == deviations_.end() ? nullptr : &*found;
}

Tolerance FileComparer::tolerance_of(const std::string& column) const {
  const auto& table = description_["tolerance"];
  const auto& row = table.contains(column) ? table[column] : table["default"];
  return {row["abs"].get<double>(), row["rel"].get<double>()};
}

bool FileComparer::same_cell(const std::string& column, const std::string& expected,
                             const std::string& actual) const {
  const Tolerance tolerance = tolerance_of(column);
  if (column != "StandardDeviation") {
    return near(expected, actual, tolerance);
  }
  const std::vector<std::string> wanted = tokens_of(expected);
  const std::vector<std::string> found = tokens_of(actual);
  if (wanted.size() != found.size()) {
    return false;
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!near(wanted[i], found[i], {0.001, tolerance.rel})) {
      return false;
    }
  }
  return true;
}

}  // namespace opdrift::compat
