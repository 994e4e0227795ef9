#include "export.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/numpy/npy_writer.hpp"
#include "opdrift/io/onnx/writer.hpp"

namespace opdrift::evaluation {

namespace {

Status write_text(const std::string& path, const std::string& text) {
  OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(path));
  OPDRIFT_CHECK_OK(file.write(text));
  return file.commit();
}

std::string_view name_of(Format format) {
  switch (format) {
    case Format::fp32:
    case Format::tf32: return "fp32";
    case Format::fp16:
    case Format::fp16_truncated:
    case Format::fp16_flushed: return "fp16";
    case Format::bf16: return "bf16";
    case Format::e4m3: return "e4m3";
  }
  return "";
}

std::string_view assumption_of(const std::optional<verdict::Assumptions>& assume) {
  if (!assume) {
    return "";
  }
  return assume->half_accumulators ? "half" : "tf32";
}

std::string judgement_of(const SeenRun& run, ValueId id) {
  if (id >= run.verdicts.values.size() || !run.verdicts.values[id]) {
    return "-\t-\t-\t-";
  }
  const verdict::Judgement& judgement = *run.verdicts.values[id];
  return fmt::format("{}\t{}\t{:.6g}\t{:.6g}", verdict::to_string(judgement.label),
                     verdict::to_string(judgement.tier), judgement.q_own, judgement.z);
}

}  // namespace

Result<std::string> RunExporter::file_of(const tensor::Tensor& tensor) {
  const std::byte* key = tensor.bytes.span.data();
  if (const auto found = written_.find(key); found != written_.end()) {
    return found->second.second;
  }
  const std::string name = fmt::format("values/{}.npy", written_.size());
  OPDRIFT_TRY(const tensor::View view, tensor::stored_view(tensor));
  OPDRIFT_CHECK_OK(io::write_npy(folder_ + "/" + name, view));
  written_.emplace(key, std::pair(tensor, name));
  return name;
}

Status RunExporter::begin(const Network& network) {
  std::error_code error;
  std::filesystem::create_directories(folder_ + "/values", error);
  if (error) {
    return Error{ErrorCode::write_failed, error.message(), folder_};
  }
  OPDRIFT_CHECK_OK(io::onnx::write_model(folder_ + "/model.onnx", network.model()));
  std::string text;
  for (ValueId id = 0; id < network.golden().size(); ++id) {
    if (network.golden()[id]) {
      OPDRIFT_TRY(const std::string file, file_of(*network.golden()[id]));
      text += network.problem().values[id].name + "\t" + file + "\n";
    }
  }
  return write_text(folder_ + "/golden.tsv", text);
}

Status RunExporter::see(const SeenRun& run) {
  if (count_ == 0) {
    OPDRIFT_CHECK_OK(begin(run.network));
  }
  const std::string name = fmt::format("run{}.tsv", count_++);
  std::string text;
  for (ValueId id = 0; id < run.wide.size(); ++id) {
    if (run.wide[id]) {
      OPDRIFT_TRY(const std::string file, file_of(*run.wide[id]));
      text += fmt::format("{}\t{}\t{}\n", run.network.problem().values[id].name, file,
                          judgement_of(run, id));
    }
  }
  OPDRIFT_CHECK_OK(write_text(folder_ + "/" + name, text));
  runs_ += fmt::format("{}\t{}\t{}\t{}\n", name, run.name, name_of(run.format),
                       assumption_of(run.assume));
  return write_text(folder_ + "/runs.tsv", runs_);
}

}  // namespace opdrift::evaluation
