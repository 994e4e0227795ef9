#include "opdrift/pipeline/msprobe/merge_results.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/table_text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/io/msprobe/xlsx_reader.hpp"
#include "opdrift/io/msprobe/yaml_tree.hpp"
#include "opdrift/pipeline/msprobe/api_table.hpp"
#include "opdrift/pipeline/msprobe/table_file.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;
using io::XlsxCell;
using io::XlsxRow;

struct RankFile {
  std::string path;
  std::uint64_t rank = 0;
};

struct MergeConfig {
  std::vector<std::string> apis;
  std::vector<std::string> columns;  ///< empty: all
};

/// Number behind "rank" at the front of the text, which is cut away.
std::optional<std::uint64_t> take_rank(std::string_view& text) {
  if (!text.starts_with("rank")) {
    return std::nullopt;
  }
  text.remove_prefix(4);
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_u64(text.substr(0, end));
  text.remove_prefix(end);
  return number;
}

/// The rank a file name tells; nothing for names of another form.
std::optional<std::uint64_t> rank_of(std::string_view name) {
  constexpr std::string_view kStart = "compare_result_";
  if (!name.starts_with(kStart)) {
    return std::nullopt;
  }
  name.remove_prefix(kStart.size());
  const auto rank = take_rank(name);
  if (rank && name.starts_with('-')) {
    name.remove_prefix(1);
    if (!take_rank(name)) {
      return std::nullopt;
    }
  }
  const bool ends_well = name.size() == 20 && name.front() == '_' && name.ends_with(".xlsx") &&
                         is_digits(name.substr(1, 14));
  return ends_well ? rank : std::nullopt;
}

Result<std::vector<RankFile>> rank_files(const MergeOptions& options) {
  std::vector<RankFile> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(options.input_folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".xlsx") || name.starts_with("compare_result_rank_")) {
      continue;
    }
    const auto rank = rank_of(name);
    if (!rank) {
      return Error{ErrorCode::bad_name,
                   "expected compare_result_rank<number>_<time>.xlsx, found " + name,
                   options.input_folder};
    }
    files.push_back({entry.path().string(), *rank});
  }
  if (error) {
    return system_error(error.value(), "open", options.input_folder);
  }
  if (files.size() < 2) {
    return Error{
        ErrorCode::not_found,
        "expected the results of at least two ranks, found " + std::to_string(files.size()),
        options.input_folder};
  }
  std::sort(files.begin(), files.end(), [](const RankFile& a, const RankFile& b) {
    return std::tie(a.rank, a.path) < std::tie(b.rank, b.path);
  });
  return files;
}

Result<std::vector<std::string>> text_list(const io::YamlNode& node, const std::string& what,
                                           const std::string& path) {
  std::vector<std::string> texts;
  if (node.kind != io::YamlNode::Kind::list) {
    return Error{ErrorCode::malformed, "expected a list under " + what, path};
  }
  for (const io::YamlNode& item : node.items) {
    texts.push_back(item.text);
  }
  return texts;
}

Result<MergeConfig> read_config(const std::string& path) {
  OPDRIFT_TRY(const io::YamlNode root, io::read_yaml(path));
  MergeConfig config;
  const io::YamlNode* apis = root.find("api");
  if (apis == nullptr || apis->is_null()) {
    return Error{ErrorCode::malformed, "expected a list of names under api, found none", path};
  }
  OPDRIFT_TRY(config.apis, text_list(*apis, "api", path));
  const io::YamlNode* columns = root.find("compare_index");
  if (columns != nullptr && !columns->is_null()) {
    OPDRIFT_TRY(config.columns, text_list(*columns, "compare_index", path));
  }
  return config;
}

/// Which columns a result has, and where.
struct Layout {
  std::vector<std::string> header;
  std::vector<std::string> metrics;  ///< names that may be merged
  bool checksums = false;

  std::optional<std::size_t> place(std::string_view column) const {
    const auto found = std::find(header.begin(), header.end(), column);
    return found == header.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(found - header.begin()));
  }
};

Result<Layout> layout_of(const XlsxRow& header) {
  Layout layout;
  for (const XlsxCell& cell : header) {
    layout.header.push_back(cell.text);
  }
  using verdict::RowMode;
  for (const RowMode mode : {RowMode::real_data, RowMode::statistics, RowMode::checksum}) {
    for (const bool stack : {false, true}) {
      if (layout.header != api_columns(mode, stack, false)) {
        continue;
      }
      layout.checksums = mode == RowMode::checksum;
      const std::size_t count = mode == RowMode::real_data ? 6 : 8;
      layout.metrics.assign(layout.header.begin() + 8,
                            layout.header.begin() + 8 + static_cast<std::ptrdiff_t>(count));
      layout.metrics.emplace_back("Requires_grad Consistent");
      return layout;
    }
  }
  return Error{ErrorCode::malformed, "the columns are not those of a comparison result"};
}

/// Cells of the wanted columns of one leaf, for one rank.
using MetricCells = std::vector<XlsxCell>;

/// Everything collected so far.
class Merger {
 public:
  explicit Merger(const MergeConfig& config) : config_(config) {}

  Status add(const RankFile& file) {
    ranks_.push_back(file.rank);
    std::optional<Layout> layout;
    return io::read_xlsx(file.path, [&](const XlsxRow& row) -> Status {
      if (!layout) {
        OPDRIFT_TRY(layout, layout_of(row));
        return choose_columns(*layout);
      }
      add_row(row, *layout);
      return Unit{};
    });
  }

  bool checksums() const { return checksums_; }
  bool empty() const { return names_.empty(); }

  std::vector<NamedSheet> sheets() const {
    std::vector<NamedSheet> sheets;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      NamedSheet sheet;
      sheet.name = columns_[column];
      sheet.columns = {"NPU Name"};
      for (const std::uint64_t rank : ranks_) {
        sheet.columns.push_back("rank" + std::to_string(rank));
      }
      sheet.rows = report::CellBlock(sheet.columns.size());
      for (std::size_t name = 0; name < names_.size(); ++name) {
        fill_row(name, column, sheet.rows);
      }
      sheets.push_back(std::move(sheet));
    }
    return sheets;
  }

 private:
  Status choose_columns(const Layout& layout) {
    checksums_ = checksums_ || layout.checksums;
    const std::vector<std::string>& wanted =
        config_.columns.empty() ? layout.metrics : config_.columns;
    for (const std::string& column : wanted) {
      if (!layout.checksums &&
          std::find(layout.metrics.begin(), layout.metrics.end(), column) == layout.metrics.end()) {
        return Error{ErrorCode::invalid_argument,
                     "compare_index: there is no column '" + column + "' to merge"};
      }
    }
    if (!columns_.empty() && columns_ != wanted) {
      return Error{ErrorCode::bad_combination, "the results of the ranks have different columns"};
    }
    columns_ = wanted;
    return Unit{};
  }

  bool is_wanted(const std::string& name) const {
    return std::any_of(config_.apis.begin(), config_.apis.end(), [&](const std::string& api) {
      return name.find(api + ".") != std::string::npos;
    });
  }

  void add_row(const XlsxRow& row, const Layout& layout) {
    if (layout.checksums || row.empty() || !is_wanted(row.front().text)) {
      return;
    }
    const auto cell = [&](std::string_view column) {
      const auto place = layout.place(column);
      return place && *place < row.size() ? row[*place] : XlsxCell{};
    };
    MetricCells cells;
    for (const std::string& column : columns_) {
      XlsxCell value = cell(column);
      if (value.text == "N/A" || value.text == "unsupported" || value.text == "Nan") {
        value.kind = XlsxCell::Kind::text;
        value.text = "NPU:" + cell("NPU max").text + "  Bench:" + cell("Bench max").text;
      }
      cells.push_back(std::move(value));
    }
    const auto [place, is_new] = index_.try_emplace(row.front().text, names_.size());
    if (is_new) {
      names_.push_back(row.front().text);
      cells_.emplace_back();
    }
    cells_[place->second].emplace(ranks_.size() - 1, std::move(cells));
  }

  void fill_row(std::size_t name, std::size_t column, report::CellBlock& block) const {
    block.text(names_[name]);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto found = cells_[name].find(rank);
      if (found == cells_[name].end()) {
        block.blank();
        continue;
      }
      const XlsxCell& cell = found->second[column];
      switch (cell.kind) {
        case XlsxCell::Kind::blank: block.blank(); break;
        case XlsxCell::Kind::text: block.text(cell.text); break;
        case XlsxCell::Kind::boolean: block.boolean(cell.text == "1"); break;
        case XlsxCell::Kind::number:
          block.number(graph::python_number(cell.text).value_or(0.0), cell.text);
          break;
      }
    }
  }

  const MergeConfig& config_;
  std::vector<std::uint64_t> ranks_;
  std::vector<std::string> columns_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::map<std::size_t, MetricCells>> cells_;  // by name, then by rank
  bool checksums_ = false;
};

}  // namespace

Result<std::string> merge_results(const MergeOptions& options) {
  const auto log = [&](RunLogLevel level, const std::string& text) {
    if (options.log) {
      options.log(level, text);
    }
  };
  OPDRIFT_TRY(const std::vector<RankFile> files, rank_files(options));
  OPDRIFT_TRY(const MergeConfig config, read_config(options.config_path));
  Merger merger(config);
  for (const RankFile& file : files) {
    log(RunLogLevel::info, "Parsing rank" + std::to_string(file.rank) + " compare result...");
    OPDRIFT_CHECK_OK(io::in_file(merger.add(file), file.path));
  }
  if (merger.checksums()) {
    log(RunLogLevel::warning, "Results of check sums cannot be merged.");
    return std::string();
  }
  if (merger.empty()) {
    log(RunLogLevel::warning, "No call of the list occurs in the results; nothing to merge.");
    return std::string();
  }
  std::error_code error;
  fs::create_directories(options.output_folder, error);
  if (error) {
    return system_error(error.value(), "mkdir", options.output_folder);
  }
  std::string path =
      options.output_folder + "/multi_ranks_compare_merge_" + time_stamp(false) + ".xlsx";
  OPDRIFT_CHECK_OK(write_workbook(path, merger.sheets()));
  log(RunLogLevel::info,
      "The compare results of the multi-ranks are merged and saved in: " + path + ".");
  return path;
}

}  // namespace opdrift::pipeline
