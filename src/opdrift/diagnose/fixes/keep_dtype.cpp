#include "opdrift/diagnose/fixes/keep_dtype.hpp"

#include <algorithm>

#include "opdrift/base/text.hpp"

namespace opdrift::diagnose::fixes {

namespace {

constexpr std::string_view kTypeMark = "OpType::";

void add_once(std::vector<std::string>& list, const std::string& entry) {
  if (std::find(list.begin(), list.end(), entry) == list.end()) {
    list.push_back(entry);
  }
}

}  // namespace

void KeepList::add_name(const std::string& name) {
  add_once(names, name);
}

bool is_line(std::string_view name) {
  return !trim(name).empty() && std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

std::string write_keep_dtype(const KeepList& list) {
  std::string text;
  for (const std::string& name : list.names) {
    text += is_line(name) ? name + "\n" : "";
  }
  for (const std::string& type : list.types) {
    text += is_line(type) ? std::string(kTypeMark) + type + "\n" : "";
  }
  return text;
}

KeepList parse_keep_dtype(std::string_view text) {
  KeepList list;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view entry = trim(line);
    if (entry.substr(0, kTypeMark.size()) == kTypeMark) {
      add_once(list.types, std::string(trim(entry.substr(kTypeMark.size()))));
    } else if (!entry.empty()) {
      list.add_name(std::string(entry));
    }
  }
  return list;
}

}  // namespace opdrift::diagnose::fixes
