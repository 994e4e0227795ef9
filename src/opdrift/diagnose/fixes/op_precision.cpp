#include "opdrift/diagnose/fixes/op_precision.hpp"

#include <algorithm>
#include <iterator>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/keep_dtype.hpp"

namespace opdrift::diagnose::fixes {

namespace {

constexpr std::string_view kModes[] = {
    "high_precision",
    "high_performance",
    "enable_float_32_execution",
    "enable_hi_float_32_execution",
    "support_out_of_bound_index",
    "keep_fp16",
    "super_performance",
};

struct Section {
  std::string_view title;
  std::vector<PrecisionEntry> OpPrecision::*entries;
};
constexpr Section kSections[] = {{"[ByOpType]", &OpPrecision::by_type},
                                 {"[ByNodeName]", &OpPrecision::by_name}};

Error malformed(std::size_t line, const std::string& what) {
  return Error{ErrorCode::malformed, "line " + std::to_string(line) + ": " + what};
}

Result<PrecisionEntry> parse_entry(std::string_view line, std::size_t number) {
  const std::size_t cut = line.rfind('=');
  if (cut == std::string_view::npos || cut == 0) {
    return malformed(number, "expected NAME=MODE, found '" + printable(line) + "'");
  }
  const std::string_view mode = trim(line.substr(cut + 1));
  if (!is_precision_mode(mode)) {
    return malformed(number, "no mode is called '" + printable(mode) + "'");
  }
  return PrecisionEntry(trim(line.substr(0, cut)), mode);
}

}  // namespace

bool is_precision_mode(std::string_view mode) {
  return std::find(std::begin(kModes), std::end(kModes), mode) != std::end(kModes);
}

std::string write_op_precision(const OpPrecision& precision) {
  std::string text;
  for (const Section& section : kSections) {
    std::string lines;
    for (const auto& [name, mode] : precision.*(section.entries)) {
      lines += is_line(name) ? name + "=" + mode + "\n" : "";
    }
    text += lines.empty() ? "" : std::string(section.title) + "\n" + lines;
  }
  return text;
}

Result<OpPrecision> parse_op_precision(std::string_view text) {
  OpPrecision precision;
  std::vector<PrecisionEntry>* entries = nullptr;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    const auto* const section = std::find_if(std::begin(kSections), std::end(kSections),
                                             [&](const Section& one) { return one.title == line; });
    if (section != std::end(kSections)) {
      entries = &(precision.*(section->entries));
    } else if (!line.empty()) {
      if (entries == nullptr) {
        return malformed(number, "an entry before [ByOpType] or [ByNodeName]");
      }
      OPDRIFT_TRY(PrecisionEntry entry, parse_entry(line, number));
      entries->push_back(std::move(entry));
    }
  }
  return precision;
}

}  // namespace opdrift::diagnose::fixes
