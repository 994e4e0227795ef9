#include "opdrift/cli/result_server.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/natural_order.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/cli/result_output.hpp"
#include "opdrift/cli/version.hpp"
#include "opdrift/report/html_page.hpp"
#include "opdrift/report/json_result.hpp"
#include "opdrift/report/report.hpp"
#include "opdrift/report/trends_report.hpp"

namespace opdrift::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostResults = 2'000;
constexpr std::size_t kMostEntries = 200'000;
constexpr std::size_t kMostTrends = 500;
constexpr std::size_t kHeadBytes = 4096;
constexpr std::string_view kSchema = "opdrift-result/1";

HttpReply plain(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text) + "\n"};
}

HttpReply trouble(const Error& error) {
  return plain(error.code == ErrorCode::not_found ? 404 : 500, error.to_string());
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Whether a file begins like a result; other JSON is passed over without being parsed.
bool looks_like_result(ByteSpan bytes) {
  const std::string_view head = as_text(bytes).substr(0, kHeadBytes);
  return head.find(kSchema) != std::string_view::npos;
}

std::int64_t modified_of(const fs::path& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::int64_t>(status.st_mtime) : 0;
}

std::string_view outcome_of(const verdict::RunResult& head, std::uint64_t failed) {
  if (head.verdict) {
    return verdict::to_string(head.verdict->outcome);
  }
  return failed > 0 ? "fail" : "pass";
}

/// A line of the list; null for JSON that is no result.
Json line_of(const fs::path& file, const std::string& shown) {
  const auto bytes = map_file(file.string());
  if (!bytes || !looks_like_result(bytes->span)) {
    return nullptr;
  }
  Json line = {{"path", shown}, {"modified", modified_of(file)}};
  const auto summary = report::parse_json_summary(as_text(bytes->span), shown);
  if (!summary) {
    line.update({{"outcome", "unreadable"},
                 {"sentence", summary.error().to_string()},
                 {"target", ""},
                 {"golden", ""},
                 {"tensors", 0},
                 {"failed", 0}});
    return line;
  }
  const verdict::RunResult& head = summary->head;
  line.update({{"outcome", outcome_of(head, summary->failed)},
               {"sentence", head.verdict ? head.verdict->sentence : summary->first_offender},
               {"target", head.target_path},
               {"golden", head.golden_path},
               {"tensors", summary->tensors},
               {"failed", summary->failed}});
  return line;
}

/// JSON files below `root`, in natural order. Symbolic links are not followed: they may lead out.
std::vector<std::string> json_files(const fs::path& root) {
  std::vector<std::string> files;
  std::error_code problem;
  const auto options = fs::directory_options::skip_permission_denied;
  std::size_t seen = 0;
  for (fs::recursive_directory_iterator entry(root, options, problem), end;
       !problem && entry != end && seen < kMostEntries; entry.increment(problem), ++seen) {
    std::error_code ignored;
    if (entry->path().extension() == ".json" &&
        fs::is_regular_file(entry->symlink_status(ignored))) {
      files.push_back(entry->path().lexically_relative(root).string());
    }
  }
  std::sort(files.begin(), files.end(), natural_less);
  return files;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
    if (high < 0 || low < 0 || high + low == 0) {
      return std::nullopt;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

bool is_this_machine(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && is_digits(host.substr(colon + 1));
  const std::string name = to_lower(has_port ? host.substr(0, colon) : host);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

Result<ResultServer> ResultServer::open(const std::string& folder) {
  std::error_code problem;
  fs::path root = fs::canonical(folder, problem);
  if (problem || !fs::is_directory(root, problem)) {
    return Error{ErrorCode::not_found, "expected a folder with results", folder};
  }
  return ResultServer(std::move(root));
}

Result<std::string> ResultServer::file_of(std::string_view path) const {
  const auto decoded = percent_decoded(path);
  const Error missing{ErrorCode::not_found, "no such result"};
  if (!decoded || fs::path(*decoded).is_absolute()) {
    return missing;
  }
  // What the system makes of links and dots is what counts.
  std::error_code problem;
  const fs::path file = fs::canonical(root_ / *decoded, problem);
  if (problem || file.extension() != ".json" || !fs::is_regular_file(file, problem)) {
    return missing;
  }
  const auto [end, ignored] = std::mismatch(root_.begin(), root_.end(), file.begin(), file.end());
  if (end != root_.end()) {
    return missing;
  }
  return file.string();
}

HttpReply ResultServer::list() const {
  Json results = Json::array();
  std::size_t left_out = 0;
  for (const std::string& path : json_files(root_)) {
    if (results.size() == kMostResults) {
      ++left_out;
      continue;
    }
    Json line = line_of(root_ / path, path);
    if (!line.is_null()) {
      results.push_back(std::move(line));
    }
  }
  const Json page = {{"kind", "list"},
                     {"version", kVersion},
                     {"folder", root_.string()},
                     {"left_out", left_out},
                     {"results", std::move(results)}};
  std::string json = page.dump(-1, ' ', false, Json::error_handler_t::replace);
  return {.body = report::html_page({std::move(json)}, "results below " + root_.string())};
}

HttpReply ResultServer::report(std::string_view path) const {
  const auto file = file_of(path);
  const auto result = file ? read_result(*file) : Result<verdict::RunResult>(file.error());
  return result ? HttpReply{.body = report::render_html(*result)} : trouble(result.error());
}

HttpReply ResultServer::trends(std::string_view query) const {
  verdict::TrendBuilder builder;
  std::size_t runs = 0;
  for (const std::string_view pair : split(query, '&')) {
    if (pair.substr(0, 2) != "r=" || runs == kMostTrends) {
      continue;
    }
    const auto file = file_of(pair.substr(2));
    const auto result = file ? read_result(*file) : Result<verdict::RunResult>(file.error());
    if (!result) {
      return trouble(result.error());
    }
    builder.add(percent_decoded(pair.substr(2)).value_or(""), *result);
    ++runs;
  }
  if (runs == 0) {
    return plain(400, "expected /trends?r=RESULT&r=RESULT");
  }
  return {.body = report::render_trends_html(builder.finish())};
}

HttpReply ResultServer::json(std::string_view path) const {
  const auto file = file_of(path);
  if (!file) {
    return trouble(file.error());
  }
  const auto bytes = map_file(*file);
  if (!bytes) {
    return trouble(bytes.error());
  }
  return {200, "application/json", std::string(as_text(bytes->span))};
}

HttpReply ResultServer::answer(const HttpRequest& request) const {
  if (!is_this_machine(request.host)) {
    return plain(403, "this server answers requests to localhost only");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return plain(405, "only GET is answered");
  }
  const std::size_t mark = request.target.find('?');
  const std::string_view path = request.target.substr(0, mark);
  const std::string_view query =
      mark == std::string_view::npos ? std::string_view() : request.target.substr(mark + 1);
  constexpr std::string_view kReport = "/report/";
  constexpr std::string_view kJson = "/json/";
  if (path == "/") {
    return list();
  }
  if (path.substr(0, kReport.size()) == kReport) {
    return report(path.substr(kReport.size()));
  }
  if (path.substr(0, kJson.size()) == kJson) {
    return json(path.substr(kJson.size()));
  }
  return path == "/trends" ? trends(query) : plain(404, "no such page");
}

}  // namespace opdrift::cli
