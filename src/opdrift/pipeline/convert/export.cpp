#include "opdrift/pipeline/convert/export.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "opdrift/io/ascend/writer.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npz_writer.hpp"
#include "opdrift/io/plain_writers.hpp"
#include "opdrift/io/torch/pt_writer.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/stats/stats_record.hpp"
#include "opdrift/tensor/align.hpp"

namespace opdrift::pipeline {

namespace {

constexpr std::array<std::pair<std::string_view, ExportType>, 7> kTypes = {
    {{"npy", ExportType::npy},
     {"npz", ExportType::npz},
     {"bin", ExportType::bin},
     {"txt", ExportType::txt},
     {"pt", ExportType::pt},
     {"dump", ExportType::dump},
     {"stats", ExportType::stats}}};

constexpr std::size_t kLongestStem = 200;

std::string_view ending_of(ExportType type) {
  const auto* const row =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.second == type; });
  return row->first;
}

/// Letters of any language, digits and `_ - .` stay; everything else becomes `_`.
std::string safe_stem(const IndexedTensor& tensor) {
  std::string stem = tensor.name.step.empty() ? "" : tensor.name.step + "_";
  stem += tensor.name.operator_name + (tensor.name.output ? ".output." : ".input.") +
          std::to_string(tensor.name.index);
  for (char& c : stem) {
    const auto code = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.' || code >= 0x80;
    c = plain ? c : '_';
  }
  return stem.front() == '.' ? "_" + stem : stem;
}

std::vector<std::string> unique_stems(const std::vector<const IndexedTensor*>& tensors) {
  std::vector<std::string> stems;
  std::unordered_set<std::string> used;
  for (const IndexedTensor* tensor : tensors) {
    const std::string wanted = safe_stem(*tensor);
    std::string stem = wanted.size() > kLongestStem ? "tensor" : wanted;
    for (std::size_t number = 1; !used.insert(stem).second; ++number) {
      stem = (wanted.size() > kLongestStem ? "tensor" : wanted) + "~" + std::to_string(number);
    }
    stems.push_back(std::move(stem));
  }
  return stems;
}

Status write_dump(const std::string& path, const IndexedTensor& indexed, const tensor::View& view) {
  if (!view.contiguous()) {
    return Error{ErrorCode::unsupported, "expected a contiguous tensor to write as a dump", path};
  }
  io::AscendTensor tensor;
  tensor.role = indexed.name.output ? io::TensorRole::output : io::TensorRole::input;
  tensor.desc = indexed.desc;
  tensor.desc.shape = view.shape();
  tensor.bytes = view.tensor.bytes.span;
  io::AscendContent content;
  content.op_name = indexed.name.operator_name;
  content.tensors.push_back(std::move(tensor));
  return io::write_ascend_dump(path, content);
}

class Exporter {
 public:
  Exporter(const DumpIndex& index, const ExportOptions& options)
      : index_(index), options_(options) {}

  Result<std::vector<ExportedTensor>> run() {
    OPDRIFT_CHECK_OK(select());
    std::error_code problem;
    std::filesystem::create_directories(options_.output_folder, problem);
    if (problem) {
      return Error{ErrorCode::write_failed, "cannot make the folder: " + problem.message(),
                   options_.output_folder};
    }
    stems_ = unique_stems(selected_);
    lines_.resize(selected_.size());
    records_.resize(selected_.size());
    OPDRIFT_CHECK_OK(options_.type == ExportType::npz ? write_archive() : write_each());
    if (options_.type == ExportType::stats) {
      OPDRIFT_CHECK_OK(write_stats());
    }
    return std::move(lines_);
  }

 private:
  Status select() {
    const RE2 only(options_.only, RE2::Quiet);
    if (!only.ok()) {
      return Error{ErrorCode::invalid_argument,
                   "selection '" + options_.only + "': " + only.error()};
    }
    for (const IndexedTensor& tensor : index_.tensors) {
      if (RE2::PartialMatch(tensor.name.operator_name, only)) {
        selected_.push_back(&tensor);
      }
    }
    return Unit{};
  }

  std::string path_of(std::size_t position) const {
    const std::string name = options_.type == ExportType::dump
                                 ? "Tensor." + dump_name(stems_[position]) + "." +
                                       std::to_string(position) + ".0.1700000000000000"
                                 : stems_[position] + "." + std::string(ending_of(options_.type));
    return (std::filesystem::path(options_.output_folder) / name).string();
  }

  /// Device dumps are named by letters, digits, `_` and `-` only.
  static std::string dump_name(std::string stem) {
    std::replace_if(
        stem.begin(), stem.end(),
        [](char c) { return c == '.' || c == '~' || static_cast<unsigned char>(c) >= 0x80; }, '_');
    return stem;
  }

  Result<tensor::View> view_of(std::size_t position) {
    OPDRIFT_TRY(tensor::Tensor tensor, load(*selected_[position]));
    if (!options_.format) {
      return tensor::stored_view(tensor);
    }
    if (tensor.desc.format == tensor::Format::reserved) {
      tensor.desc.format = tensor::Format::nd;  // an array is row-major whoever wrote it
    }
    const tensor::LayoutPlugin* const plugin = tensor::find_layout_plugin(
        options_.layout_plugins, tensor::effective_format(tensor.desc), *options_.format);
    OPDRIFT_TRY(tensor::ConvertedTensor converted,
                plugin != nullptr
                    ? plugin->convert(tensor, options_.shape)
                    : tensor::convert_for_output(
                          tensor, {.format = *options_.format, .target_shape = options_.shape}));
    lines_[position].problem = converted.crop_problem;
    return std::move(converted.view);
  }

  Status write_each() {
    parallel_for(
        selected_.size(), options_.jobs,
        [&](std::size_t i) {
          begin_line(i);
          const Status written = write_one(i);
          if (!written) {
            lines_[i].path.clear();
            lines_[i].problem = written.error().to_string();
          }
          count(i);
        },
        options_.cancel);
    return Unit{};
  }

  void begin_line(std::size_t position) {
    lines_[position].label = selected_[position]->label();
    lines_[position].desc = selected_[position]->desc;
  }

  Status write_one(std::size_t position) {
    OPDRIFT_TRY(const tensor::View view, view_of(position));
    OPDRIFT_TRY(lines_[position].stats, metrics::measure_side(view, {.cancel = options_.cancel}));
    const std::string path = path_of(position);
    lines_[position].path = options_.type == ExportType::stats ? "" : path;
    switch (options_.type) {
      case ExportType::npy: return io::write_npy(path, view, {.raw_extension_types = true});
      case ExportType::bin: return io::write_bin(path, view);
      case ExportType::txt: return io::write_text(path, view);
      case ExportType::pt: return io::write_pt(path, view);
      case ExportType::dump: return write_dump(path, *selected_[position], view);
      case ExportType::stats: return measure_record_of(position, view);
      default: return Unit{};
    }
  }

  Status write_archive() {
    const std::string path =
        (std::filesystem::path(options_.output_folder) / "tensors.npz").string();
    OPDRIFT_TRY(io::NpzWriter archive, io::NpzWriter::create(path, {.raw_extension_types = true}));
    for (std::size_t i = 0; i < selected_.size(); ++i) {
      if (options_.cancel != nullptr && options_.cancel->cancelled()) {
        break;
      }
      begin_line(i);
      auto view = view_of(i);
      const Status added = view ? archive.add(stems_[i], *view) : Status(view.error());
      lines_[i].path = added ? path : "";
      lines_[i].problem = added ? lines_[i].problem : added.error().to_string();
      count(i);
    }
    return archive.finish();
  }

  /// One record per tensor, with everything that a comparison without the tensor needs.
  Status measure_record_of(std::size_t position, const tensor::View& view) {
    const IndexedTensor& tensor = *selected_[position];
    OPDRIFT_TRY(TensorRecord record, measure_record(view, options_.cancel));
    record.operator_name = tensor.name.operator_name;
    record.step = tensor.name.step;
    record.role = tensor.name.output ? io::TensorRole::output : io::TensorRole::input;
    record.index = tensor.name.index;
    record.name = tensor.name.tensor_name;
    records_[position] = std::move(record);
    return Unit{};
  }

  Status write_stats() {
    FileRecord table;
    const std::string path =
        (std::filesystem::path(options_.output_folder) / "stats.json").string();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (records_[i]) {
        table.tensors.push_back(std::move(*records_[i]));
        lines_[i].path = path;
      }
    }
    return io::write_file(path, to_json(table));
  }

  void count(std::size_t position) {
    const std::uint64_t bytes =
        bytes_.fetch_add(selected_[position]->size_bytes) + selected_[position]->size_bytes;
    const std::uint64_t done = done_.fetch_add(1) + 1;
    if (options_.progress) {
      options_.progress(done, selected_.size(), bytes);
    }
  }

  const DumpIndex& index_;
  const ExportOptions& options_;
  std::vector<const IndexedTensor*> selected_;
  std::vector<std::string> stems_;
  std::vector<std::optional<TensorRecord>> records_;  // of type stats
  std::vector<ExportedTensor> lines_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace

std::optional<ExportType> export_type_by_name(std::string_view name) {
  const auto* const row =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == name; });
  return row == kTypes.end() ? std::nullopt : std::optional(row->second);
}

Result<std::vector<ExportedTensor>> export_dump(const DumpIndex& index,
                                                const ExportOptions& options) {
  return Exporter(index, options).run();
}

}  // namespace opdrift::pipeline
