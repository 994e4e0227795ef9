#include "opdrift/io/msprobe/xlsx_reader.hpp"

#include <expat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/archive/zip_archive.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::io {

namespace {

constexpr std::size_t kMaxColumns = 16384;
constexpr std::size_t kMaxTextBytes = 1 << 20;
constexpr std::size_t kFeedBytes = 1 << 20;

/// Callbacks of one XML part. Names come without namespace prefixes.
class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual void start(std::string_view name, const XML_Char** attributes) = 0;
  virtual void end(std::string_view name) = 0;
  virtual void text(std::string_view text) = 0;
  /// Set to stop.
  std::optional<Error> error;
};

std::string_view local_name(const XML_Char* name) {
  const std::string_view full(name);
  const std::size_t colon = full.rfind(':');
  return colon == std::string_view::npos ? full : full.substr(colon + 1);
}

std::string_view attribute(const XML_Char** attributes, std::string_view name) {
  for (; attributes[0] != nullptr; attributes += 2) {
    if (local_name(attributes[0]) == name) {
      return attributes[1];
    }
  }
  return {};
}

Status parse_xml(ByteSpan bytes, XmlHandler& handler) {
  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr),
                                                                       &XML_ParserFree);
  if (parser == nullptr) {
    return Error{ErrorCode::out_of_memory, "no memory for an XML parser"};
  }
  XML_SetUserData(parser.get(), &handler);
  XML_SetElementHandler(
      parser.get(),
      [](void* user, const XML_Char* name, const XML_Char** attributes) {
        static_cast<XmlHandler*>(user)->start(local_name(name), attributes);
      },
      [](void* user, const XML_Char* name) {
        static_cast<XmlHandler*>(user)->end(local_name(name));
      });
  XML_SetCharacterDataHandler(parser.get(), [](void* user, const XML_Char* text, int length) {
    static_cast<XmlHandler*>(user)->text({text, static_cast<std::size_t>(length)});
  });
  for (std::size_t done = 0; done <= bytes.size();) {
    const std::size_t count = std::min(kFeedBytes, bytes.size() - done);
    const bool last = done + count == bytes.size();
    const auto* data = reinterpret_cast<const char*>(bytes.data()) + done;
    if (XML_Parse(parser.get(), data, static_cast<int>(count), last ? 1 : 0) != XML_STATUS_OK) {
      Error error{ErrorCode::malformed,
                  std::string("not valid XML: ") + XML_ErrorString(XML_GetErrorCode(parser.get()))};
      error.offset = static_cast<std::uint64_t>(XML_GetCurrentByteIndex(parser.get()));
      return error;
    }
    if (handler.error) {
      return *handler.error;
    }
    if (last) {
      break;
    }
    done += count;
  }
  return Unit{};
}

/// <sst><si><t>..</t></si><si><r><t>..</t></r>..</si></sst>; phonetic runs (rPh) are no content.
class SharedTexts : public XmlHandler {
 public:
  void start(std::string_view name, const XML_Char** attributes) override {
    static_cast<void>(attributes);
    if (name == "si") {
      texts.emplace_back();
    }
    phonetic_ += name == "rPh" ? 1 : 0;
    inside_ = name == "t" && phonetic_ == 0 && !texts.empty();
  }
  void end(std::string_view name) override {
    inside_ = inside_ && name != "t";
    phonetic_ -= name == "rPh" ? 1 : 0;
  }
  void text(std::string_view text) override {
    if (inside_) {
      texts.back() += text;
    }
  }
  std::vector<std::string> texts;

 private:
  bool inside_ = false;
  int phonetic_ = 0;
};

/// "AB12" -> 27.
std::optional<std::size_t> column_of(std::string_view reference) {
  std::size_t column = 0;
  std::size_t letters = 0;
  while (letters < reference.size() && reference[letters] >= 'A' && reference[letters] <= 'Z') {
    column = column * 26 + static_cast<std::size_t>(reference[letters] - 'A') + 1;
    if (++letters > 3) {
      return std::nullopt;
    }
  }
  return letters == 0 ? std::nullopt : std::optional(column - 1);
}

class SheetRows : public XmlHandler {
 public:
  SheetRows(const std::vector<std::string>& shared, const XlsxRowSink& sink)
      : shared_(shared), sink_(sink) {}

  void start(std::string_view name, const XML_Char** attributes) override {
    if (name == "row") {
      row_.clear();
      next_ = 0;
    } else if (name == "c") {
      begin_cell(attributes);
    } else if (name == "v" || name == "t") {
      inside_ = true;
    }
  }

  void end(std::string_view name) override {
    if (name == "v" || name == "t") {
      inside_ = false;
    } else if (name == "c") {
      end_cell();
    } else if (name == "row" && !row_.empty() && !error) {
      const Status status = sink_(row_);
      if (!status) {
        error = status.error();
      }
    }
  }

  void text(std::string_view text) override {
    if (!inside_ || error) {
      return;
    }
    if (content_.size() + text.size() > kMaxTextBytes) {
      error = Error{ErrorCode::limit, "expected at most 1 MiB of text in a cell"};
      return;
    }
    content_ += text;
  }

 private:
  void begin_cell(const XML_Char** attributes) {
    type_ = attribute(attributes, "t");
    const auto column = column_of(attribute(attributes, "r"));
    next_ = column.value_or(next_);
    content_.clear();
    if (next_ >= kMaxColumns) {
      error = Error{ErrorCode::malformed, "expected at most 16384 columns"};
    }
  }

  void end_cell() {
    if (error || next_ >= kMaxColumns) {
      return;
    }
    row_.resize(std::max(row_.size(), next_ + 1));
    XlsxCell& cell = row_[next_++];
    if (type_ == "s") {
      const auto index = parse_u64(content_);
      cell.kind = XlsxCell::Kind::text;
      if (!index || *index >= shared_.size()) {
        error = Error{ErrorCode::malformed, "a cell names a shared text that does not exist"};
        return;
      }
      cell.text = shared_[static_cast<std::size_t>(*index)];
    } else if (type_ == "inlineStr" || type_ == "str" || type_ == "e") {
      cell.kind = XlsxCell::Kind::text;
      cell.text = content_;
    } else if (!content_.empty()) {
      cell.kind = type_ == "b" ? XlsxCell::Kind::boolean : XlsxCell::Kind::number;
      cell.text = content_;
    }
  }

  const std::vector<std::string>& shared_;
  const XlsxRowSink& sink_;
  XlsxRow row_;
  std::size_t next_ = 0;
  std::string type_;
  std::string content_;
  bool inside_ = false;
};

Result<Bytes> part(const ZipArchive& archive, std::string_view name, bool required) {
  const auto& members = archive.members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].name == name) {
      return archive.load(i);
    }
  }
  if (required) {
    return Error{ErrorCode::malformed, "expected a workbook: no member " + std::string(name)};
  }
  return Bytes{};
}

Status read_archive(const ZipArchive& archive, const XlsxRowSink& sink) {
  SharedTexts shared;
  OPDRIFT_TRY(const Bytes texts, part(archive, "xl/sharedStrings.xml", false));
  if (texts.size() > 0) {
    OPDRIFT_CHECK_OK(parse_xml(texts.span, shared));
  }
  OPDRIFT_TRY(const Bytes sheet, part(archive, "xl/worksheets/sheet1.xml", true));
  SheetRows rows(shared.texts, sink);
  return parse_xml(sheet.span, rows);
}

}  // namespace

Status read_xlsx(const std::string& path, const XlsxRowSink& sink) {
  OPDRIFT_TRY(Bytes file, map_file(path));
  if (!is_zip(file.span)) {
    return Error{ErrorCode::malformed, "expected a workbook (a zip archive)", path};
  }
  const auto archive = ZipArchive::open(std::move(file));
  if (!archive) {
    return in_file(archive.error(), path);
  }
  return in_file(read_archive(**archive, sink), path);
}

}  // namespace opdrift::io
