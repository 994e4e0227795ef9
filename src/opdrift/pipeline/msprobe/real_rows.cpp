#include "opdrift/pipeline/msprobe/real_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "opdrift/io/in_file.hpp"
#include "opdrift/io/numpy/npy_reader.hpp"
#include "opdrift/io/torch/torch_reader.hpp"
#include "opdrift/metrics/algorithms/torch_pair.hpp"
#include "opdrift/pipeline/msprobe/valid_lengths.hpp"
#include "opdrift/tensor/decode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::pipeline {

namespace {

using graph::ApiLeaf;
using graph::ApiRun;
using tensor::View;

constexpr std::string_view kUnsupported = "unsupported";
constexpr std::string_view kNan = "Nan";
constexpr std::string_view kNotAvailable = "N/A";

/// What "%.12f" leaves of a number.
double rounded(double value, int decimals) {
  if (!std::isfinite(value)) {
    return value;
  }
  std::array<char, 360> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  double result = value;
  std::from_chars(text.data(), text.data() + length, result);
  return result;
}

RealMetric number(double value) {
  if (std::isnan(value)) {
    return {0.0, kNan};
  }
  return {value, {}};
}

void say(RealRow& row, std::string_view word, std::string reason) {
  row.metrics.fill({0.0, word});
  row.reasons.push_back(std::move(reason));
}

tensor::Shape squeezed(const tensor::Shape& shape) {
  tensor::Shape kept;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept),
               [](std::uint64_t extent) { return extent != 1; });
  return kept;
}

/// |(n - b) / b| of one pair, in float as the reference does for single elements.
double single_relative(double target, double golden) {
  auto n = static_cast<float>(target);
  auto b = static_cast<float>(golden);
  if (b == 0.0F) {
    n += std::numeric_limits<float>::epsilon();
    b += std::numeric_limits<float>::epsilon();
  }
  return static_cast<double>(std::abs((n - b) / b));
}

/// Where tensors lie and how they are read.
class TensorFolder {
 public:
  TensorFolder(const std::string& json, std::string_view extension)
      : folder_(std::string(io::folder_of(json)) + "dump_tensor_data/"), extension_(extension) {}

  std::string path_of(const ApiLeaf& leaf) const { return folder_ + std::string(leaf.data_name); }

  Result<tensor::Tensor> load(const ApiLeaf& leaf) const {
    const std::string path = path_of(leaf);
    if (!leaf.data_name.ends_with(extension_)) {
      return Error{ErrorCode::bad_name, "expected a name that ends in " + extension_, path};
    }
    if (leaf.data_name.find("..") != std::string_view::npos) {
      return Error{ErrorCode::bad_name, "expected a file of the dump folder", path};
    }
    OPDRIFT_TRY(const io::FileDump dump,
                extension_ == ".pt" ? io::open_torch(path) : io::open_npy(path));
    if (dump.tensors.size() != 1) {
      return Error{ErrorCode::unsupported, "expected one tensor", path};
    }
    const io::FileTensor& tensor = dump.tensors.front();
    if (tensor.problem) {
      return *tensor.problem;
    }
    return io::in_file(io::load_tensor(tensor), path);
  }

 private:
  std::string folder_;
  std::string extension_;
};

/// The tensor with everything from row `valid` on set to zero.
tensor::Tensor without_left_overs(const tensor::Tensor& tensor, const View& view,
                                  std::uint64_t valid) {
  const tensor::Shape shape = squeezed(tensor.desc.shape);
  if (shape.empty() || valid >= shape.front()) {
    return tensor;
  }
  const std::uint64_t count = view.count();
  const std::uint64_t item = tensor::info(tensor.desc.dtype).bits / 8;
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * item));
  tensor::gather(view, 0, count, bytes.data());
  const auto start = static_cast<std::size_t>(count / shape.front() * valid * item);
  std::memset(bytes.data() + start, 0, bytes.size() - start);
  tensor::Tensor cleaned = tensor;
  cleaned.desc.strides.clear();
  cleaned.desc.big_endian = false;
  cleaned.bytes = own_bytes(std::move(bytes));
  return cleaned;
}

class RowMeter {
 public:
  RowMeter(const ApiSides& sides, const ApiCompareOptions& options)
      : sides_(sides),
        options_(options),
        targets_(sides.target.path, sides.rules == FrameworkRules::pytorch ? ".pt" : ".npy"),
        goldens_(sides.golden.path, sides.rules == FrameworkRules::mindspore ? ".npy" : ".pt"),
        valid_(sides.target, [this](const ApiLeaf& leaf) { return targets_.load(leaf); }) {}

  RealRow measure(const match::ApiPair& pair) const {
    RealRow row;
    const ApiLeaf& target = sides_.target.leaves[pair.target];
    const ApiLeaf* golden =
        pair.golden == match::kNoLeaf ? nullptr : &sides_.golden.leaves[pair.golden];
    if (target.data_name == "-1") {
      say(row, kUnsupported, "NPU does not have data file.");
    } else if (golden != nullptr && golden->data_name == "-1") {
      say(row, kUnsupported, "Bench does not have data file.");
    } else if (golden == nullptr) {
      say(row, kUnsupported, "Bench api/module unmatched.");
    } else {
      measure_files(target, *golden, row);
    }
    if (golden != nullptr && options_.fuzzy && target.name != golden->name) {
      row.reasons.emplace_back("Fuzzy matching data, the comparison accuracy may be affected.");
    }
    return row;
  }

 private:
  void measure_files(const ApiLeaf& target, const ApiLeaf& golden, RealRow& row) const {
    Result<tensor::Tensor> n = targets_.load(target);
    Result<tensor::Tensor> b = goldens_.load(golden);
    if (!n || !b) {
      log_failure(n, targets_.path_of(target));
      log_failure(b, goldens_.path_of(golden));
      say(row, kUnsupported,
          "Dump file: " + targets_.path_of(target) + " or " + goldens_.path_of(golden) +
              " not found or read failed.");
      if (!options_.reference_tables) {
        row.reasons.push_back((n ? b.error() : n.error()).to_string());
      }
      return;
    }
    if (const auto valid = valid_.of(target)) {
      const Result<View> view = tensor::stored_view(*n);
      if (view) {
        n = without_left_overs(*n, *view, *valid);
      }
    }
    const Result<View> n_view = tensor::stored_view(*n);
    const Result<View> b_view = tensor::stored_view(*b);
    if (!n_view || !b_view) {
      say(row, kUnsupported, (n_view ? b_view.error() : n_view.error()).to_string());
      return;
    }
    measure_views(*n_view, *b_view, row);
  }

  void log_failure(const Result<tensor::Tensor>& tensor, const std::string& path) const {
    if (tensor || !options_.log) {
      return;
    }
    options_.log(RunLogLevel::error, tensor.error().code == ErrorCode::not_found
                                         ? "The file path " + path + " does not exist."
                                         : tensor.error().to_string());
  }

  void measure_views(const View& n, const View& b, RealRow& row) const {
    if (n.count() == 0) {
      say(row, kUnsupported, "This is empty data, can not compare.");
      return;
    }
    const tensor::Shape shape = squeezed(n.tensor.desc.shape);
    if (shape != squeezed(b.tensor.desc.shape)) {
      say(row, "shape unmatched", "Shape of NPU and bench tensor do not match. Skipped.");
      return;
    }
    metrics::TorchPairOptions measuring;
    measuring.real_part = options_.reference_tables;
    measuring.cancel = options_.cancel;
    const auto sums = metrics::measure_torch_pair(b, n, measuring);
    if (!sums) {
      say(row, kUnsupported, sums.error().to_string());
      return;
    }
    if (shape.empty()) {
      single_element(n, b, row);
    } else {
      fill(*sums, row);
    }
    if (row.compared && n.tensor.desc.dtype != b.tensor.desc.dtype) {
      row.reasons.emplace_back("Dtype of NPU and bench tensor do not match.");
    }
  }

  static double first_element(const View& view) {
    std::array<std::byte, 32> bytes{};
    tensor::gather(view, 0, 1, bytes.data());
    return tensor::decode_one(view.tensor.desc.dtype, bytes.data(), 0);
  }

  static void single_element(const View& n, const View& b, RealRow& row) {
    say(row, kUnsupported,
        "This is type of 0-d tensor, can not calculate 'Cosine', 'EucDist', 'One Thousandth Err "
        "Ratio' and 'Five Thousandths Err Ratio'. ");
    const double target = first_element(n);
    const double golden = first_element(b);
    row.metrics[2] = number(rounded(std::abs(target - golden), 12));
    row.metrics[3] = number(rounded(single_relative(target, golden), 12));
    row.compared = true;
  }

  void fill(const metrics::TorchPairSums& sums, RealRow& row) const {
    const bool signs_count = !options_.reference_tables && sums.inf_signs_differ;
    if (sums.nan_places_differ || sums.inf_places_differ || signs_count) {
      say(row, kNotAvailable, "The position of inf or nan in NPU and bench Tensor do not match.");
      return;
    }
    row.compared = true;
    row.metrics[0] = cosine(sums, row);
    row.metrics[1] = number(std::sqrt(sums.distance2));
    row.metrics[2] = number(rounded(sums.max_abs, 12));
    row.metrics[3] = number(rounded(sums.max_relative, 12));
    const auto count = static_cast<double>(sums.count);
    row.metrics[4] = number(rounded(static_cast<double>(sums.within_1e3) / count, 12));
    row.metrics[5] = number(rounded(static_cast<double>(sums.within_5e3) / count, 12));
  }

  static RealMetric cosine(const metrics::TorchPairSums& sums, RealRow& row) {
    constexpr double kZero = std::numeric_limits<double>::epsilon();
    const double n = std::sqrt(sums.target2);
    const double b = std::sqrt(sums.golden2);
    if (n <= kZero && b <= kZero) {
      return {1.0, {}};
    }
    if (n <= kZero || b <= kZero) {
      row.reasons.push_back(
          std::string("Cannot compare by Cosine Similarity, All the data is Zero in ") +
          (n <= kZero ? "npu" : "Bench") + " dump data.");
      return {0.0, kNan};
    }
    const double value = rounded(sums.product / (n * b), 12);
    return number(value > 0.9999 ? rounded(value, 6) : value);
  }

  const ApiSides& sides_;
  const ApiCompareOptions& options_;
  TensorFolder targets_;
  TensorFolder goldens_;
  ValidLengths valid_;
};

void log_row(const ApiSides& sides, const match::ApiPair& pair, const RealRow& row,
             const ApiCompareOptions& options) {
  std::string text = "[" + std::string(sides.target.leaves[pair.target].name) + "] Compare result:";
  constexpr std::array<std::string_view, 6> kNames = {
      "cosine",           "euclidean distance",     "max_abs_err",
      "max_relative_err", "one_thousand_err_ratio", "five_thousand_err_ratio"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const RealMetric& metric = row.metrics[i];
    text += (i > 0 ? ", " : " ") + std::string(kNames[i]) + " ";
    text += metric.is_number() ? std::to_string(metric.number) : std::string(metric.word);
  }
  options.log(RunLogLevel::info, text);
}

}  // namespace

std::vector<RealRow> measure_real_rows(const ApiSides& sides, const ApiCompareOptions& options) {
  const RowMeter meter(sides, options);
  std::vector<RealRow> rows(sides.match.pairs.size());
  parallel_for(
      rows.size(), options.jobs,
      [&](std::size_t i) {
        rows[i] = meter.measure(sides.match.pairs[i]);
        if (options.log_rows && options.log) {
          log_row(sides, sides.match.pairs[i], rows[i], options);
        }
      },
      options.cancel);
  return rows;
}

}  // namespace opdrift::pipeline
