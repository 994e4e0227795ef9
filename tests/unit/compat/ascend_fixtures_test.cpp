// Every run of every case of the shared fixtures: exit code, produced files byte for byte, and, for
// runs that succeed, the number of warnings and errors logged. kFixed lists the runs whose
// reference result is a defect that opdrift does not share, each with what must come instead.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "unit/compat/fixture_case.hpp"

#include "opdrift/compat/msaccucmp.hpp"
#include "opdrift/io/ascend/dump.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/io/ascend/slices.hpp"
#include "opdrift/io/dump_folder.hpp"
#include "opdrift/io/numpy/npy_header.hpp"
#include "opdrift/pipeline/convert/convert.hpp"
#include "opdrift/pipeline/convert/tensor_output.hpp"

namespace opdrift::compat {
namespace {

using testing::FixtureRun;
using testing::fs::path;
using Content = std::map<std::string, std::string>;
using Json = nlohmann::ordered_json;

/// What a run gave.
struct Outcome {
  int exit_code = 0;
  int warnings = 0;
  int errors = 0;
  Content files;
};

/// What opdrift gives where the reference is mistaken.
struct Fixed {
  int exit_code = 0;
  /// Changes the reference's files into the right ones.
  std::function<void(const FixtureRun&, Content&)> correct = [](const FixtureRun&, Content&) {};
};

constexpr const char* kDump = "Op.op_a.1.2.1614717262233160";

template <typename T>
std::string npy(const char* descr, const tensor::Shape& shape, const std::vector<T>& values) {
  std::string text = io::format_npy_header(descr, false, shape);
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return text;
}

// The eight-bit floats by their definitions, written down here a second time.
double e5m2(unsigned code) {
  const double sign = code < 128 ? 1.0 : -1.0;
  const unsigned exponent = code >> 2U & 31U;
  const unsigned mantissa = code & 3U;
  if (exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return exponent == 0 ? sign * std::ldexp(mantissa / 4.0, -14)
                       : sign * std::ldexp(1.0 + mantissa / 4.0, static_cast<int>(exponent) - 15);
}

double e4m3fn(unsigned code) {
  const double sign = code < 128 ? 1.0 : -1.0;
  const unsigned exponent = code >> 3U & 15U;
  const unsigned mantissa = code & 7U;
  if (exponent == 15 && mantissa == 7) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return exponent == 0 ? sign * std::ldexp(mantissa / 8.0, -6)
                       : sign * std::ldexp(1.0 + mantissa / 8.0, static_cast<int>(exponent) - 7);
}

double hif8(unsigned code) {
  const double sign = code < 128 ? 1.0 : -1.0;
  const unsigned bits = code & 127U;
  if (bits == 0) {
    return code == 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  }
  if (bits == 0x6F) {
    return sign * std::numeric_limits<double>::infinity();
  }
  if (bits < 8) {
    return sign * std::ldexp(1.0, static_cast<int>(bits) - 23);
  }
  // Prefix: 11, 10, 01 take two bits, 001 three, 0001 four.
  const unsigned width = bits >= 96 ? 4 : bits >= 64 ? 3 : bits >= 32 ? 2 : bits >= 16 ? 1 : 0;
  const unsigned prefix_bits = width >= 2 ? 2 : width == 1 ? 3 : 4;
  const unsigned mantissa_bits = 7 - prefix_bits - width;
  const unsigned field = bits >> mantissa_bits & ((1U << width) - 1U);
  const unsigned mantissa = bits & ((1U << mantissa_bits) - 1U);
  int exponent = 0;
  if (width > 0) {
    const unsigned half = 1U << (width - 1);
    const int magnitude = static_cast<int>(half + (field & (half - 1U)));
    exponent = (field & half) != 0 ? -magnitude : magnitude;
  }
  return sign *
         std::ldexp(1.0 + mantissa / std::ldexp(1.0, static_cast<int>(mantissa_bits)), exponent);
}

std::vector<double> all_codes(double (*decode)(unsigned)) {
  std::vector<double> values;
  for (unsigned code = 0; code < 256; ++code) {
    values.push_back(decode(code));
  }
  return values;
}

/// Arrays of doubles are the same when every number is, all NaN being one.
bool same_doubles(const std::string& got, const std::string& expected) {
  if (got.size() != expected.size() || got.size() < 128) {
    return got == expected;
  }
  if (got.substr(0, 128) != expected.substr(0, 128) || got.find("'<f8'") == std::string::npos) {
    return got == expected;
  }
  for (std::size_t at = 128; at + 8 <= got.size(); at += 8) {
    double x = 0.0;
    double y = 0.0;
    std::memcpy(&x, got.data() + at, 8);
    std::memcpy(&y, expected.data() + at, 8);
    if (std::memcmp(&x, &y, 8) != 0 && !(std::isnan(x) && std::isnan(y))) {
      return false;
    }
  }
  return true;
}

Fixed small_float_npy(double (*decode)(unsigned)) {
  return {0, [decode](const FixtureRun&, Content& files) {
            files = {{std::string(kDump) + ".output.0.npy",
                      npy<double>("<f8", {16, 16}, all_codes(decode))}};
          }};
}

Fixed small_float_bin(double (*decode)(unsigned)) {
  return {0, [decode](const FixtureRun&, Content& files) {
            const std::vector<double> values = all_codes(decode);
            files = {{std::string(kDump) + ".output.0.256.float64.ND.bin",
                      std::string(reinterpret_cast<const char*>(values.data()), 2048)}};
          }};
}

/// One output array in place of the reference's.
template <typename T>
Fixed one_array(const char* descr, const tensor::Shape& shape,
                std::function<std::vector<T>(const std::string& payload)> make) {
  return {0, [=](const FixtureRun& run, Content& files) {
            const Result<io::FileDump> dump =
                io::open_ascend_dump((run.folder / "in" / kDump).string());
            ASSERT_TRUE(dump);
            const std::string payload(as_text(dump->tensors.front().bytes.span));
            files = {{std::string(kDump) + ".output.0." + tensor::to_string(shape, "x") + ".npy",
                      npy<T>(descr, shape, make(payload))}};
          }};
}

template <typename T>
T element(const std::string& payload, std::uint64_t index) {
  T value{};
  std::memcpy(&value, payload.data() + index * sizeof(T), sizeof(T));
  return value;
}

using Index = std::array<std::uint64_t, 4>;

/// Every element of a 4-d array, `source` telling where it lies.
template <typename T>
std::function<std::vector<T>(const std::string&)> gathered(
    const Index& shape, const std::function<std::uint64_t(Index)>& source) {
  return [=](const std::string& payload) {
    std::vector<T> values;
    for (std::uint64_t a = 0; a < shape[0]; ++a) {
      for (std::uint64_t b = 0; b < shape[1]; ++b) {
        for (std::uint64_t c = 0; c < shape[2]; ++c) {
          for (std::uint64_t d = 0; d < shape[3]; ++d) {
            values.push_back(element<T>(payload, source({a, b, c, d})));
          }
        }
      }
    }
    return values;
  };
}

/// Position of (n, c, h, w) in NC1HWC0 of shape (N, C1, H, W, 16).
std::uint64_t in_nc1hwc0(std::uint64_t c1, std::uint64_t height, std::uint64_t width,
                         const Index& nchw) {
  const auto [n, c, h, w] = nchw;
  return (((n * c1 + c / 16) * height + h) * width + w) * 16 + c % 16;
}

/// NCHW source position of a group convolution's weights in FRACTAL_Z, by the standard's formula:
/// row = (g div E) * ceil(E*C/16) * kh*kw + (dc div 16) * kh*kw + h*kw + w.
std::vector<float> to_fractal_z(const std::string& payload, const Index& nchw, std::uint64_t group,
                                bool channels_last) {
  const auto [n_all, c_in, kh, kw] = nchw;
  const std::uint64_t n = n_all / group;
  const std::uint64_t e_all = std::min(
      std::lcm(std::lcm(c_in, std::uint64_t{16}) / c_in, std::lcm(n, std::uint64_t{16}) / n),
      group);
  const std::uint64_t c1 = (e_all * c_in + 15) / 16;
  const std::uint64_t rows = (group + e_all - 1) / e_all * c1 * kh * kw;
  const std::uint64_t n1 = (e_all * n + 15) / 16;
  std::vector<float> out(rows * n1 * 256, 0.0F);
  for (std::uint64_t g = 0; g < group; ++g) {
    for (std::uint64_t h = 0; h < kh; ++h) {
      for (std::uint64_t w = 0; w < kw; ++w) {
        for (std::uint64_t c = 0; c < c_in; ++c) {
          for (std::uint64_t k = 0; k < n; ++k) {
            const std::uint64_t dc = g % e_all * c_in + c;
            const std::uint64_t dn = g % e_all * n + k;
            const std::uint64_t row = (g / e_all * c1 + dc / 16) * kh * kw + h * kw + w;
            const std::uint64_t from = channels_last ? (((g * n + k) * kh + h) * kw + w) * c_in + c
                                                     : (((g * n + k) * c_in + c) * kh + h) * kw + w;
            out[((row * n1 + dn / 16) * 16 + dn % 16) * 16 + dc % 16] =
                element<float>(payload, from);
          }
        }
      }
    }
  }
  return out;
}

const std::map<std::string, Fixed>& fixed_runs() {
  static const std::map<std::string, Fixed> runs =
      {
          // 21: generic crashes become codes of their own.
          {"c17_attr_not_json/npy", {11}},
          {"c27_attr_falsy/empty", {11}},
          {"s07_misaligned/npy", {11}},
          {"x02_ffts_auto_mismatch/thread5", {42}},
          {"x06_ffts_slice_lists/nokey", {42}},
          // 8, 9, 10: the standards' values; 11: bin output of one-byte floats.
          {"d33_hifloat8/npy", small_float_npy(&hif8)},
          {"d34_float8_e5m2/npy", small_float_npy(&e5m2)},
          {"d35_float8_e4m3fn/npy", small_float_npy(&e4m3fn)},
          {"d33_hifloat8/bin", small_float_bin(&hif8)},
          {"d34_float8_e5m2/bin", small_float_bin(&e5m2)},
          {"d35_float8_e4m3fn/bin", small_float_bin(&e4m3fn)},
          // 4: complex npy files are read.
          {"n13_npy_odd_types/c",
           {0,
            [](const FixtureRun& run, Content& files) {
              files = {{"c.0.1.npy.output.0.npy", testing::file_text(run.folder / "in/c.0.1.npy")}};
            }}},
          // 20: a name without a stream id means stream 0, and the record asks for stream 2.
          {"v04_overflow_short_name/n1",
           {0,
            [](const FixtureRun& run, Content& files) {
              const path noop = run.folder.parent_path() / "v02_overflow_none/expected/noop";
              files = testing::folder_content(noop, {});
              auto json = files.extract("Opdebug.Node_OpDebug.9.1.1614717262233160.output.0.json");
              json.key() = "Opdebug.Node_OpDebug.9.1614717262233160.output.0.json";
              files.insert(std::move(json));
            }}},
          // 14: a one-dim target of FRACTAL_NZ is one row.
          {"t10_nz_1d/ND", one_array<std::uint16_t>("<f2", {10},
                                                    [](const std::string& payload) {
                                                      std::vector<std::uint16_t> row;
                                                      for (std::uint64_t c = 0; c < 10; ++c) {
                                                        row.push_back(
                                                            element<std::uint16_t>(payload, c));
                                                      }
                                                      return row;
                                                    })},
          // 17: the original shape is permuted before cropping.
          {"t01_nc1hwc0/NHWC",
           one_array<std::uint16_t>(
               "<f2", {1, 3, 2, 20},
               gathered<std::uint16_t>({1, 3, 2, 20},
                                       [](Index i) {
                                         return in_nc1hwc0(2, 3, 2, {i[0], i[3], i[1], i[2]});
                                       }))},
          {"t01_nc1hwc0/HWCN",
           one_array<std::uint16_t>("<f2", {3, 2, 20, 1},
                                    gathered<std::uint16_t>(
                                        {3, 2, 20, 1},
                                        [](Index i) {
                                          return in_nc1hwc0(2, 3, 2, {i[3], i[2], i[0], i[1]});
                                        }))},
          {"t34_crop_to_origin_other_layout/NHWC",
           one_array<float>("<f4", {2, 2, 3, 3},
                            gathered<float>({2, 2, 3, 3},
                                            [](Index i) {
                                              return in_nc1hwc0(1, 2, 3, {i[0], i[3], i[1], i[2]});
                                            }))},
          {"t34_crop_to_origin_other_layout/HWCN",
           one_array<float>("<f4", {2, 3, 3, 2},
                            gathered<float>({2, 3, 3, 2},
                                            [](Index i) {
                                              return in_nc1hwc0(1, 2, 3, {i[3], i[2], i[0], i[1]});
                                            }))},
          // 15: groups do not overwrite each other; 16: the group is ignored elsewhere.
          {"t23_to_fz_group/FRACTAL_Z",
           one_array<float>("<f4", {2, 1, 16, 16},
                            [](const std::string& payload) {
                              return to_fractal_z(payload, {4, 5, 2, 1}, 2, false);
                            })},
          {"t24_to_fz_group8/FRACTAL_Z",
           one_array<float>("<f4", {18, 3, 16, 16},
                            [](const std::string& payload) {
                              return to_fractal_z(payload, {40, 17, 1, 2}, 8, true);
                            })},
          {"t23_to_fz_group/NHWC",
           one_array<float>(
               "<f4", {4, 2, 1, 5},
               gathered<float>({4, 2, 1, 5},
                               [](Index i) { return ((i[0] * 5 + i[3]) * 2 + i[1]) * 1 + i[2]; }))},
      };
  return runs;
}

/// Cases of commands that opdrift does not have (the specification allows it), or that belong to
/// the compare front end and the layout room and are tested there.
const std::set<std::string>& other_cases() {
  static const std::set<std::string> cases = {
      "l01_dump_data_conversion",  // deprecated command
      "h01_hdf5",                  // compare of HDF5 files
      "y1a_align_network",
      "y2a_align_detail",
      "y3a_restore",  // alignment
  };
  return cases;
}

std::vector<std::string> filled_args(const FixtureRun& run, const path& out) {
  std::vector<std::string> args;
  for (const std::string& arg : run.args) {
    args.push_back(testing::filled(arg, run.folder / "in", out));
  }
  return args;
}

int count_of(const std::string& text, const std::string& word) {
  int count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

Outcome run_command(const std::vector<std::string>& args) {
  Outcome outcome;
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  outcome.exit_code = run_msaccucmp(args);
  ::testing::internal::GetCapturedStdout();
  const std::string log = ::testing::internal::GetCapturedStderr();
  outcome.warnings = count_of(log, "[WARNING]") - (::geteuid() == 0 ? 1 : 0);
  outcome.errors = count_of(log, "[ERROR]");
  return outcome;
}

io::ScanOptions scan_options(const std::string& mode) {
  return {.ffts = mode == "1", .has_fusion_rule = mode == "2"};
}

void save(const path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

int scan_code(const Error& error) {
  return error.code == ErrorCode::bad_task_type ? 37 : error.code == ErrorCode::bad_name ? 18 : 1;
}

/// @scan dir out mode
Outcome run_scan(const std::vector<std::string>& args) {
  const Result<io::DumpFolder> folder = io::scan_folder(args[1], scan_options(args[3]));
  Outcome outcome;
  if (!folder) {
    outcome.exit_code = scan_code(folder.error());
    return outcome;
  }
  Json json;
  json["ops"] = Json::object();
  for (const io::FolderEntry& entry : folder->entries) {
    Json files = Json::array();
    for (const io::ScannedFile& file : entry.files) {
      files.push_back(path(file.path).filename().string());
    }
    json["ops"][entry.op_key] = {{"files_sorted", files}, {"mode", static_cast<int>(entry.mode)}};
  }
  json["quant"] = folder->quantised;
  json["type"] = std::string(io::to_string(folder->kind));
  save(path(args[2]) / "scan.json", json.dump(1));
  return outcome;
}

/// @merge dir out op mode
Outcome run_merge(const std::vector<std::string>& args) {
  const Result<io::DumpFolder> folder = io::scan_folder(args[1], scan_options(args[4]));
  const io::FolderEntry* entry = folder ? folder->find(args[3]) : nullptr;
  if (entry == nullptr) {
    return {.exit_code = 2, .warnings = 0, .errors = 0, .files = {}};
  }
  std::vector<io::FileDump> files;
  for (const io::ScannedFile& file : entry->files) {
    files.push_back(io::open_ascend_dump(file.path).value());
  }
  const Result<io::MergedDump> merged = io::merge_slices(std::move(files), entry->mode);
  if (!merged) {
    return {.exit_code = 1, .warnings = 0, .errors = 0, .files = {}};
  }
  Json json = {{"ffts_file_check", merged->complete},
               {"op_name", merged->dump.op_name},
               {"outputs", Json::array()},
               {"path", path(merged->dump.path).filename().string()}};
  for (const io::FileTensor* output : merged->dump.of(io::TensorRole::output)) {
    json["outputs"].push_back({{"data_type", output->desc.ascend_dtype},
                               {"format", static_cast<int>(output->desc.format)},
                               {"shape", output->desc.shape}});
    const tensor::Tensor loaded = io::load_tensor(*output).value();
    const std::string name = "merged.output." + std::to_string(output->index) + ".npy";
    EXPECT_TRUE(pipeline::write_array((path(args[2]) / name).string(), pipeline::OutputFile::npy,
                                      pipeline::output_array(tensor::stored_view(loaded).value())));
  }
  save(path(args[2]) / "merge.json", json.dump(1));
  Outcome outcome;
  outcome.warnings = static_cast<int>(merged->warnings.size());
  return outcome;
}

/// @names file out: every pattern the specification lists, with its groups.
Outcome run_names(const std::vector<std::string>& args) {
  static const std::vector<std::pair<std::string, io::NamePattern>> kPatterns = {
      {"DEBUG_FILE_PATTERN", io::NamePattern::debug},
      {"DUMP_FILE_PATTERN", io::NamePattern::dump},
      {"FORMAT_CONVERT_FILE_NAME_PATTERN", io::NamePattern::plugin},
      {"NUMPY_DUMP_PATTERN", io::NamePattern::numpy},
      {"OFFLINE_DUMP_PATTERN", io::NamePattern::offline},
      {"OFFLINE_NUMPY_PATTERN", io::NamePattern::offline_numpy},
      {"QUANT_DUMP_PATTERN", io::NamePattern::quant},
      {"STANDARD_DUMP_PATTERN", io::NamePattern::standard},
      {"STANDARD_NUMPY_PATTERN", io::NamePattern::standard_numpy}};
  nlohmann::json table;
  for (const std::string name : nlohmann::json::parse(testing::file_text(args[1]))) {
    table[name] = nlohmann::json::object();
    for (const auto& [key, pattern] : kPatterns) {
      const std::optional<io::NameGroups> groups = io::match_name(pattern, name);
      if (!groups) {
        continue;
      }
      for (const std::optional<std::string_view>& group : *groups) {
        table[name][key].push_back(group ? nlohmann::json(std::string(*group))
                                         : nlohmann::json(nullptr));
      }
    }
  }
  save(path(args[2]) / "names.json", table.dump(1));
  return {};
}

/// @atb file out type
Outcome run_atb(const std::vector<std::string>& args) {
  const Result<pipeline::AtbConversion> done =
      pipeline::convert_atb(args[1], args[2], pipeline::convert_type_by_name(args[3]).value());
  Outcome outcome;
  outcome.exit_code = done ? 0 : 1;
  return outcome;
}

/// @dump_parser save_log -d file -out folder. Its exit status is 0 whatever happens.
Outcome run_save_log(const std::vector<std::string>& args) {
  const auto names = pipeline::save_space_logs(args[3], args[5]);
  Outcome outcome;
  outcome.errors = names ? 0 : 2;
  return outcome;
}

Outcome run_fixture(const FixtureRun& run, const path& out) {
  const std::vector<std::string> args = filled_args(run, out);
  static const std::map<std::string, Outcome (*)(const std::vector<std::string>&)> kCalls = {
      {"@scan", &run_scan},
      {"@merge", &run_merge},
      {"@names", &run_names},
      {"@atb", &run_atb},
      {"@dump_parser", &run_save_log}};
  const auto call = kCalls.find(args.front());
  Outcome outcome = call == kCalls.end() ? run_command(args) : call->second(args);
  outcome.files = testing::folder_content(out, run.folder / "in");
  return outcome;
}

std::vector<std::string> names_of(const Content& files) {
  std::vector<std::string> names;
  for (const auto& [name, text] : files) {
    names.push_back(name);
  }
  return names;
}

class AscendFixture : public ::testing::TestWithParam<FixtureRun> {};

/// The patterns of converted files are not part of the specification's table.
std::string without_parsed_patterns(const std::string& text) {
  nlohmann::json table = nlohmann::json::parse(text);
  for (auto& [name, patterns] : table.items()) {
    patterns.erase("PARSED_DUMP_FILE_PATTERN");
    patterns.erase("PARSED_DEBUG_FILE_PATTERN");
  }
  return table.dump(1);
}

void expect_same_files(const FixtureRun& run, const Content& got, const Content& expected) {
  EXPECT_EQ(names_of(got), names_of(expected));
  for (const auto& [name, text] : expected) {
    const auto found = got.find(name);
    if (found == got.end()) {
      continue;
    }
    const bool is_table = run.case_name == "r07_name_table";
    const std::string wanted = is_table ? without_parsed_patterns(text) : text;
    EXPECT_TRUE(found->second == wanted || same_doubles(found->second, wanted))
        << name << ": " << found->second.size() << " bytes, expected " << wanted.size();
  }
}

TEST_P(AscendFixture, GivesTheResultOfTheReference) {
  const FixtureRun& run = GetParam();
  if (other_cases().count(run.case_name) > 0) {
    GTEST_SKIP() << "not a case of this front end";
  }
  const testing::TemporaryFolder out;
  const Outcome outcome = run_fixture(run, out.path());
  Content expected = testing::folder_content(run.expected(), run.folder / "in");
  const auto fixed = fixed_runs().find(run.id());
  if (fixed != fixed_runs().end()) {
    fixed->second.correct(run, expected);
    EXPECT_EQ(outcome.exit_code, fixed->second.exit_code);
  } else {
    EXPECT_EQ(outcome.exit_code, run.exit_code);
    const bool is_command = run.args.front().front() != '@';
    EXPECT_TRUE(!is_command || (outcome.errors > 0) == (run.errors > 0));
    if (is_command && run.exit_code == 0) {
      EXPECT_EQ(outcome.warnings, run.warnings);
      EXPECT_EQ(outcome.errors, run.errors);
    }
  }
  expect_same_files(run, outcome.files, expected);
}

std::string parameter_name(const ::testing::TestParamInfo<FixtureRun>& info) {
  std::string name = info.param.case_name + "_" + info.param.run_name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AscendFixture);
INSTANTIATE_TEST_SUITE_P(Shared, AscendFixture, ::testing::ValuesIn(testing::load_runs()),
                         parameter_name);

TEST(AscendFixtures, AreThere) {
  if (!testing::fs::exists(testing::fixture_root())) {
    GTEST_SKIP() << "no folder " << testing::fixture_root();
  }
  EXPECT_GT(testing::load_runs().size(), 250U);
}

TEST(AscendFixtures, EveryCorrectionNamesARun) {
  std::set<std::string> ids;
  for (const FixtureRun& run : testing::load_runs()) {
    ids.insert(run.id());
  }
  if (ids.empty()) {
    GTEST_SKIP() << "no folder " << testing::fixture_root();
  }
  for (const auto& [id, fixed] : fixed_runs()) {
    EXPECT_EQ(ids.count(id), 1U) << id;
  }
}

}  // namespace
}  // namespace opdrift::compat
