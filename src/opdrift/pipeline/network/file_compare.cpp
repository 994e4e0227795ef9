#include "opdrift/pipeline/network/file_compare.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "opdrift/base/text.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/metrics/measure.hpp"
#include "opdrift/pipeline/network/algorithm_values.hpp"

namespace opdrift::pipeline {

namespace {

Error no_array(const std::string& path, const std::string& found) {
  return Error{ErrorCode::malformed, "expected an array of numbers, found " + found, path};
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t start = line.find_first_not_of(" \t\r,");
    if (start == std::string_view::npos) {
      return words;
    }
    line.remove_prefix(start);
    const std::size_t end = std::min(line.find_first_of(" \t\r,"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::vector<std::byte> bytes_of(const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(double));
  if (!values.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}

Result<tensor::Tensor> read_array(const std::string& path) {
  if (std::string_view(path).ends_with(".txt")) {
    return read_text_array(path);
  }
  OPDRIFT_TRY(const io::FileDump dump, io::open_npy(path));
  if (dump.tensors.empty()) {
    return no_array(path, "none");
  }
  if (dump.tensors.front().problem) {
    return no_array(path, dump.tensors.front().problem->message);
  }
  return io::load_tensor(dump.tensors.front());
}

}  // namespace

Result<tensor::Tensor> read_text_array(const std::string& path) {
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  std::vector<double> values;
  std::uint64_t rows = 0;
  std::size_t columns = 0;
  for (const std::string_view whole_line : split(as_text(bytes.span), '\n')) {
    const std::string_view line = whole_line.substr(0, whole_line.find('#'));
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) {
      continue;
    }
    if (rows > 0 && words.size() != columns) {
      return no_array(path, "lines of " + std::to_string(columns) + " and of " +
                                std::to_string(words.size()) + " numbers");
    }
    columns = words.size();
    ++rows;
    for (const std::string_view word : words) {
      const std::optional<double> value = parse_double(word);
      if (!value) {
        return no_array(path, "\"" + printable(word) + "\"");
      }
      values.push_back(*value);
    }
  }
  if (values.empty()) {
    return no_array(path, "nothing");
  }
  tensor::Tensor array;
  array.desc.dtype = tensor::DType::f64;
  array.desc.format = tensor::Format::reserved;
  array.desc.shape =
      rows == 1 || columns == 1 ? tensor::Shape{values.size()} : tensor::Shape{rows, columns};
  array.bytes = own_bytes(bytes_of(values));
  return array;
}

Result<std::vector<AlgorithmValue>> compare_array_files(const std::string& target,
                                                        const std::string& golden,
                                                        const FileCompareOptions& options) {
  OPDRIFT_TRY(const tensor::Tensor target_array, read_array(target));
  OPDRIFT_TRY(const tensor::Tensor golden_array, read_array(golden));
  if (target_array.desc.shape != golden_array.desc.shape) {
    return Error{ErrorCode::mismatch, "expected equal shapes, found [" +
                                          tensor::to_string(target_array.desc.shape) + "] and [" +
                                          tensor::to_string(golden_array.desc.shape) + "]"};
  }
  OPDRIFT_TRY(const tensor::View target_view, tensor::stored_view(target_array));
  OPDRIFT_TRY(const tensor::View golden_view, tensor::stored_view(golden_array));
  metrics::MeasureOptions measure;
  measure.kl_divergence = needs_divergence(options.algorithms);
  measure.max_elements = options.max_elements;
  measure.round_to_float32 = options.reference;
  measure.jobs = 0;
  OPDRIFT_TRY(const metrics::Measurement measurement,
              metrics::measure(golden_view, target_view, measure));
  AlgorithmContext context;
  context.target_path = target;
  context.golden_path = golden;
  context.scalar = std::all_of(target_array.desc.shape.begin(), target_array.desc.shape.end(),
                               [](std::uint64_t extent) { return extent == 1; });
  context.reference = options.reference;
  return algorithm_values(options.algorithms, measurement, context);
}

}  // namespace opdrift::pipeline
