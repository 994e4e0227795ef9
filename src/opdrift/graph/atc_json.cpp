#include "opdrift/graph/atc_json.hpp"

#include <optional>
#include <utility>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/graph/atc_builder.hpp"
#include "opdrift/graph/atc_json_handler.hpp"

namespace opdrift::graph {

namespace {

constexpr char kEscape = '\\';

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

/// The byte behind a one-letter escape, nothing for other letters.
std::optional<char> simple_escape(char letter) {
  switch (letter) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case '\\':
    case '"':
    case '\'': return letter;
    default: return std::nullopt;
  }
}

}  // namespace

std::string unescape_c(const std::string& text) {
  if (text.find(kEscape) == std::string::npos) {
    return text;
  }
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != kEscape) {
      plain += text[i];
      continue;
    }
    const std::string_view rest = std::string_view(text).substr(i + 1);
    if (rest.size() >= 3 && is_octal(rest[0]) && is_octal(rest[1]) && is_octal(rest[2])) {
      const int value = (rest[0] - '0') * 64 + (rest[1] - '0') * 8 + (rest[2] - '0');
      plain += static_cast<char>(static_cast<unsigned char>(value));
      i += 3;
      continue;
    }
    const std::optional<char> byte = rest.empty() ? std::nullopt : simple_escape(rest[0]);
    if (!byte) {
      return text;
    }
    plain += *byte;
    i += 1;
  }
  return is_utf8(plain) ? plain : text;
}

std::string escape_c(std::string_view bytes) {
  constexpr std::string_view kPlainEscapes = "\n\r\t\"'\\";
  constexpr std::string_view kLetters = "nrt\"'\\";
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const std::size_t simple = kPlainEscapes.find(c);
    const auto code = static_cast<unsigned char>(c);
    if (simple != std::string_view::npos) {
      text += kEscape;
      text += kLetters[simple];
    } else if (code < 0x20 || code >= 0x7F) {
      text += kEscape;
      text += static_cast<char>('0' + (code >> 6));
      text += static_cast<char>('0' + ((code >> 3) & 7));
      text += static_cast<char>('0' + (code & 7));
    } else {
      text += c;
    }
  }
  return text;
}

InputRef parse_input_entry(const std::string& entry) {
  InputRef ref;
  ref.text = entry;
  ref.well_formed = false;
  const std::size_t colon = entry.find(':');
  ref.producer = entry.substr(0, colon);
  if (colon == std::string::npos || colon == 0) {
    return ref;
  }
  const std::string_view number = std::string_view(entry).substr(colon + 1);
  const std::optional<std::uint64_t> index = parse_u64(number);
  if (!index || *index > static_cast<std::uint64_t>(kMaxOutputIndex)) {
    return ref;
  }
  ref.index = static_cast<int>(*index);
  ref.well_formed = true;
  return ref;
}

Result<Graph> read_atc_json(const std::string& path, const AtcJsonOptions& options) {
  OPDRIFT_TRY(const auto file, MappedFile::open(path));
  file->advise_sequential();
  return parse_atc_json(file->bytes(), path, options);
}

Result<Graph> parse_atc_json(ByteSpan text, const std::string& path,
                             const AtcJsonOptions& options) {
  Result<Graph> graph = run_atc_json_handler(text, options);
  if (!graph.has_value()) {
    graph.error().path = path;
    return graph;
  }
  graph->source_path = path;
  return graph;
}

}  // namespace opdrift::graph
