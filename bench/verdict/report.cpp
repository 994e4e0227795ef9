#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "faults.hpp"

namespace opdrift::evaluation {

namespace {

using First = Score::First;

/// A set of networks shown as one.
struct Half {
  std::string_view title;
  bool shaped;  ///< networks the rule was written down with, or all others
  bool has(Group group) const { return (group == Group::shaped || group == Group::held) == shaped; }
};

constexpr Half kHalves[] = {{"networks of the rule's own evaluation", true},
                            {"networks unseen by the rule", false}};

std::string percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string per(std::size_t part, std::size_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.3f}", static_cast<double>(part) / static_cast<double>(whole));
}

template <typename Row, typename Predicate>
std::vector<const Row*> chosen(const std::vector<Row>& rows, const Predicate& wanted) {
  std::vector<const Row*> result;
  for (const Row& row : rows) {
    if (wanted(row)) {
      result.push_back(&row);
    }
  }
  return result;
}

template <typename Row, typename Number>
auto sum(const std::vector<const Row*>& rows, const Number& number) {
  decltype(number(*rows.front())) total = 0;
  for (const Row* row : rows) {
    total += number(*row);
  }
  return total;
}

template <typename Row>
double largest(const std::vector<const Row*>& rows, double Row::*member) {
  double most = 0.0;
  for (const Row* row : rows) {
    most = std::max(most, row->*member);
  }
  return most;
}

std::size_t right(const Score& score) {
  return score.first == First::right ? 1 : 0;
}

// ---- summary

std::string verdict_line(std::string_view what, bool kept, const std::string& number) {
  return fmt::format("| {} | {} | {} |\n", what, number, kept ? "yes" : "**no**");
}

std::string summary(const Results& results) {
  const auto all = chosen(results.clean, [](const CleanRow& row) { return row.not_run.empty(); });
  const std::size_t wrong = sum(all, [](const CleanRow& row) { return row.wrong(); });
  std::string text = "| aim | reached | kept |\n|---|---|---|\n";
  text += verdict_line(
      "no false CULPRIT on any clean run", wrong == 0,
      fmt::format("{} on {} tensors in {} runs", wrong,
                  sum(all, [](const CleanRow& row) { return row.tensors; }), all.size()));
  for (const Half& half : kHalves) {
    const auto rows = chosen(results.faults, [&](const FaultRow& row) {
      return row.above && !row.subtle && half.has(row.group);
    });
    const std::size_t named = sum(rows, [](const FaultRow& row) { return right(row.opdrift); });
    const std::size_t others = sum(rows, [](const FaultRow& row) { return row.opdrift.others; });
    text +=
        verdict_line(fmt::format("95 % of faults above the noise named first, {}", half.title),
                     named * 100 >= rows.size() * 95,
                     fmt::format("{} of {}, {}", named, rows.size(), percent(named, rows.size())));
    text += verdict_line(fmt::format("at most 0.05 others blamed per fault, {}", half.title),
                         others * 20 <= rows.size(), per(others, rows.size()));
  }
  const auto expected = chosen(results.clean, [](const CleanRow& row) {
    return row.not_run.empty() && row.variant->expected;
  });
  const std::size_t found = sum(expected, [](const CleanRow& row) -> std::size_t {
    return row.found(*row.variant->expected) ? 1 : 0;
  });
  text += verdict_line("the property of the device found (step H)", found == expected.size(),
                       fmt::format("{} of {} runs", found, expected.size()));
  return text + "\n";
}

// ---- clean runs

std::string clean_line(std::string_view name, const std::vector<const CleanRow*>& rows) {
  std::string text =
      fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {:.1f} / {:.1f} |", name,
                  sum(rows, [](const CleanRow& row) { return row.tensors; }),
                  sum(rows, [](const CleanRow& row) { return row.wrong(); }),
                  sum(rows, [](const CleanRow& row) { return row.genuine; }),
                  sum(rows, [](const CleanRow& row) { return row.watched; }),
                  sum(rows, [](const CleanRow& row) { return row.victims; }),
                  sum(rows, [](const CleanRow& row) { return row.drifting; }),
                  sum(rows, [](const CleanRow& row) { return row.unjudged; }),
                  largest(rows, &CleanRow::largest_q), largest(rows, &CleanRow::largest_z));
  for (std::size_t i = 0; i < kRivals; ++i) {
    text += fmt::format(" {} |", sum(rows, [&](const CleanRow& row) { return row.rivals[i]; }));
  }
  return text + "\n";
}

std::string clean_tables(const Results& results) {
  std::string text =
      "## Clean runs\n\n"
      "Tensors that are blamed although nothing is wrong. *False*: CULPRIT without cause. "
      "*Genuine*: CULPRIT, and the golden (or a constant of the operator) really exceeds what the "
      "target can hold. The largest q_own / z' are those of tensors that are not CULPRIT. The "
      "last four columns count the tensors that the other judges call bad.\n";
  for (const Half& half : kHalves) {
    text += fmt::format(
        "\n### {}\n\n| target | tensors | false | genuine | WATCH | VICTIM | DRIFT | unjudged | "
        "largest q / z' | {} | {} | {} | {} |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
        "---|\n",
        half.title, kRivalNames[0], kRivalNames[1], kRivalNames[2], kRivalNames[3]);
    for (const Variant& variant : variants()) {
      const auto rows = chosen(results.clean, [&](const CleanRow& row) {
        return row.variant == &variant && half.has(row.group) && row.not_run.empty();
      });
      if (!rows.empty()) {
        text += clean_line(variant.name, rows);
      }
    }
  }
  return text + "\n";
}

/// False (and genuine) culprits per network and target.
std::string clean_matrix(const Results& results) {
  std::string text = "### False CULPRITs (+ genuine ones) by network and target\n\n| network |";
  std::string rule = "|---|";
  for (const Variant& variant : variants()) {
    text += fmt::format(" {} |", variant.name);
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const CatalogueEntry& entry : catalogue()) {
    std::string line = fmt::format("| {} |", entry.name);
    bool any = false;
    for (const Variant& variant : variants()) {
      const auto rows = chosen(results.clean, [&](const CleanRow& row) {
        return row.variant == &variant && row.network == entry.name;
      });
      any = any || !rows.empty();
      if (rows.empty()) {
        line += "  |";
      } else if (!rows[0]->not_run.empty()) {
        line += " not run |";
      } else {
        line += rows[0]->genuine == 0
                    ? fmt::format(" {} |", rows[0]->wrong())
                    : fmt::format(" {} + {} |", rows[0]->wrong(), rows[0]->genuine);
      }
    }
    text += any ? line + "\n" : "";
  }
  return text + "\n";
}

std::string not_run(const Results& results) {
  std::string text;
  for (const CleanRow& row : results.clean) {
    if (!row.not_run.empty()) {
      text += fmt::format("- {}, {}: {}\n", row.network, row.variant->name,
                          row.not_run.substr(0, row.not_run.find('\n')).substr(0, 200));
    }
  }
  for (const std::string& failure : results.failures) {
    text += "- " + failure + "\n";
  }
  return text.empty() ? "" : "Not run:\n\n" + text + "\n";
}

// ---- step H

std::string findings_table(const Results& results) {
  std::string text =
      "## Properties of the device, found without being told\n\n"
      "| target | finding | found in | false CULPRITs left | said |\n|---|---|---|---|---|\n";
  for (const Variant& variant : variants()) {
    const auto rows = chosen(results.clean, [&](const CleanRow& row) {
      return row.variant == &variant && row.not_run.empty() && variant.expected;
    });
    if (rows.empty()) {
      continue;
    }
    std::string said;
    std::string missing;
    for (const CleanRow* row : rows) {
      if (!row->found(*variant.expected)) {
        missing += fmt::format("{}{}", missing.empty() ? "; not in " : ", ", row->network);
      }
      for (const verdict::Finding& finding : row->findings) {
        said = finding.kind == *variant.expected && said.empty() ? finding.sentence : said;
      }
    }
    text += fmt::format(
        "| {} | {} | {} of {}{} | {} | {} |\n", variant.name, verdict::to_string(*variant.expected),
        sum(rows,
            [&](const CleanRow& row) -> std::size_t {
              return row.found(*variant.expected) ? 1 : 0;
            }),
        rows.size(), missing, sum(rows, [](const CleanRow& row) { return row.wrong(); }), said);
  }
  text += "\nFindings on targets that have no such property:\n\n";
  std::set<std::string> others;
  for (const CleanRow& row : results.clean) {
    for (const verdict::Finding& finding : row.findings) {
      if (!finding.assumed && finding.kind != row.variant->expected) {
        others.insert(
            fmt::format("- {}, {}: {}\n", row.network, row.variant->name, finding.sentence));
      }
    }
  }
  for (const std::string& line : others) {
    text += line;
  }
  return text + (others.empty() ? "- none\n\n" : "\n");
}

// ---- faults

using Rows = std::vector<const FaultRow*>;

const Score& score_of(const FaultRow& row, std::size_t judge) {
  return judge == 0 ? row.opdrift : row.rivals[judge - 1];
}

std::string_view judge_name(std::size_t judge) {
  return judge == 0 ? std::string_view("**opdrift**") : kRivalNames[judge - 1];
}

constexpr std::size_t kJudges = 1 + kRivals;

std::string judges_table(const Rows& rows) {
  std::string text =
      "| judge | named first | blamed at the operator | at least WATCH there | an earlier one "
      "first | a later one first | nothing | others blamed per fault |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (std::size_t judge = 0; judge < kJudges; ++judge) {
    const auto count = [&](First first) {
      return sum(rows, [&](const FaultRow& row) -> std::size_t {
        return score_of(row, judge).first == first ? 1 : 0;
      });
    };
    const std::size_t own = sum(
        rows, [&](const FaultRow& row) -> std::size_t { return score_of(row, judge).own ? 1 : 0; });
    const std::size_t watched = sum(rows, [&](const FaultRow& row) -> std::size_t {
      return score_of(row, judge).watched ? 1 : 0;
    });
    text +=
        fmt::format("| {} | {} ({}) | {} | {} | {} | {} | {} | {} |\n", judge_name(judge),
                    count(First::right), percent(count(First::right), rows.size()),
                    percent(own, rows.size()), judge == 0 ? percent(watched, rows.size()) : "-",
                    count(First::earlier), count(First::later), count(First::missed),
                    per(sum(rows, [&](const FaultRow& row) { return score_of(row, judge).others; }),
                        rows.size()));
  }
  return text + "\n";
}

std::string named_cells(const Rows& rows) {
  std::string text = fmt::format(" {} |", rows.size());
  for (std::size_t judge = 0; judge < kJudges; ++judge) {
    const std::size_t named =
        sum(rows, [&](const FaultRow& row) { return right(score_of(row, judge)); });
    text += fmt::format(" {} |", percent(named, rows.size()));
  }
  return text + "\n";
}

std::string named_table(std::string_view column, const std::vector<std::string_view>& keys,
                        const Results& results,
                        const std::function<bool(const FaultRow&, std::string_view)>& belongs) {
  std::string text = fmt::format("| {} | faults | opdrift |", column);
  for (const std::string_view name : kRivalNames) {
    text += fmt::format(" {} |", name);
  }
  text += "\n|---|---|---|---|---|---|---|\n";
  for (const std::string_view key : keys) {
    const Rows rows =
        chosen(results.faults, [&](const FaultRow& row) { return row.above && belongs(row, key); });
    if (!rows.empty()) {
      text += fmt::format("| {} |", key) + named_cells(rows);
    }
  }
  return text + "\n";
}

std::string fault_tables(const Results& results) {
  std::string text =
      "## Faults\n\n"
      "Each fault replaces the output of one operator in a clean fp16 or bf16 run; everything "
      "after it is run again. *Above the noise*: the change is at least as large as the error "
      "that was in this tensor before, or reaches four times its largest error at one element. "
      "*Named first*: the first operator blamed, in execution order, is the harmed one.\n\n";
  for (const Half& half : kHalves) {
    for (const Format format : {Format::fp16, Format::bf16}) {
      const Rows rows = chosen(results.faults, [&](const FaultRow& row) {
        return row.above && !row.subtle && row.format == format && half.has(row.group);
      });
      if (!rows.empty()) {
        text += fmt::format("### {}, {}: {} faults above the noise\n\n", half.title,
                            format == Format::fp16 ? "fp16" : "bf16", rows.size());
        text += judges_table(rows);
      }
    }
  }
  const Rows subtle =
      chosen(results.faults, [](const FaultRow& row) { return row.above && row.subtle; });
  text +=
      fmt::format("### Three subtler kinds, all networks: {} above the noise\n\n", subtle.size());
  text += subtle.empty() ? "" : judges_table(subtle);
  const Rows below = chosen(results.faults, [](const FaultRow& row) { return !row.above; });
  text += fmt::format("### Below the noise, all networks and kinds: {}\n\n", below.size());
  text += below.empty() ? "" : judges_table(below);
  std::vector<std::string_view> kinds;
  for (const FaultKind& kind : fault_kinds()) {
    kinds.push_back(kind.name);
  }
  for (const Half& half : kHalves) {
    text += fmt::format("### Named first by kind, {}\n\n", half.title);
    text += named_table("fault", kinds, results, [&](const FaultRow& row, std::string_view key) {
      return row.kind == key && half.has(row.group);
    });
  }
  std::vector<std::string_view> names;
  for (const CatalogueEntry& entry : catalogue()) {
    names.push_back(entry.name);
  }
  text += "### Named first by network\n\n";
  return text +
         named_table("network", names, results, [](const FaultRow& row, std::string_view key) {
           return row.network == key && !row.subtle;
         });
}

std::string number(double value) {
  return fmt::format("{:.3g}", value);
}

std::string misses(const Results& results) {
  const Rows rows = chosen(results.faults, [](const FaultRow& row) {
    return row.above && row.opdrift.first != First::right;
  });
  std::string text = fmt::format(
      "### What opdrift does not name first: {}\n\n"
      "| network | run | fault | at | label there | q_own | z' | named first |\n"
      "|---|---|---|---|---|---|---|---|\n",
      rows.size());
  for (const FaultRow* row : rows) {
    text += fmt::format(
        "| {} | {} | {} | {} `{}`, {} elements | {} | {} | {} | {} |\n", row->network,
        row->format == Format::fp16 ? "fp16" : "bf16", row->kind, row->type, row->value,
        row->elements, verdict::to_string(row->judgement.label), number(row->judgement.q_own),
        number(row->judgement.z), row->first.empty() ? "nothing" : "`" + row->first + "`");
  }
  return text + "\n";
}

// ---- the rest

std::string networks_table(const Results& results) {
  std::string text =
      "## Networks\n\n| network | what | how it stands to the rule | tensors "
      "|\n|---|---|---|---|\n";
  for (const CatalogueEntry& entry : catalogue()) {
    const auto rows = chosen(results.clean, [&](const CleanRow& row) {
      return row.network == entry.name && row.variant == &variants().front();
    });
    if (!rows.empty()) {
      text += fmt::format("| {} | {} | {} | {} |\n", entry.name, entry.what, to_string(entry.group),
                          rows[0]->tensors);
    }
  }
  text += "\n| target | |\n|---|---|\n";
  for (const Variant& variant : variants()) {
    text += fmt::format("| {} | {} |\n", variant.name, variant.what);
  }
  return text + "\n";
}

std::string judgement_columns(const verdict::Judgement& judgement) {
  return fmt::format(
      "{}\t{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\t{:.4g}\t{:.3g}\t{:.3g}\t{:.3g}\t{:.3g}\t{:.3g}",
      verdict::to_string(judgement.label), verdict::to_string(judgement.tier),
      verdict::to_string(judgement.cause), judgement.q_own, judgement.z, judgement.q1, judgement.z1,
      judgement.own, judgement.rho, judgement.depth, judgement.inherited, judgement.relative);
}

}  // namespace

std::string markdown(const Results& results) {
  return fmt::format(
             "# Evaluation of the verdict\n\n"
             "Made by `bench/verdict/run.sh`; see README.md beside this file for how. Golden: ONNX "
             "Runtime {}, f32, unoptimised, every tensor.\n\n",
             results.runtime_version) +
         summary(results) + networks_table(results) + clean_tables(results) +
         clean_matrix(results) + not_run(results) + findings_table(results) +
         fault_tables(results) + misses(results);
}

std::string log_lines(const Results& results) {
  std::string text;
  for (const CleanRow& row : results.clean) {
    for (const Label& label : row.labels) {
      text += fmt::format("clean\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row.network, row.variant->name,
                          label.value, label.type, judgement_columns(label.judgement),
                          label.genuine ? 1 : 0, label.judgement.sentence);
    }
  }
  for (const FaultRow& row : results.faults) {
    text += fmt::format("fault\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row.network,
                        row.format == Format::fp16 ? "fp16" : "bf16", row.value, row.type,
                        judgement_columns(row.judgement), row.kind, row.above ? 1 : 0, row.first,
                        row.opdrift.others, right(row.opdrift), row.judgement.sentence);
  }
  return text;
}

}  // namespace opdrift::evaluation
