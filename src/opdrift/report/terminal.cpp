#include "opdrift/report/terminal.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/base/wrap.hpp"
#include "opdrift/report/tensor_table.hpp"
#include "opdrift/report/text_table.hpp"

namespace opdrift::report {

namespace {

/// Columns before the text of the lines below the table.
constexpr std::size_t kMargin = 8;

std::string judged_headline(const verdict::RunVerdict& verdict, const TerminalStyle& style) {
  const bool pass = verdict.outcome == verdict::Outcome::pass;
  const bool fail = verdict.outcome == verdict::Outcome::fail;
  const std::string word = pass ? "PASS" : fail ? "FAIL" : "INCONCLUSIVE";
  const Tone tone = pass ? Tone::good : fail ? Tone::bad : Tone::odd;
  std::string text = painted(word, tone, style.colour) + "  " +
                     wrapped(printable(verdict.sentence), style.columns, word.size() + 2) + "\n";
  for (const verdict::Finding& finding : verdict.findings) {
    text += painted("finding", Tone::odd, style.colour) + " " +
            wrapped(printable(finding.sentence), style.columns, kMargin) + "\n";
  }
  return text;
}

std::string headline(const verdict::RunResult& result, const TerminalStyle& style) {
  const std::uint64_t failed = result.failed();
  const std::string count = std::to_string(result.tensors.size());
  std::string text;
  if (result.interrupted) {
    text += painted("INTERRUPTED", Tone::odd, style.colour) + "  partial result\n";
  }
  if (result.tensors.empty()) {
    return text + painted("NOTHING COMPARED", Tone::bad, style.colour) +
           "  no tensor of the target has a counterpart in the golden\n";
  }
  if (result.verdict) {
    return text + judged_headline(*result.verdict, style);
  }
  if (failed == 0) {
    return text + painted("AGREE", Tone::good, style.colour) +
           (count == "1" ? "  the tensor is" : "  all " + count + " tensors are") +
           " within the limits\n";
  }
  return text + painted("DIFFER", Tone::bad, style.colour) + "  " + std::to_string(failed) +
         " of " + count + " tensors are beyond the limits\n";
}

/// A result that is not whole is not as good as its first line.
std::string incomplete_line(const verdict::RunResult& result, const TerminalStyle& style) {
  const std::uint64_t unreadable = result.totals(verdict::RunSide::golden).unreadable +
                                   result.totals(verdict::RunSide::target).unreadable;
  return unreadable == 0
             ? std::string()
             : painted("UNREAD", Tone::bad, style.colour) + "  " + std::to_string(unreadable) +
                   (unreadable == 1 ? " file or tensor" : " files or tensors") +
                   " could not be read: what is in there was not compared\n";
}

/// Name and place of a tensor, then the reasons, one a line below.
std::string offender_block(std::string_view title, const verdict::TensorResult& tensor,
                           const TerminalStyle& style) {
  const std::string type =
      tensor.operator_type.empty() ? "" : " (" + printable(tensor.operator_type) + ")";
  const std::size_t margin = title.size() + 1;
  const auto line = [&](const std::string& sentence) {
    return "\n" + std::string(margin, ' ') + wrapped(printable(sentence), style.columns, margin);
  };
  std::string text = std::string(title) + " " +
                     painted(printable(tensor.operator_name), Tone::strong, style.colour) + type +
                     ", " + tensor.role + " " + std::to_string(tensor.index) + ", order " +
                     std::to_string(tensor.order) + line(tensor.reason);
  for (const verdict::Explanation& explanation : tensor.explanations) {
    text += line(explanation.sentence);
  }
  if (tensor.place && !tensor.place->sentence.empty()) {
    text += line(tensor.place->sentence);
  }
  return text + "\n";
}

/// The first divergence and those beside it; without a judgement the first failing tensor.
std::string offender_lines(const verdict::RunResult& result, const TerminalStyle& style) {
  if (!result.verdict) {
    const verdict::TensorResult* offender = result.first_offender();
    return offender == nullptr ? std::string()
                               : offender_block("First offender:", *offender, style);
  }
  constexpr std::size_t kInputsShown = 4;
  std::string text;
  std::size_t inputs = 0;
  for (const verdict::TensorResult& tensor : result.tensors) {
    const bool other = tensor.judgement && tensor.judgement->label == verdict::Label::watch &&
                       tensor.judgement->cause == verdict::Cause::different;
    if (other && result.verdict->inputs_differ && inputs++ < kInputsShown) {
      text += offender_block("Input:", tensor, style);
    }
  }
  for (const std::size_t row : result.verdict->first_divergence) {
    const bool first = row == result.verdict->first_divergence.front();
    text += offender_block(first ? "Culprit:" : "   also:", result.tensors[row], style);
  }
  return text;
}

std::string ledger_line(const verdict::RunResult& result, verdict::RunSide side) {
  const verdict::LedgerTotals totals = result.totals(side);
  std::string text = std::string(side == verdict::RunSide::golden ? "golden" : "target") + "  " +
                     std::to_string(totals.all()) + (totals.all() == 1 ? " entry: " : " entries: ");
  const std::array<std::pair<const char*, std::uint64_t>, 7> parts = {{
      {"equal", totals.equal},
      {"compared", totals.compared},
      {"unmatched", totals.unmatched},
      {"unreadable", totals.unreadable},
      {"superseded", totals.superseded},
      {"ignored", totals.ignored},
      {"skipped", totals.skipped},
  }};
  bool first = true;
  for (const auto& [name, count] : parts) {
    if (count > 0) {
      text += (first ? "" : ", ") + std::to_string(count) + " " + name;
      first = false;
    }
  }
  return text + "\n";
}

/// The first files and tensors that could not be read, with the reason.
std::string unreadable_lines(const verdict::RunResult& result, const TerminalStyle& style) {
  constexpr std::size_t kShown = 5;
  std::size_t found = 0;
  std::string text;
  for (const verdict::LedgerEntry& entry : result.ledger) {
    if (entry.state != verdict::LedgerState::unreadable || ++found > kShown) {
      continue;
    }
    std::string_view reason = entry.reason;
    if (const std::string own = entry.path + ": "; reason.substr(0, own.size()) == own) {
      reason.remove_prefix(own.size());
    }
    const std::string what =
        std::string(entry.side == verdict::RunSide::target ? "target " : "golden ") + entry.path +
        (entry.tensor.empty() ? "" : " (" + entry.tensor + ")") + ": " + std::string(reason);
    text += painted("unread", Tone::bad, style.colour) + "  " +
            wrapped(printable(what), style.columns, kMargin) + "\n";
  }
  if (found > kShown) {
    text +=
        "        and " + std::to_string(found - kShown) + " more, see the ledger of the result\n";
  }
  return text;
}

/// Where NaN and Inf come from, and the worst of what is about to make some.
std::string overflow_lines(const verdict::RunResult& result, const TerminalStyle& style) {
  constexpr std::size_t kShown = 3;
  std::string text;
  const auto add = [&](const std::string& sentence) {
    text += painted("range", Tone::odd, style.colour) + "   " +
            wrapped(printable(sentence), style.columns, kMargin) + "\n";
  };
  if (!result.overflow.sentence.empty()) {
    add(result.overflow.sentence);
  }
  for (const auto* notes : {&result.overflow.constants, &result.overflow.headroom}) {
    for (std::size_t i = 0; i < std::min(kShown, notes->size()); ++i) {
      add((*notes)[i].sentence);
    }
  }
  return text;
}

}  // namespace

std::string render_terminal(const verdict::RunResult& result, const TerminalStyle& style) {
  std::string text = headline(result, style);
  text += incomplete_line(result, style);
  text += offender_lines(result, style);
  if (!result.tensors.empty() && style.rows > 0) {
    text += "\n" + render_tensor_table(result, style);
  }
  text += "\n" + ledger_line(result, verdict::RunSide::target);
  text += ledger_line(result, verdict::RunSide::golden);
  text += unreadable_lines(result, style);
  text += overflow_lines(result, style);
  text += "rule    " + wrapped(printable(result.rule), style.columns, kMargin) + "\n";
  for (const std::string& note : result.notes) {
    text += painted("note", Tone::odd, style.colour) + "    " +
            wrapped(printable(note), style.columns, kMargin) + "\n";
  }
  return text;
}

}  // namespace opdrift::report
