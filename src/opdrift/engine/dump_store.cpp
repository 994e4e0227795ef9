#include "opdrift/engine/dump_store.hpp"

#include <unistd.h>

#include <filesystem>
#include <limits>
#include <system_error>

#include <nlohmann/json.hpp>

#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"

namespace opdrift::engine {

namespace {

namespace fs = std::filesystem;

/// Files that a dump of opdrift's may have left.
bool belongs_to_dump(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".npy") || name.ends_with(".npy.json") || name == "mapping.csv" ||
         name == "manifest.json";
}

Status remove_older_dump(const std::string& folder, bool overwrite) {
  std::error_code failed;
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (belongs_to_dump(it->path())) {
      found.push_back(it->path());
    }
  }
  if (failed) {
    return system_error(failed.value(), "cannot look into the folder", folder);
  }
  if (found.empty()) {
    return Unit{};
  }
  const bool ours = fs::exists(fs::path(folder) / "manifest.json", failed);
  if (!overwrite || !ours) {
    return Error{ErrorCode::invalid_argument,
                 ours ? "expected a new or empty folder, found another dump in it (--overwrite "
                        "replaces it)"
                      : "expected a new or empty folder, found files of some other dump in it",
                 folder};
  }
  for (const fs::path& file : found) {
    if (!fs::remove(file, failed) && failed) {
      return system_error(failed.value(), "cannot remove a file of the older dump", file.string());
    }
  }
  return Unit{};
}

/// A sidecar says what npy cannot.
Status write_sidecar(const std::string& path, const DumpedValue& value) {
  if (!tensor::info(value.dtype).npy_descr.empty()) {
    return Unit{};
  }
  const nlohmann::ordered_json json{{"dtype", tensor::name_of(value.dtype)},
                                    {"shape", value.shape}};
  return io::write_file(path + ".json", json.dump() + "\n");
}

}  // namespace

Result<DumpStore> DumpStore::open(const std::string& folder, bool overwrite,
                                  std::uint64_t time_us) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    return system_error(failed.value(), "cannot make the folder", folder);
  }
  OPDRIFT_CHECK_OK(remove_older_dump(folder, overwrite));
  return DumpStore(folder, time_us);
}

Result<DumpedValue> DumpStore::write(const std::string& stem, std::size_t index,
                                     const std::string& tensor, const RunValue& value,
                                     Precision precision) {
  DumpedValue out;
  out.tensor = tensor;
  if (!value.tensor) {
    out.skipped = value.reason;
    return out;
  }
  out.dtype = value.tensor->desc.dtype;
  out.shape = value.tensor->desc.shape;
  Bytes bytes = value.tensor->bytes;
  if (out.dtype == tensor::DType::f32) {
    if (std::optional<Bytes> narrow = narrow_exactly(precision, bytes.span)) {
      bytes = std::move(*narrow);
      out.dtype = dtype_of(precision);
    }
  }
  const io::NpyWriteOptions options{
      .fortran_order = false, .raw_extension_types = true, .file = {}};
  if (const auto descr = io::npy_descr(out.dtype, true); !descr) {
    out.skipped = descr.error().message;
    return out;
  }
  out.file = names_.file_for(stem, index);
  const std::string path = folder_ + "/" + out.file;
  OPDRIFT_TRY(io::NpyWriter writer, io::NpyWriter::create(path, out.dtype, out.shape, options));
  OPDRIFT_CHECK_OK(writer.write(bytes.span));
  OPDRIFT_CHECK_OK(writer.finish());
  OPDRIFT_CHECK_OK(write_sidecar(path, out));
  ++files_;
  bytes_ += bytes.size();
  return out;
}

Status DumpStore::finish() const {
  const std::string mapping = names_.mapping_csv();
  return mapping.empty() ? Status(Unit{}) : io::write_file(folder_ + "/mapping.csv", mapping);
}

Result<WorkFolder> WorkFolder::create(const std::string& parent) {
  std::string path = parent + "/.opdrift-work-" + std::to_string(getpid());
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) {
    return system_error(failed.value(), "cannot make the folder", path);
  }
  return WorkFolder(std::move(path));
}

WorkFolder::~WorkFolder() {
  if (!path_.empty()) {
    std::error_code failed;
    fs::remove_all(path_, failed);
  }
}

std::uint64_t free_space(const std::string& folder) {
  std::error_code failed;
  const fs::space_info space = fs::space(folder, failed);
  return failed ? std::numeric_limits<std::uint64_t>::max() : space.available;
}

}  // namespace opdrift::engine
