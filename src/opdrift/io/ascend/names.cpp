#include "opdrift/io/ascend/names.hpp"

#include <algorithm>
#include <limits>

#include "opdrift/base/text.hpp"

namespace opdrift::io {

namespace {

constexpr std::size_t kMaxTimeDigits = 255;
constexpr std::size_t kMaxPluginWord = 128;
constexpr std::string_view kNpySuffix = ".npy";
constexpr std::string_view kSliceMark = "_lxslice";
constexpr std::string_view kSubgraphMark = "_sgt_graph";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word_char(char c) {
  return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool is_name_char(char c) {
  return is_word_char(c) || c == '-';
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_name_char);
}

bool is_chars(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_name_char(c) || c == '.'; });
}

bool is_time(std::string_view text) {
  return is_digits(text) && text.size() <= kMaxTimeDigits;
}

/// Steps through a name from the front; a failed step leaves the position alone.
class NameCursor {
 public:
  explicit NameCursor(std::string_view text) : text_(text) {}

  std::size_t position() const { return position_; }
  void back_to(std::size_t position) { position_ = position; }
  std::string_view from(std::size_t begin) const { return text_.substr(begin, position_ - begin); }

  bool dot() {
    const bool found = position_ < text_.size() && text_[position_] == '.';
    position_ += found ? 1 : 0;
    return found;
  }
  std::string_view take(bool (*accept)(char), std::size_t most = std::string_view::npos) {
    const std::size_t begin = position_;
    while (position_ < text_.size() && position_ - begin < most && accept(text_[position_])) {
      ++position_;
    }
    return text_.substr(begin, position_ - begin);
  }
  std::string_view name() { return take(is_name_char); }
  std::string_view digits() { return take(is_digit); }
  std::string_view time() { return take(is_digit, kMaxTimeDigits); }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

std::string_view without_newline(std::string_view name) {
  return name.ends_with('\n') ? name.substr(0, name.size() - 1) : name;
}

/// Cuts the last dot-part off `text`; "" when there is no dot.
std::string_view cut_last_part(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) {
    return {};
  }
  const std::string_view part = text.substr(dot + 1);
  text = text.substr(0, dot);
  return part;
}

/// `.NUM` once, or nothing.
std::optional<std::string_view> dotted_number(NameCursor& cursor) {
  const std::size_t begin = cursor.position();
  if (!cursor.dot() || cursor.digits().empty()) {
    cursor.back_to(begin);
    return std::nullopt;
  }
  return cursor.from(begin);
}

/// `.TIME`; false leaves the cursor alone.
bool dotted_time(NameCursor& cursor) {
  const std::size_t begin = cursor.position();
  if (!cursor.dot() || cursor.time().empty()) {
    cursor.back_to(begin);
    return false;
  }
  return true;
}

std::optional<NameGroups> match_offline(std::string_view name) {
  NameCursor cursor(name);
  if (cursor.name().empty() || !cursor.dot()) {
    return std::nullopt;
  }
  const std::string_view op = cursor.name();
  if (op.empty() || !cursor.dot() || cursor.digits().empty()) {
    return std::nullopt;
  }
  NameGroups groups = {op, std::nullopt, std::nullopt, std::nullopt};
  const std::size_t after_task = cursor.position();
  groups[1] = dotted_number(cursor);
  if (!dotted_time(cursor)) {
    groups[1] = std::nullopt;
    cursor.back_to(after_task);
    if (!dotted_time(cursor)) {
      return std::nullopt;
    }
  }
  const std::size_t after_time = cursor.position();
  if (dotted_number(cursor) && dotted_number(cursor) && dotted_number(cursor)) {
    groups[2] = cursor.from(after_time);
  } else {
    cursor.back_to(after_time);
  }
  groups[3] = dotted_number(cursor);
  return groups;
}

/// `(NUM)[.][(NUM)].(TIME)`: with a stream id, with a lone dot in its place, or without.
bool match_task(NameCursor& cursor, NameGroups& groups) {
  const std::string_view task = cursor.digits();
  if (task.empty()) {
    return false;
  }
  const std::size_t after_task = cursor.position();
  std::optional<std::string_view> stream;
  if (cursor.dot()) {
    const std::string_view digits = cursor.digits();
    stream = digits.empty() ? std::nullopt : std::optional(digits);
  }
  std::size_t time_begin = cursor.position() + 1;
  if (!dotted_time(cursor)) {
    stream = std::nullopt;
    cursor.back_to(after_task);
    time_begin = after_task + 1;
    if (!dotted_time(cursor)) {
      return false;
    }
  }
  groups.insert(groups.end(), {task, stream, cursor.from(time_begin)});
  return true;
}

std::optional<NameGroups> match_dump(std::string_view name, bool debug_only) {
  NameCursor cursor(name);
  const std::string_view type = cursor.name();
  if (type.empty() || !cursor.dot()) {
    return std::nullopt;
  }
  const std::string_view op = cursor.name();
  if (op.empty() || !cursor.dot()) {
    return std::nullopt;
  }
  if (debug_only && (type != "Opdebug" || op != "Node_OpDebug")) {
    return std::nullopt;
  }
  NameGroups groups = {type, op};
  if (!match_task(cursor, groups)) {
    return std::nullopt;
  }
  for (int i = 0; i < 4; ++i) {
    cursor.dot();
    const std::string_view digits = cursor.digits();
    groups.push_back(digits.empty() ? std::nullopt : std::optional(digits));
  }
  return groups;
}

/// `(STEM.NUM).TIME.suffix`, STEM one NAME or any CHARS.
std::optional<NameGroups> match_framework(std::string_view name, std::string_view suffix,
                                          bool (*accept)(std::string_view)) {
  std::string_view rest = without_newline(name);
  if (cut_last_part(rest) != suffix || !is_time(cut_last_part(rest))) {
    return std::nullopt;
  }
  const std::string_view key = rest;
  if (!is_digits(cut_last_part(rest)) || !accept(rest)) {
    return std::nullopt;
  }
  return NameGroups{key};
}

std::optional<NameGroups> match_standard_numpy(std::string_view name) {
  const std::string_view whole = without_newline(name);
  if (!match_framework(name, "npy", is_chars)) {
    return std::nullopt;
  }
  return NameGroups{whole.substr(0, whole.size() - kNpySuffix.size())};
}

std::optional<NameGroups> match_offline_numpy(std::string_view name) {
  std::string_view rest = without_newline(name);
  const std::string_view suffix = cut_last_part(rest);
  if (suffix != "npy" && suffix != "data" && suffix != "bin" && suffix != "txt") {
    return std::nullopt;
  }
  if (!is_digits(cut_last_part(rest))) {
    return std::nullopt;
  }
  const std::string_view key = rest;
  if (!is_time(cut_last_part(rest)) || !is_digits(cut_last_part(rest)) ||
      !is_name(cut_last_part(rest)) || !is_name(rest)) {
    return std::nullopt;
  }
  return NameGroups{key, suffix};
}

bool is_plugin_word(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPluginWord &&
         std::all_of(text.begin(), text.end(), is_word_char);
}

std::optional<NameGroups> match_plugin(std::string_view name) {
  std::string_view module = without_newline(name);
  const std::string_view suffix = cut_last_part(module);
  constexpr std::string_view kPrefix = "convert_";
  if ((suffix != "py" && suffix != "pyc") || !module.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::string_view words = module.substr(kPrefix.size());
  for (std::size_t at = words.find("_to_"); at != std::string_view::npos;
       at = words.find("_to_", at + 1)) {
    if (is_plugin_word(words.substr(0, at)) && is_plugin_word(words.substr(at + 4))) {
      return NameGroups{module};
    }
  }
  return std::nullopt;
}

std::uint64_t number_of(std::string_view digits) {
  return parse_u64(digits).value_or(std::numeric_limits<std::uint64_t>::max());
}

/// The next `mark<digits>` from `begin` on, as [first, second); npos when there is none.
std::pair<std::size_t, std::size_t> find_numbered(std::string_view text, std::string_view mark,
                                                  std::size_t begin) {
  for (std::size_t at = text.find(mark, begin); at != std::string_view::npos;
       at = text.find(mark, at + 1)) {
    std::size_t end = at + mark.size();
    while (end < text.size() && is_digit(text[end])) {
      ++end;
    }
    if (end > at + mark.size()) {
      return {at, end};
    }
  }
  return {std::string_view::npos, std::string_view::npos};
}

std::string_view behind_subgraph(std::string_view name) {
  if (name.find(kSubgraphMark) == std::string_view::npos) {
    return name;
  }
  std::size_t last_end = std::string_view::npos;
  for (auto found = find_numbered(name, "sgt_graph_", 0); found.first != std::string_view::npos;
       found = find_numbered(name, "sgt_graph_", found.second)) {
    last_end = found.second;
  }
  return last_end >= name.size() ? name : name.substr(last_end + 1);
}

}  // namespace

std::optional<NameGroups> match_name(NamePattern pattern, std::string_view name) {
  switch (pattern) {
    case NamePattern::offline: return match_offline(name);
    case NamePattern::standard: return match_framework(name, "pb", is_name);
    case NamePattern::quant: return match_framework(name, "quant", is_name);
    case NamePattern::numpy: return match_framework(name, "npy", is_chars);
    case NamePattern::standard_numpy: return match_standard_numpy(name);
    case NamePattern::offline_numpy: return match_offline_numpy(name);
    case NamePattern::dump: return match_dump(name, false);
    case NamePattern::debug: return match_dump(name, true);
    case NamePattern::plugin: return match_plugin(name);
  }
  return std::nullopt;
}

std::optional<DumpName> parse_dump_name(std::string_view name) {
  const std::optional<NameGroups> groups = match_name(NamePattern::dump, name);
  if (!groups) {
    return std::nullopt;
  }
  DumpName parsed;
  parsed.op_type = *(*groups)[0];
  parsed.op_name = *(*groups)[1];
  parsed.task_id = number_of(*(*groups)[2]);
  parsed.time = *(*groups)[4];
  if ((*groups)[3]) {
    parsed.stream_id = number_of(*(*groups)[3]);
  }
  for (std::size_t i = 0; i < parsed.extra.size(); ++i) {
    if ((*groups)[5 + i]) {
      parsed.extra[i] = number_of(*(*groups)[5 + i]);
    }
  }
  return parsed;
}

Result<SliceMode> slice_mode_of(std::string_view name) {
  constexpr std::size_t kShortParts = 5;
  if (name.ends_with(kNpySuffix)) {
    return SliceMode::normal;
  }
  const std::vector<std::string_view> parts = split(name, '.');
  if (parts.size() <= kShortParts) {
    return SliceMode::normal;
  }
  const std::string_view type = parts[parts.size() - 4];
  if (type.size() != 1 || type.front() < '0' || type.front() > '4') {
    return Error{ErrorCode::bad_task_type, "task type in " + std::string(name) +
                                               ": expected 0 to 4, found " + std::string(type)};
  }
  if (type.front() != '4') {
    return SliceMode::normal;
  }
  return name.find(kSliceMark) != std::string_view::npos ? SliceMode::manual : SliceMode::automatic;
}

std::string without_lxslice(std::string_view op_name) {
  std::string kept;
  std::size_t begin = 0;
  for (auto found = find_numbered(op_name, kSliceMark, 0); found.first != std::string_view::npos;
       found = find_numbered(op_name, kSliceMark, found.second)) {
    kept += op_name.substr(begin, found.first - begin);
    begin = found.second;
  }
  return kept + std::string(op_name.substr(begin));
}

std::string clean_op_name(std::string_view op_name, bool has_fusion_rule) {
  if (has_fusion_rule && op_name.find(kSliceMark) != std::string_view::npos) {
    return without_lxslice(op_name);
  }
  const auto [first, end] = find_numbered(op_name, "lxslice", 0);
  const bool at_end = end == op_name.size();
  if (at_end && first > 0 && op_name[first - 1] == '_') {
    op_name = op_name.substr(0, first - 1);
  }
  return std::string(behind_subgraph(op_name));
}

bool is_quantised_op(std::string_view op_key) {
  // Every other mark of a quantised model (_quant_layer, _weight_quant, ...) contains one of these.
  constexpr std::array<std::string_view, 6> kMarks = {
      "_quant", "_dequant", "AscendQuant", "AscendWeightQuant", "AscendDequant", "AntiQuant"};
  return std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
    return op_key.find(mark) != std::string_view::npos;
  });
}

std::string file_key(std::string_view op_name) {
  std::string key(op_name);
  std::replace_if(
      key.begin(), key.end(), [](char c) { return c == '/' || c == '.'; }, '_');
  return key;
}

}  // namespace opdrift::io
