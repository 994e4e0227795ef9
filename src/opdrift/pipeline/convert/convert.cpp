#include "opdrift/pipeline/convert/convert.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/io/ascend/atb.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/convert/names.hpp"
#include "opdrift/pipeline/convert/tensor_output.hpp"

namespace opdrift::pipeline {

namespace {

constexpr mode_t kListMode = 0600;

std::string failed_line(const FileConversion& conversion, bool with_tensors) {
  std::string line = conversion.path;
  if (with_tensors) {
    for (const TensorFailure& failure : conversion.failures) {
      line += "," + std::string(io::to_string(failure.role)) + ":" + std::to_string(failure.index);
    }
  }
  return line + "\n";
}

Status append_text(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kListMode);
  if (fd < 0) {
    return system_error(errno, "open", path);
  }
  const ssize_t written = ::write(fd, text.data(), text.size());
  const bool closed = ::close(fd) == 0;
  if (written != static_cast<ssize_t>(text.size()) || !closed) {
    return Error{ErrorCode::write_failed,
                 "expected to write " + std::to_string(text.size()) + " bytes, wrote fewer", path};
  }
  return Unit{};
}

std::string without_extension(std::string_view name) {
  return std::string(name.substr(0, name.rfind('.')));
}

}  // namespace

std::optional<ConvertType> convert_type_by_name(std::string_view name) {
  if (name == "npy") {
    return ConvertType::npy;
  }
  if (name == "bin") {
    return ConvertType::bin;
  }
  if (name == "msnpy") {
    return ConvertType::msnpy;
  }
  return name == "pt" ? std::optional(ConvertType::pt) : std::nullopt;
}

std::vector<FileConversion> convert_files(const std::vector<std::string>& paths,
                                          const ConvertOptions& options) {
  std::vector<FileConversion> conversions(paths.size());
  std::size_t done = 0;
  std::mutex mutex;
  parallel_for(
      paths.size(), options.jobs,
      [&](std::size_t i) {
        conversions[i] = convert_file(paths[i], options);
        const std::lock_guard<std::mutex> lock(mutex);
        ++done;
        if (options.progress) {
          options.progress(done, paths.size());
        }
      },
      options.cancel);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (conversions[i].path.empty()) {
      conversions[i].path = paths[i];
      conversions[i].error = Error{ErrorCode::cancelled, "interrupted", paths[i]};
    }
  }
  return conversions;
}

Result<std::vector<std::string>> files_to_convert(const std::string& folder) {
  OPDRIFT_TRY(const std::vector<std::string> names, io::list_files(folder));
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (name != io::kMappingFileName) {
      paths.push_back(prefix);
      paths.back() += name;
    }
  }
  return paths;
}

Status append_failed_list(const std::string& folder, const std::vector<FileConversion>& conversions,
                          bool with_tensors) {
  std::string text;
  for (const FileConversion& conversion : conversions) {
    text += conversion.error ? failed_line(conversion, with_tensors) : "";
  }
  return text.empty() ? Status(Unit{})
                      : append_text(folder + "/" + std::string(kFailedListName), text);
}

Result<std::vector<std::string>> save_space_logs(const std::string& path,
                                                 const std::string& output_folder) {
  OPDRIFT_TRY(const io::FileDump dump, open_for_convert(path, true));
  const std::vector<const io::FileTensor*> spaces = dump.of(io::TensorRole::space);
  if (spaces.empty()) {
    return Error{ErrorCode::not_found, "expected a space block, found none", path};
  }
  std::vector<std::string> names;
  for (const io::FileTensor* space : spaces) {
    OPDRIFT_TRY(const tensor::Tensor loaded, io::load_tensor(*space));
    std::string text(as_text(loaded.bytes.span));
    text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());
    names.push_back(std::string(io::base_name(path)) + "." + std::to_string(space->index) + ".log");
    OPDRIFT_CHECK_OK(write_bytes(output_folder + "/" + names.back(), as_bytes(text)));
  }
  return names;
}

Result<AtbConversion> convert_atb(const std::string& path, const std::string& output_folder,
                                  ConvertType type) {
  const Result<io::FileDump> dump = io::open_ascend_atb(path);
  AtbConversion conversion;
  if (!dump && dump.error().code == ErrorCode::unsupported) {
    conversion.reason = dump.error().to_string();
    return conversion;
  }
  if (!dump) {
    return dump.error();
  }
  OPDRIFT_TRY(const tensor::Tensor loaded, io::load_tensor(dump->tensors.front()));
  OPDRIFT_TRY(tensor::View view, tensor::stored_view(loaded));
  const OutputFile kind = file_kind(type);
  std::string name = without_extension(io::base_name(path)) + std::string(extension_of(kind));
  OPDRIFT_CHECK_OK(write_array(output_folder + "/" + name, kind, output_array(std::move(view))));
  conversion.written = std::move(name);
  return conversion;
}

}  // namespace opdrift::pipeline
