#include "opdrift/pipeline/msprobe/table_file.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "opdrift/io/archive/deflate_archive.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/report/xlsx_parts.hpp"

namespace opdrift::pipeline {

namespace {

constexpr std::uint64_t kCsvRowsPerFile = 1'000'000;
constexpr std::uint64_t kSheetRows = 1'048'500;
constexpr std::size_t kPiecesAhead = 32;  // bounds memory: about 1 MB of text per piece

/// A part of the table that one thread rendered.
struct Piece {
  std::uint64_t rows = 0;
  std::string csv;
  io::DeflatedPiece xlsx;
  std::optional<Error> error;
};

/// Rows of one file or sheet: [first, end).
struct Section {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

std::vector<Section> sections_of(const TableSpec& spec) {
  const bool csv = spec.format == TableFormat::csv;
  const std::uint64_t limit = csv ? kCsvRowsPerFile : kSheetRows;
  const bool one = csv ? spec.rows <= limit : spec.rows < limit;
  if (one) {
    return {{0, spec.rows}};
  }
  std::uint64_t step = limit;
  if (!csv) {
    const std::uint64_t parts = spec.rows / limit + 1;
    step = (spec.rows + parts - 1) / parts;
  }
  std::vector<Section> sections;
  for (std::uint64_t first = 0; first < spec.rows; first += step) {
    sections.push_back({first, std::min(first + step, spec.rows)});
  }
  return sections;
}

/// The cuts that lie inside a section, with its ends.
RowCuts cuts_within(const RowCuts& cuts, const Section& section) {
  RowCuts inside = {section.first};
  for (const std::uint64_t cut : cuts) {
    if (cut > section.first && cut < section.end) {
      inside.push_back(cut);
    }
  }
  if (section.end > section.first) {
    inside.push_back(section.end);
  }
  return inside;
}

/// Brings pieces that threads finish in any order into one order. The thread that finds the next
/// piece ready hands it over; the others go on rendering, at most kPiecesAhead in front.
class OrderedPieces {
 public:
  explicit OrderedPieces(const std::function<Status(const Piece&)>& take) : take_(take) {}

  /// Holds back pieces too far ahead. False when rendering is in vain.
  bool wait_for_turn(std::size_t index) {
    std::unique_lock<std::mutex> lock(mutex_);
    moved_.wait(lock, [&] { return !status_ || index < next_ + kPiecesAhead; });
    return status_.has_value();
  }

  void add(std::size_t index, Piece piece) {
    std::unique_lock<std::mutex> lock(mutex_);
    ready_.emplace(index, std::move(piece));
    while (!taking_ && status_ && !ready_.empty() && ready_.begin()->first == next_) {
      const Piece next = std::move(ready_.extract(ready_.begin()).mapped());
      taking_ = true;
      lock.unlock();
      const Status taken = next.error ? Status(*next.error) : take_(next);
      lock.lock();
      taking_ = false;
      ++next_;
      status_ = taken;
      moved_.notify_all();
    }
  }

  Status status() const { return status_; }

 private:
  const std::function<Status(const Piece&)>& take_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::map<std::size_t, Piece> ready_;
  std::size_t next_ = 0;
  bool taking_ = false;
  Status status_ = Unit{};
};

class TableWriter {
 public:
  TableWriter(const TableSpec& spec, const RowCuts& cuts, const FillRows& fill,
              const WriteTableOptions& options)
      : spec_(spec), cuts_(cuts), fill_(fill), options_(options) {}

  Result<std::vector<std::string>> write() {
    const std::vector<Section> sections = sections_of(spec_);
    if (spec_.format == TableFormat::csv) {
      return write_csv(sections);
    }
    return write_xlsx(sections);
  }

 private:
  Result<std::vector<std::string>> write_csv(const std::vector<Section>& sections) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const std::string part = sections.size() == 1 ? "" : "_part_" + std::to_string(i + 1);
      paths.push_back(spec_.stem + part + ".csv");
      OPDRIFT_TRY(io::FileWriter file, io::FileWriter::create(paths.back()));
      std::string header;
      report::append_csv_header(spec_.columns, header);
      OPDRIFT_CHECK_OK(file.write(std::string_view(header)));
      OPDRIFT_CHECK_OK(pieces(sections[i], [&](const Piece& piece) {
        return file.write(std::string_view(piece.csv));
      }));
      OPDRIFT_CHECK_OK(file.commit());
    }
    return paths;
  }

  Result<std::vector<std::string>> write_xlsx(const std::vector<Section>& sections) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      names.push_back(sections.size() == 1 ? "Sheet1" : "part_" + std::to_string(i));
    }
    const std::string path = spec_.stem + ".xlsx";
    OPDRIFT_TRY(io::DeflateArchive archive, io::DeflateArchive::create(path));
    for (const auto& [name, content] : report::workbook_parts(names)) {
      OPDRIFT_CHECK_OK(archive.member(name, content));
    }
    for (std::size_t i = 0; i < sections.size(); ++i) {
      OPDRIFT_CHECK_OK(archive.begin(report::sheet_part_name(i)));
      std::string head(report::sheet_head());
      report::append_sheet_header(spec_.columns, head);
      OPDRIFT_TRY(const io::DeflatedPiece start, io::deflate_piece(head));
      OPDRIFT_CHECK_OK(archive.add(start));
      OPDRIFT_CHECK_OK(
          pieces(sections[i], [&](const Piece& piece) { return archive.add(piece.xlsx); }));
      OPDRIFT_TRY(const io::DeflatedPiece tail, io::deflate_piece(report::sheet_tail()));
      OPDRIFT_CHECK_OK(archive.add(tail));
      OPDRIFT_CHECK_OK(archive.end());
    }
    OPDRIFT_CHECK_OK(archive.finish());
    return std::vector<std::string>{path};
  }

  /// Renders a section in pieces and hands them over in order, while later ones are rendered.
  Status pieces(const Section& section, const std::function<Status(const Piece&)>& take) {
    const RowCuts cuts = cuts_within(cuts_, section);
    OrderedPieces ordered(take);
    parallel_for(
        cuts.size() - 1, options_.jobs,
        [&](std::size_t i) {
          if (ordered.wait_for_turn(i)) {
            ordered.add(i, render(cuts[i], cuts[i + 1], section.first));
          }
        },
        options_.cancel);
    if (options_.cancel != nullptr && options_.cancel->cancelled()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    return ordered.status();
  }

  Piece render(std::uint64_t first, std::uint64_t end, std::uint64_t section_first) const {
    Piece piece;
    piece.rows = end - first;
    report::CellBlock block(spec_.columns.size());
    const Status filled = fill_(first, piece.rows, block);
    if (!filled) {
      piece.error = filled.error();
      return piece;
    }
    if (const auto text = block.malicious_text()) {
      piece.error = Error{ErrorCode::malformed, "Malicious value [" + *text +
                                                    "] not allowed to be "
                                                    "written into the result"};
      return piece;
    }
    if (spec_.format == TableFormat::csv) {
      report::append_csv(block, piece.csv);
      return piece;
    }
    std::string xml;
    report::append_sheet_rows(block, first - section_first + 2, xml);  // row 1 is the header
    Result<io::DeflatedPiece> deflated = io::deflate_piece(xml);
    if (deflated) {
      piece.xlsx = std::move(deflated).value();
    } else {
      piece.error = deflated.error();
    }
    return piece;
  }

  const TableSpec& spec_;
  const RowCuts& cuts_;
  const FillRows& fill_;
  const WriteTableOptions& options_;
};

}  // namespace

RowCuts even_cuts(std::uint64_t rows, std::uint64_t step) {
  RowCuts cuts = {0};
  for (std::uint64_t cut = step; cut < rows; cut += step) {
    cuts.push_back(cut);
  }
  if (rows > 0) {
    cuts.push_back(rows);
  }
  return cuts;
}

Result<std::vector<std::string>> write_table(const TableSpec& spec, const RowCuts& cuts,
                                             const FillRows& fill,
                                             const WriteTableOptions& options) {
  return TableWriter(spec, cuts, fill, options).write();
}

Status write_workbook(const std::string& path, const std::vector<NamedSheet>& sheets) {
  std::vector<std::string> names;
  for (const NamedSheet& sheet : sheets) {
    names.push_back(sheet.name);
    if (const auto text = sheet.rows.malicious_text()) {
      return Error{ErrorCode::malformed,
                   "Malicious value [" + *text + "] not allowed to be written into the result"};
    }
  }
  OPDRIFT_TRY(io::DeflateArchive archive, io::DeflateArchive::create(path));
  for (const auto& [name, content] : report::workbook_parts(names)) {
    OPDRIFT_CHECK_OK(archive.member(name, content));
  }
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    std::string xml(report::sheet_head());
    report::append_sheet_header(sheets[i].columns, xml);
    report::append_sheet_rows(sheets[i].rows, 2, xml);
    xml += report::sheet_tail();
    OPDRIFT_CHECK_OK(archive.member(report::sheet_part_name(i), xml));
  }
  return archive.finish();
}

}  // namespace opdrift::pipeline
