#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opdrift {

/// Splits at every `separator`; "a..b" gives three parts, "" gives one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The reverse of split.
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Replaces every occurrence of `from` by `to`.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

/// Text without blanks, tabs and line ends at either side.
std::string_view trim(std::string_view text);

/// ASCII lower case; other bytes are kept.
std::string to_lower(std::string_view text);

/// True when `text` is one or more decimal digits and nothing else.
bool is_digits(std::string_view text);

/// The whole of `text` as a decimal number, or nothing (sign, blank, overflow, rest).
std::optional<std::uint64_t> parse_u64(std::string_view text);
std::optional<std::int64_t> parse_i64(std::string_view text);
std::optional<double> parse_double(std::string_view text);

/// True for well-formed UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

/// `text` without the bytes that keep it from being UTF-8.
std::string without_bad_utf8(std::string_view text);

/// Text made safe for one line of a terminal: control characters and malformed UTF-8 bytes become
/// `\xNN`, everything else (Chinese names included) stays.
std::string printable(std::string_view text);

/// Columns a terminal needs for UTF-8 text (East Asian wide characters take two).
std::size_t display_width(std::string_view text);

/// Cuts UTF-8 text in the middle so that it needs at most `columns`, marking the cut with `…`.
std::string ellipsize_middle(std::string_view text, std::size_t columns);

/// "; did you mean 'cosine' or 'cosine_distance'?" out of the candidates that begin like `word`,
/// contain it, or are a few typing errors away; "" when none is near. Case is ignored.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

/// Bytes for people: "1.5 GB", "312 kB" (decimal units).
std::string human_bytes(std::uint64_t bytes);

}  // namespace opdrift
