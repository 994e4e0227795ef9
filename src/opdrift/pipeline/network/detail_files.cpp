#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/mapping.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/pipeline/network/detail.hpp"
#include "opdrift/tensor/decode.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;
using tensor::DType;

constexpr std::size_t kMaxFileName = 255;
constexpr std::uint64_t kChunk = 4096;
constexpr std::size_t kScratchBytesPerElement = 16;
constexpr const char* kNameTable = "simple_op_mapping.csv";

void remove_old_files(const std::string& folder, const std::string& prefix) {
  std::vector<fs::path> old;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string_view rest =
        std::string_view(name).substr(std::min(name.size(), prefix.size()));
    if (name.starts_with(prefix) && (rest.starts_with("_") || rest == ".npy")) {
      old.push_back(entry->path());
    }
  }
  for (const fs::path& path : old) {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
}

/// Names of one listing; too long ones are replaced and noted.
class DetailNames {
 public:
  DetailNames(const DetailTensors& tensors, std::string folder, std::string prefix)
      : folder_(std::move(folder)),
        prefix_(std::move(prefix)),
        dump_name_(io::base_name(tensors.target_path)) {
    std::replace(dump_name_.begin(), dump_name_.end(), '.', '_');
  }

  std::string path_of(const std::string& suffix) {
    const std::string wanted = prefix_ + suffix;
    if (wanted.size() < kMaxFileName) {
      return folder_ + "/" + wanted;
    }
    std::string name = dump_name_ + suffix;
    if (name.size() >= kMaxFileName) {
      name = io::short_name(wanted, suffix);
    }
    table_ += name + "," + wanted + "\n";
    return folder_ + "/" + name;
  }

  Status write_table() const {
    if (table_.empty()) {
      return Unit{};
    }
    OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(folder_ + "/" + kNameTable));
    OPDRIFT_CHECK_OK(file.write(table_));
    return file.commit();
  }

 private:
  std::string folder_;
  std::string prefix_;
  std::string dump_name_;
  std::string table_;
};

Status write_text(const std::string& path, const std::string& text) {
  OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(path));
  OPDRIFT_CHECK_OK(file.write(text));
  return file.commit();
}

/// Types NumPy has no name for are written as the type they are read as.
std::optional<DType> readable_type(DType dtype) {
  switch (dtype) {
    case DType::bf16: return DType::f32;
    case DType::undefined: return std::nullopt;
    default:
      return io::npy_descr(dtype, false).has_value() ? std::nullopt : std::optional(DType::f64);
  }
}

Status write_decoded(const std::string& path, const tensor::View& view, DType as) {
  OPDRIFT_TRY(io::NpyWriter writer, io::NpyWriter::create(path, as, view.shape()));
  std::vector<std::byte> stored(kChunk * kScratchBytesPerElement);
  std::vector<float> singles(kChunk);
  std::vector<double> doubles(kChunk);
  const std::uint64_t count = view.count();
  for (std::uint64_t first = 0; first < count; first += kChunk) {
    const std::uint64_t some = std::min(kChunk, count - first);
    tensor::gather(view, first, some, stored.data());
    const DType dtype = view.tensor.desc.dtype;
    if (as == DType::f32) {
      tensor::decode_to_float(dtype, stored.data(), 0, some, singles.data());
      OPDRIFT_CHECK_OK(writer.write(std::as_bytes(std::span(singles).first(some))));
    } else {
      tensor::decode_to_double(dtype, stored.data(), 0, some, doubles.data());
      OPDRIFT_CHECK_OK(writer.write(std::as_bytes(std::span(doubles).first(some))));
    }
  }
  return writer.finish();
}

Status write_array(const std::string& path, const tensor::View& view) {
  const std::optional<DType> as = readable_type(view.tensor.desc.dtype);
  return as ? write_decoded(path, view, *as) : io::write_npy(path, view);
}

std::string lines_of(const report::DetailOptions& options, const std::vector<std::string>& rows) {
  std::string text = report::detail_head(options);
  for (const std::string& row : rows) {
    text += row + "\n";
  }
  return text;
}

/// Writes the listing, a file at a time.
class ListingFiles {
 public:
  explicit ListingFiles(DetailNames& names) : names_(names) {}

  Status begin(std::uint64_t first) {
    OPDRIFT_CHECK_OK(finish());
    OPDRIFT_TRY(io::FileWriter file,
                io::FileWriter::create(names_.path_of("_" + std::to_string(first) + ".csv")));
    file_ = std::make_unique<io::FileWriter>(std::move(file));
    return Unit{};
  }

  Status write(std::string_view text) { return file_->write(text); }

  Status finish() {
    if (!file_) {
      return Unit{};
    }
    const std::unique_ptr<io::FileWriter> done = std::move(file_);
    return done->commit();
  }

 private:
  DetailNames& names_;
  std::unique_ptr<io::FileWriter> file_;
};

}  // namespace

std::string detail_prefix(const DetailRequest& request) {
  return replace_all(request.op_name, "/", "_") + (request.output ? "_output_" : "_input_") +
         std::to_string(request.tensor);
}

Result<report::Detail> write_detail(const DetailTensors& tensors, const std::string& folder,
                                    const std::string& prefix, report::DetailOptions options) {
  remove_old_files(folder, prefix);
  options.format = tensors.format;
  DetailNames names(tensors, folder, prefix);
  OPDRIFT_CHECK_OK(write_array(names.path_of(".npy"), tensors.target));
  ListingFiles files(names);
  const report::DetailSink sink = {[&files](std::uint64_t first) { return files.begin(first); },
                                   [&files](std::string_view text) { return files.write(text); }};
  OPDRIFT_TRY(report::Detail detail,
              report::list_detail(tensors.target, tensors.golden, tensors.shape, options, sink));
  OPDRIFT_CHECK_OK(files.finish());
  OPDRIFT_CHECK_OK(write_text(
      names.path_of("_summary.txt"),
      report::render_detail_summary(detail, tensors.target_names, tensors.golden_names, options)));
  OPDRIFT_CHECK_OK(write_text(names.path_of("_absolute_error_topn.csv"),
                              lines_of(options, detail.worst_absolute)));
  OPDRIFT_CHECK_OK(write_text(names.path_of("_relative_error_topn.csv"),
                              lines_of(options, detail.worst_relative)));
  OPDRIFT_CHECK_OK(names.write_table());
  return detail;
}

}  // namespace opdrift::pipeline
