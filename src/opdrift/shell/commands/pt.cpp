#include <algorithm>

#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/shell/commands/commands.hpp"
#include "opdrift/shell/commands/tensors.hpp"
#include "opdrift/shell/workspace/arrays.hpp"
#include "opdrift/shell/workspace/decode.hpp"

namespace opdrift::shell {

namespace {

constexpr std::uint64_t kPerRow = 8;
constexpr std::uint64_t kRows = 16;

constexpr OptionSpec kOptions[] = {
    {"-c", "--convert", "", "has no effect"},
};

/// The first values, eight to a row.
Table values_of(const ArrayFile& array) {
  Table table{"", {"Index", "Data"}, {}};
  const std::uint64_t shown = std::min(array.count(), kPerRow * kRows);
  for (std::uint64_t first = 0; first < shown; first += kPerRow) {
    std::string text;
    for (std::uint64_t k = first; k < std::min(first + kPerRow, shown); ++k) {
      text += (k == first ? "" : " ") + array.text(k);
    }
    table.rows.push_back({Span{std::to_string(first), Tone::green}, Span{text}});
  }
  return table;
}

Status show(Session& session, const std::string& path) {
  OPDRIFT_TRY(const ArrayFile array, ArrayFile::open(path));
  OPDRIFT_TRY(const std::string text_path, save_values(session, array));
  Paper inside = session.screen.paper();
  inside.columns = inside.columns > 16 ? inside.columns - 4 : 12;
  const Lines facts = {text_line(statistics_of(path), Tone::yellow),
                       {{"Path: "}, {path, Tone::green}},
                       {{"TxtFile: "}, {text_path, Tone::green}}};
  session.screen.print_panel(text_line(std::string(io::base_name(path))),
                             side_by_side({render(values_of(array), inside), facts}, inside));
  return Unit{};
}

Status run(Session& session, const CommandLine& line) {
  OPDRIFT_TRY(const std::vector<std::string> paths, find_arrays(session, line.names().front()));
  for (const std::string& path : paths) {
    if (session.stopping()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    const Status shown = show(session, path);
    if (!shown.has_value() && paths.size() == 1) {
      return shown;
    }
    if (!shown.has_value()) {
      session.screen.warn(shown.error());
    }
  }
  return Unit{};
}

}  // namespace

ShellCommand pt_command() {
  return {.name = "pt",
          .summary = "Shows a tensor: its first values and statistics.",
          .syntax = {.options = kOptions,
                     .names = "FILE",
                     .least_names = 1,
                     .most_names = 1,
                     .name_kind = NameKind::tensors},
          .run = &run,
          .help =
              "FILE is a path of an array or of a device dump, or the beginning of the name of "
              "an array that was decoded or dumped by the golden run. All values are written as "
              "text too."};
}

}  // namespace opdrift::shell
