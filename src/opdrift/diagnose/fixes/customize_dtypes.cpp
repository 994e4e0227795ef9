#include "opdrift/diagnose/fixes/customize_dtypes.hpp"

#include <algorithm>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/keep_dtype.hpp"

namespace opdrift::diagnose::fixes {

namespace {

constexpr std::string_view kTypeMark = "OpType::";
constexpr std::string_view kInputs = "InputDtype:";
constexpr std::string_view kOutputs = "OutputDtype:";

std::string types_text(const CustomDtypes& entry) {
  std::string text;
  if (!entry.inputs.empty()) {
    text = std::string(kInputs) + join(entry.inputs, ",");
  }
  if (!entry.outputs.empty()) {
    text += (text.empty() ? "" : ",") + std::string(kOutputs) + join(entry.outputs, ",");
  }
  return text;
}

/// Where the types begin, npos when there are none.
std::size_t types_at(std::string_view line) {
  return std::min(line.find(kInputs), line.find(kOutputs));
}

void add_types(std::string_view text, CustomDtypes& entry) {
  std::vector<std::string>* list = &entry.inputs;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    for (const auto& [mark, target] :
         {std::pair(kInputs, &entry.inputs), std::pair(kOutputs, &entry.outputs)}) {
      if (word.substr(0, mark.size()) == mark) {
        list = target;
        word = trim(word.substr(mark.size()));
        break;
      }
    }
    if (!word.empty()) {
      list->emplace_back(word);
    }
  }
}

Result<CustomDtypes> parse_entry(std::string_view line, std::size_t number) {
  const std::size_t types = types_at(line);
  CustomDtypes entry;
  entry.by_type = line.substr(0, kTypeMark.size()) == kTypeMark;
  const std::string_view mark = entry.by_type ? ":" : "::";
  const std::size_t start = entry.by_type ? kTypeMark.size() : 0;
  if (types == std::string_view::npos || types < start + mark.size() + 1 ||
      line.substr(types - mark.size(), mark.size()) != mark) {
    return Error{ErrorCode::malformed,
                 "line " + std::to_string(number) +
                     ": expected NAME::InputDtype:…,OutputDtype:… or OpType::TYPE:InputDtype:…"};
  }
  entry.name = line.substr(start, types - mark.size() - start);
  add_types(line.substr(types), entry);
  return entry;
}

}  // namespace

CustomDtypes all_float32(const std::string& name, std::size_t inputs, std::size_t outputs) {
  CustomDtypes entry;
  entry.name = name;
  entry.inputs.assign(inputs, "float32");
  entry.outputs.assign(outputs, "float32");
  return entry;
}

std::string write_customize_dtypes(const std::vector<CustomDtypes>& entries) {
  std::string text;
  for (const CustomDtypes& entry : entries) {
    const std::string types = types_text(entry);
    if (is_line(entry.name) && !types.empty()) {
      text += entry.by_type ? std::string(kTypeMark) + entry.name + ":" : entry.name + "::";
      text += types + "\n";
    }
  }
  return text;
}

Result<std::vector<CustomDtypes>> parse_customize_dtypes(std::string_view text) {
  std::vector<CustomDtypes> entries;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (!line.empty()) {
      OPDRIFT_TRY(CustomDtypes entry, parse_entry(line, number));
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace opdrift::diagnose::fixes
