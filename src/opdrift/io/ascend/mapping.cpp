#include "opdrift/io/ascend/mapping.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"

namespace opdrift::io {

namespace {

constexpr std::uint64_t kMaxMappingBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMaxNameLength = 255;
constexpr mode_t kMappingMode = 0600;

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  return "\"" + replace_all(text, "\"", "\"\"") + "\"";
}

std::string in_folder(const std::string& folder, std::string_view name) {
  return (folder.empty() ? std::string(".") : folder) + "/" + std::string(name);
}

}  // namespace

std::string_view NameMapping::lookup(std::string_view name_on_disk) const {
  const auto found = real.find(name_on_disk);
  return found == real.end() ? std::string_view() : found->second;
}

std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  bool row_begun = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escaped = quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"';
    i += escaped ? 1 : 0;
    const bool is_quote = c == '"' && !escaped && (quoted || row.back().empty());
    if (is_quote) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      row.emplace_back();
    } else if (c == '\n' && !quoted) {
      if (row_begun) {
        rows.push_back(std::move(row));
      }
      row.assign(1, {});
      row_begun = false;
      continue;
    } else if (c != '\r' || quoted) {
      row.back() += c;
    }
    row_begun = row_begun || c != '\r';
  }
  if (row_begun) {
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<NameMapping> read_name_mapping(const std::string& folder) {
  NameMapping mapping;
  const std::string path = in_folder(folder, kMappingFileName);
  const Result<Bytes> file = map_file(path);
  if (!file) {
    return file.error().code == ErrorCode::not_found ? Result<NameMapping>(mapping) : file.error();
  }
  if (file->size() > kMaxMappingBytes) {
    return Error{ErrorCode::limit, "expected at most 1 GiB", path};
  }
  mapping.present = true;
  std::size_t number = 0;
  for (std::vector<std::string>& row : parse_csv(as_text(file->span))) {
    ++number;
    if (row.size() != 2) {
      mapping.warnings.push_back(path + ": row " + std::to_string(number) +
                                 ": expected two columns, found " + std::to_string(row.size()));
      continue;
    }
    mapping.real.insert_or_assign(std::move(row[0]), std::move(row[1]));
  }
  return mapping;
}

Status append_name_mapping(const std::string& folder, std::string_view name_on_disk,
                           std::string_view real_name) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string path = in_folder(folder, kMappingFileName);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMappingMode);
  if (fd < 0) {
    return system_error(errno, "open", path);
  }
  const std::string row = csv_field(name_on_disk) + "," + csv_field(real_name) + "\n";
  // One write per row, so that rows of several processes do not mix.
  const ssize_t written = ::write(fd, row.data(), row.size());
  const int error_number = written < 0 ? errno : ENOSPC;
  const bool closed = ::close(fd) == 0;
  if (written != static_cast<ssize_t>(row.size()) || !closed) {
    Error error = system_error(error_number, "write", path);
    error.code = ErrorCode::write_failed;
    return error;
  }
  return Unit{};
}

bool is_too_long(std::string_view name) {
  const auto characters = std::count_if(name.begin(), name.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return static_cast<std::size_t>(characters) >= kMaxNameLength || name.size() > kMaxNameLength;
}

std::string short_name(std::string_view name, std::string_view suffix) {
  std::array<unsigned char, 16> id{};
  uuid_generate_md5(id.data(), *uuid_get_template("dns"), name.data(), name.size());
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : id) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text + std::string(suffix);
}

}  // namespace opdrift::io
