#include "opdrift/shell/commands/tensors.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/folder_walk.hpp"
#include "opdrift/shell/workspace/decode.hpp"
#include "opdrift/shell/workspace/dump_files.hpp"

namespace opdrift::shell {

namespace {

bool is_array(std::string_view name) {
  return name.ends_with(".npy");
}

/// Arrays below `folder` that `wanted` takes by their name.
template <typename Wanted>
void add_below(const std::string& folder, const Wanted& wanted, std::vector<std::string>& found) {
  const auto walk = pipeline::walk_folder(folder);
  if (!walk.has_value()) {
    return;
  }
  for (const pipeline::WalkedFile& file : walk->files) {
    if (is_array(file.name) && wanted(file.name)) {
      found.push_back(file.path);
    }
  }
}

/// The arrays of a file the user named.
Result<std::vector<std::string>> arrays_of_file(Session& session, const std::string& path) {
  if (is_array(path)) {
    return std::vector<std::string>{path};
  }
  const DecodeRequest request{path, std::string(io::base_name(path)),
                              session.workspace.path("temp/decode/dump_convert"), std::nullopt};
  OPDRIFT_TRY(const std::vector<DecodedTensor> tensors, decode_dump(session, request));
  std::vector<std::string> paths;
  for (const DecodedTensor& tensor : tensors) {
    paths.push_back(tensor.path);
  }
  if (paths.empty()) {
    return Error{ErrorCode::not_found, "expected a tensor in the dump, found none", path};
  }
  return paths;
}

Error no_array(const std::string& name) {
  return Error{ErrorCode::not_found,
               "no array is called '" + printable(name) +
                   "'; give a path, or decode its operator first ('ni' and 'dc' do)"};
}

bool up_to_date(const std::string& text, const std::string& array) {
  struct stat made {};
  struct stat source {};
  return ::stat(text.c_str(), &made) == 0 && ::stat(array.c_str(), &source) == 0 &&
         made.st_mtime >= source.st_mtime;
}

}  // namespace

Result<std::vector<std::string>> find_arrays(Session& session, const std::string& name) {
  if (is_file(name)) {
    return arrays_of_file(session, name);
  }
  std::vector<std::string> found;
  const std::string flat = replace_all(name, "/", "_");
  const auto begins = [&](const std::string& file) {
    return file.starts_with(name) || file.starts_with(flat);
  };
  add_below(session.workspace.path("temp/decode"), begins, found);
  add_below(session.workspace.golden(), begins, found);
  return found.empty() ? Result<std::vector<std::string>>(no_array(name)) : found;
}

Result<std::string> find_array(Session& session, const std::string& name) {
  if (!is_file(name)) {
    std::vector<std::string> exact;
    const auto same = [&name](const std::string& file) { return file == name; };
    add_below(session.workspace.path("temp"), same, exact);
    add_below(session.workspace.golden(), same, exact);
    if (!exact.empty()) {
      return exact.front();
    }
  }
  OPDRIFT_TRY(const std::vector<std::string> found, find_arrays(session, name));
  if (found.size() > 1) {
    return Error{ErrorCode::ambiguous, "'" + printable(name) + "' stands for " +
                                           std::to_string(found.size()) + " arrays: " + found[0] +
                                           ", " + found[1] + (found.size() > 2 ? ", ..." : "")};
  }
  return found.front();
}

Result<std::string> save_values(Session& session, const ArrayFile& array) {
  const std::string path = text_file_of(array.path(), session.workspace.path("temp"));
  if (!up_to_date(path, array.path())) {
    const std::string folder(io::folder_of(path));
    OPDRIFT_CHECK_OK(make_folder(folder.empty() ? "." : folder));
    OPDRIFT_CHECK_OK(write_values(array, path, session.cancel));
  }
  return path;
}

}  // namespace opdrift::shell
