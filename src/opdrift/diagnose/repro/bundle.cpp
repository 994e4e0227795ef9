#include "opdrift/diagnose/repro/bundle.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/archive/zip_archive.hpp"
#include "opdrift/io/archive/zip_writer.hpp"
#include "opdrift/io/file_writer.hpp"

namespace opdrift::diagnose {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 10'000;
constexpr std::uint64_t kMaxBytes = std::uint64_t{8} << 30;
constexpr std::size_t kMaxNameBytes = 255;
constexpr std::array<std::string_view, 2> kFolders = {"golden/", "target/"};

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(), [](char c) {
           return c == '/' || c == '\\' || (c >= 0 && c < ' ') || c == '\x7f';
         });
}

bool is_bundle_folder(std::string_view name) {
  return std::find(kFolders.begin(), kFolders.end(), name) != kFolders.end();
}

Error refused(const std::string& path, const std::string& what) {
  return Error{ErrorCode::malformed, "not a repro bundle: " + what, path};
}

Status check_sizes(std::size_t files, std::uint64_t bytes, const std::string& path) {
  if (files > kMaxFiles || bytes > kMaxBytes) {
    return Error{ErrorCode::limit,
                 "a repro bundle of at most " + std::to_string(kMaxFiles) + " files and " +
                     human_bytes(kMaxBytes) + " was expected, found " + std::to_string(files) +
                     " files and " + human_bytes(bytes),
                 path};
  }
  return Unit{};
}

/// What has to be there, whatever else is.
template <typename Contains>
Status check_parts(const std::string& path, Contains contains) {
  for (const char* needed : {kBundleDescription, kBundleModel}) {
    if (!contains(needed)) {
      return refused(path, "it has no " + std::string(needed));
    }
  }
  return Unit{};
}

Status check_members(const io::ZipArchive& archive, const std::string& path) {
  std::set<std::string> names;
  std::uint64_t bytes = 0;
  for (const io::ZipMember& member : archive.members()) {
    if (is_bundle_folder(member.name)) {
      continue;
    }
    if (!is_bundle_name(member.name)) {
      return refused(path, "unexpected member '" + printable(member.name) + "'");
    }
    if (!names.insert(member.name).second) {
      return refused(path, "member '" + member.name + "' is there twice");
    }
    bytes += std::min(member.bytes, kMaxBytes + 1);
    OPDRIFT_CHECK_OK(check_sizes(names.size(), bytes, path));
  }
  return check_parts(path, [&](const char* name) { return names.contains(name); });
}

Status unpack(const io::ZipArchive& archive, const std::string& folder) {
  for (const std::string_view name : kFolders) {
    std::error_code problem;
    fs::create_directory(fs::path(folder) / name, problem);
    if (problem) {
      return system_error(problem.value(), "cannot make a folder", folder);
    }
  }
  for (std::size_t i = 0; i < archive.members().size(); ++i) {
    const std::string& name = archive.members()[i].name;
    if (is_bundle_folder(name)) {
      continue;
    }
    OPDRIFT_TRY(const Bytes bytes, archive.load(i));
    OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(folder + "/" + name));
    OPDRIFT_CHECK_OK(file.write(bytes.span));
    OPDRIFT_CHECK_OK(file.commit());
  }
  return Unit{};
}

/// Names of the files below a folder, relative to it. Links are not followed.
Result<std::set<std::string>> files_below(const std::string& folder) {
  std::set<std::string> names;
  std::uint64_t bytes = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator it(folder, problem), end; !problem && it != end;
       it.increment(problem)) {
    const std::string name = it->path().string().substr(folder.size() + 1);
    const fs::file_status status = it->symlink_status(problem);
    if (problem) {
      break;
    }
    if (fs::is_directory(status)) {
      if (!is_bundle_folder(name + "/")) {
        return refused(folder, "unexpected folder '" + printable(name) + "'");
      }
      continue;
    }
    if (!fs::is_regular_file(status) || !is_bundle_name(name)) {
      return refused(folder, "unexpected file '" + printable(name) + "'");
    }
    names.insert(name);
    const std::uint64_t size = it->file_size(problem);
    bytes += problem ? 0 : size;
    OPDRIFT_CHECK_OK(check_sizes(names.size(), bytes, folder));
  }
  if (problem) {
    return system_error(problem.value(), "cannot look into the folder", folder);
  }
  return names;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

}  // namespace

bool is_bundle_name(std::string_view name) {
  for (const std::string_view known :
       {std::string_view(kBundleDescription), std::string_view(kBundleReadme),
        std::string_view(kBundleModel)}) {
    if (name == known) {
      return true;
    }
  }
  return std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) {
    return name.starts_with(folder) && is_plain_name(name.substr(folder.size()));
  });
}

Result<OpenBundle> OpenBundle::open(const std::string& path) {
  OpenBundle bundle;
  std::error_code problem;
  if (fs::is_directory(path, problem)) {
    bundle.folder_ = without_slash(path);
    OPDRIFT_CHECK_OK(check_parts(
        path, [&](const char* name) { return fs::exists(fs::path(path) / name, problem); }));
    OPDRIFT_CHECK_OK(files_below(bundle.folder_));
    return bundle;
  }
  OPDRIFT_TRY(const Bytes file, map_file(path));
  if (!io::is_zip(file.span)) {
    return Error{ErrorCode::wrong_kind, "expected a folder or a zip of 'opdrift repro'", path};
  }
  auto archive = io::ZipArchive::open(file, {.max_bytes = kMaxBytes});
  if (!archive) {
    archive.error().path = path;
    return archive.error();
  }
  OPDRIFT_CHECK_OK(check_members(**archive, path));
  OPDRIFT_TRY(bundle.unpacked_, TemporaryFolder::create());
  bundle.folder_ = bundle.unpacked_->path() + "/bundle";
  fs::create_directory(bundle.folder_, problem);
  if (problem) {
    return system_error(problem.value(), "cannot make a folder", bundle.folder_);
  }
  if (Status unpacked = unpack(**archive, bundle.folder_); !unpacked) {
    unpacked.error().path = path;
    return unpacked.error();
  }
  return bundle;
}

Status pack_bundle(const std::string& folder, const std::string& zip_path) {
  OPDRIFT_TRY(const std::set<std::string> names, files_below(folder));
  OPDRIFT_TRY(io::ZipWriter zip, io::ZipWriter::create(zip_path, io::ZipStyle::numpy));
  for (const std::string& name : names) {
    OPDRIFT_TRY(const Bytes bytes, map_file(folder + "/" + name));
    OPDRIFT_CHECK_OK(zip.begin(name, bytes.size()));
    OPDRIFT_CHECK_OK(zip.write(bytes.span));
    OPDRIFT_CHECK_OK(zip.end());
  }
  return zip.finish();
}

}  // namespace opdrift::diagnose
