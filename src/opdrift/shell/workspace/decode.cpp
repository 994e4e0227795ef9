#include "opdrift/shell/workspace/decode.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <tuple>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/convert/convert.hpp"
#include "opdrift/pipeline/stats/array_summary.hpp"
#include "opdrift/pipeline/tensor_naming.hpp"

namespace opdrift::shell {

namespace {

// Columns of a table of statistics.
constexpr std::size_t kKind = 0;
constexpr std::size_t kIndex = 1;
constexpr std::size_t kDtype = 3;
constexpr std::size_t kShape = 5;
constexpr std::size_t kMax = 6;
constexpr std::size_t kMin = 7;
constexpr std::size_t kMean = 8;

timespec time_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mtim : timespec{};
}

bool is_newer(const std::string& path, const std::string& than) {
  const timespec left = time_of(path);
  const timespec right = time_of(than);
  return std::tie(left.tv_sec, left.tv_nsec) > std::tie(right.tv_sec, right.tv_nsec);
}

void sort_by_place(std::vector<DecodedTensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const DecodedTensor& x, const DecodedTensor& y) {
    return std::tie(x.role, x.index, x.path) < std::tie(y.role, y.index, y.path);
  });
}

/// The array a file holds, by its name; nothing when it does not come from this dump.
std::optional<DecodedTensor> decoded_from(const std::string& folder, const std::string& file,
                                          std::string_view real_name) {
  const pipeline::FileNaming naming = pipeline::naming_of(real_name);
  if (!naming.role || !naming.index || !real_name.ends_with(".npy")) {
    return std::nullopt;
  }
  return DecodedTensor{folder + "/" + file, *naming.role, *naming.index};
}

/// Arrays that were decoded before and are still right.
std::vector<DecodedTensor> decoded_before(const DecodeRequest& request) {
  std::vector<DecodedTensor> found;
  const auto files = io::list_files(request.folder);
  if (!files.has_value()) {
    return found;
  }
  const std::string start = std::string(io::base_name(request.path)) + ".";
  for (const std::string& file : *files) {
    // Arrays in a format of their own carry the shape before the ending.
    const std::string_view rest =
        std::string_view(file).substr(std::min(start.size(), file.size()));
    if (file.starts_with(start) && std::count(rest.begin(), rest.end(), '.') == 2) {
      if (auto tensor = decoded_from(request.folder, file, file)) {
        found.push_back(std::move(*tensor));
      }
    }
  }
  const bool fresh = std::all_of(found.begin(), found.end(), [&](const DecodedTensor& tensor) {
    return is_newer(tensor.path, request.path);
  });
  return fresh ? found : std::vector<DecodedTensor>();
}

std::string statistics_text(std::string_view shape, std::string_view dtype, std::string_view max,
                            std::string_view min, std::string_view mean) {
  return "[Shape: " + std::string(shape) + "] [Dtype: " + std::string(dtype) +
         "] [Max: " + std::string(max) + "] [Min: " + std::string(min) +
         "] [Mean: " + std::string(mean) + "]";
}

}  // namespace

Result<std::vector<DecodedTensor>> decode_dump(Session& session, const DecodeRequest& request) {
  OPDRIFT_CHECK_OK(make_folder(request.folder));
  std::vector<DecodedTensor> tensors;
  if (!request.format) {
    tensors = decoded_before(request);
  }
  if (!tensors.empty()) {
    sort_by_place(tensors);
    return tensors;
  }
  pipeline::ConvertOptions options;
  options.output_folder = request.folder;
  options.format = request.format;
  options.jobs = 1;
  options.cancel = session.cancel;
  pipeline::FileConversion done = pipeline::convert_file(request.path, options, request.name);
  for (const pipeline::TensorFailure& failure : done.failures) {
    session.screen.warn(std::string(to_string(failure.role)) + " " + std::to_string(failure.index) +
                        ": " + failure.error.to_string());
  }
  if (done.error) {
    return *std::move(done.error);
  }
  OPDRIFT_TRY(const io::NameMapping mapping, io::read_name_mapping(request.folder));
  for (const std::string& file : done.written) {
    const std::string_view real = mapping.lookup(file);
    if (auto tensor = decoded_from(request.folder, file, real.empty() ? file : real)) {
      tensors.push_back(std::move(*tensor));
    }
  }
  sort_by_place(tensors);
  return tensors;
}

std::string statistics_of(const std::string& npy_path) {
  const Result<pipeline::ArraySummary> summary = pipeline::summarise_npy(npy_path);
  return summary.has_value() ? statistics_text(summary->shape, summary->dtype, summary->max,
                                               summary->min, summary->mean)
                             : std::string();
}

Result<std::vector<TableStatistics>> statistics_of_table(const std::string& csv_path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(csv_path));
  std::vector<TableStatistics> found;
  for (const std::vector<std::string>& row : io::parse_csv(as_text(bytes.span))) {
    if (row.size() <= kMean) {
      continue;
    }
    const std::string kind = to_lower(trim(row[kKind]));
    const std::optional<std::uint64_t> index = parse_u64(trim(row[kIndex]));
    if (!index || (kind != "input" && kind != "output")) {
      continue;  // the head
    }
    found.push_back({kind == "input" ? io::TensorRole::input : io::TensorRole::output,
                     static_cast<std::uint32_t>(*index),
                     statistics_text(trim(row[kShape]), trim(row[kDtype]), trim(row[kMax]),
                                     trim(row[kMin]), trim(row[kMean]))});
  }
  return found;
}

}  // namespace opdrift::shell
