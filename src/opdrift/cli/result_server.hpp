#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/base/result.hpp"

/// What `opdrift serve` answers, without any network:
///
///   GET /                    the results below the folder
///   GET /report/<path>       a result as a page; <path> is percent-encoded, below the folder
///   GET /trends?r=<path>&... several results beside each other, two for before and after
///   GET /json/<path>         the result as it is
///
/// Only requests that name this machine as their host are answered (403 else), so that a web page
/// elsewhere cannot read results by pointing its own name here. Paths that lead out of the folder,
/// through `..` or a symbolic link, and files that do not end in .json are not found (404).
namespace opdrift::cli {

struct HttpRequest {
  std::string_view method;
  std::string_view target;  ///< path and query, as sent
  std::string_view host;    ///< the Host header
};

struct HttpReply {
  unsigned status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body;
};

class ResultServer {
 public:
  /// Fails when `folder` is no folder.
  static Result<ResultServer> open(const std::string& folder);

  /// Any thread.
  HttpReply answer(const HttpRequest& request) const;

 private:
  explicit ResultServer(std::filesystem::path root) : root_(std::move(root)) {}

  /// The file that a decoded path below the folder means.
  Result<std::string> file_of(std::string_view path) const;
  HttpReply list() const;
  HttpReply report(std::string_view path) const;
  HttpReply trends(std::string_view query) const;
  HttpReply json(std::string_view path) const;

  std::filesystem::path root_;  ///< canonical
};

/// "a%20b" as "a b"; nothing for a broken escape or a zero byte.
std::optional<std::string> percent_decoded(std::string_view text);

/// True for localhost, 127.0.0.1 and [::1], with any port.
bool is_this_machine(std::string_view host);

}  // namespace opdrift::cli
