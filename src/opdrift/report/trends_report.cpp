#include "opdrift/report/trends_report.hpp"

#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/report/csv_text.hpp"
#include "opdrift/report/html_page.hpp"
#include "opdrift/report/json_parts.hpp"
#include "opdrift/report/page_columns.hpp"

namespace opdrift::report {

namespace {

using verdict::TrendCell;
using verdict::TrendLine;
using verdict::Trends;

std::string html_of(const Trends& trends) {
  return render_trends_html(trends);
}

constexpr TrendsReport kReports[] = {
    {"html", "trends.html", &html_of},
    {"csv", "trends.csv", &render_trends_csv},
    {"json", "trends.json", &render_trends_json},
};

/// Empty for NaN.
std::string csv_number(double value) {
  std::string text;
  append_cell(value, text);
  return std::isnan(value) ? std::string() : replace_all(text, "\"", "");
}

std::string begin_of(const Trends& trends, const TrendLine& line) {
  return line.begins ? trends.runs[*line.begins] : std::string();
}

Json cell_json(const std::optional<TrendCell>& cell) {
  if (!cell) {
    return nullptr;
  }
  return {{"error", number(cell->error)},
          {"excess", number(cell->excess)},
          {"state", cell->state},
          {"wrong", cell->wrong}};
}

/// A column of a run: of lines that it lacks null.
template <typename Of>
std::string run_column(const Trends& trends, std::size_t run, Of&& of) {
  PageColumns columns(trends.lines.size());
  columns.add("c", [&](std::size_t line, std::string& out) {
    const auto& cell = trends.lines[line].cells[run];
    if (cell) {
      of(*cell, out);
    } else {
      out += "null";
    }
  });
  const std::string json = columns.take_json();  // {"c":column}
  return json.substr(5, json.size() - 6);
}

std::string runs_json(const Trends& trends, PageTexts& texts) {
  std::string json = "[";
  for (std::size_t run = 0; run < trends.runs.size(); ++run) {
    json += run == 0 ? "" : ",";
    json += "{\"name\":" + json_text(trends.runs[run]);
    json += ",\"error\":" + run_column(trends, run, [](const TrendCell& cell, std::string& out) {
              append_cell(cell.error, out);
            });
    json += ",\"excess\":" + run_column(trends, run, [](const TrendCell& cell, std::string& out) {
              append_cell(cell.excess, out);
            });
    json += ",\"state\":" + run_column(trends, run, [&](const TrendCell& cell, std::string& out) {
              append_cell(std::uint64_t{texts.number_of(cell.state)}, out);
            });
    json += "}";
  }
  return json + "]";
}

std::string lines_json(const Trends& trends, PageTexts& texts) {
  PageColumns columns(trends.lines.size());
  const auto text = [&](std::string_view name, auto of) {
    columns.add(name, [&](std::size_t line, std::string& out) {
      append_cell(std::uint64_t{texts.number_of(of(trends.lines[line]))}, out);
    });
  };
  text("operator", [](const TrendLine& line) { return std::string_view(line.operator_name); });
  text("type", [](const TrendLine& line) { return std::string_view(line.operator_type); });
  columns.add("output", [&](std::size_t line, std::string& out) {
    append_cell(std::uint64_t{trends.lines[line].output}, out);
  });
  columns.add("begins", [&](std::size_t line, std::string& out) {
    const auto& begins = trends.lines[line].begins;
    append_cell(begins ? static_cast<double>(*begins) : metrics::kNan, out);
  });
  columns.add("growth", [&](std::size_t line, std::string& out) {
    append_cell(trends.lines[line].growth, out);
  });
  return columns.take_json();
}

}  // namespace

std::span<const TrendsReport> trends_reports() {
  return kReports;
}

Result<const TrendsReport*> find_trends_report(std::string_view name) {
  std::string known;
  for (const TrendsReport& report : kReports) {
    if (report.name == name) {
      return &report;
    }
    known += (known.empty() ? "" : ", ") + std::string(report.name);
  }
  return Error{ErrorCode::invalid_argument,
               "format '" + std::string(name) + "': expected one of " + known};
}

std::string render_trends_json(const Trends& trends) {
  Json lines = Json::array();
  for (const TrendLine& line : trends.lines) {
    Json cells = Json::array();
    for (const auto& cell : line.cells) {
      cells.push_back(cell_json(cell));
    }
    lines.push_back({{"operator", line.operator_name},
                     {"type", line.operator_type},
                     {"output", line.output},
                     {"begins", line.begins ? Json(*line.begins) : Json(nullptr)},
                     {"wrong_runs", line.wrong_runs},
                     {"growth", number(line.growth)},
                     {"cells", std::move(cells)}});
  }
  const Json json = {
      {"schema", "opdrift-trends/1"}, {"runs", trends.runs}, {"lines", std::move(lines)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string render_trends_csv(const Trends& trends) {
  std::string text = "operator,type,output,begins,wrong_runs,growth";
  for (const std::string& run : trends.runs) {
    text += "," + csv_text(run);
  }
  text += "\n";
  for (const TrendLine& line : trends.lines) {
    text += csv_text(line.operator_name) + "," + csv_text(line.operator_type) + "," +
            std::to_string(line.output) + "," + csv_text(begin_of(trends, line)) + "," +
            std::to_string(line.wrong_runs) + "," + csv_number(line.growth);
    for (const auto& cell : line.cells) {
      text += "," + (cell ? csv_number(cell->error) : std::string());
    }
    text += "\n";
  }
  return text;
}

std::string render_trends_html(const Trends& trends, std::string_view title) {
  PageTexts texts;
  const auto order = verdict::by_beginning(trends);
  std::string json = R"({"kind":"trends","version":")" OPDRIFT_VERSION R"(","title":)";
  json += json_text(title);
  json += ",\"rows\":" + std::to_string(trends.lines.size());
  json += ",\"lines\":" + lines_json(trends, texts);
  json += ",\"runs\":" + runs_json(trends, texts);
  json += ",\"strings\":" + texts.take_json() + "}";
  return html_page({std::move(json)}, std::to_string(order.size()) + " of " +
                                          std::to_string(trends.lines.size()) +
                                          " outputs drift in some run");
}

}  // namespace opdrift::report
