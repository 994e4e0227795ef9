#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/convert/convert.hpp"
#include "opdrift/shell/commands/commands.hpp"
#include "opdrift/shell/workspace/decode.hpp"
#include "opdrift/shell/workspace/dump_files.hpp"
#include "opdrift/tensor/format.hpp"

namespace opdrift::shell {

namespace {

constexpr OptionSpec kOptions[] = {
    {"-f", "--format", "FORMAT", "bring the tensors into this format, as NCHW or ND"},
    {"-o", "--output", "DIR", "folder of the arrays; temp/decode/dump_convert by default"},
};

/// A dump to decode and the name it goes by.
struct Source {
  std::string path;
  std::string name;
};

Source source_of(const std::string& path) {
  return {path, std::string(io::base_name(path))};
}

/// Dumps of the workspace whose file or operator has that name.
std::vector<Source> by_name(const Session& session, const std::string& name) {
  const std::string flat = replace_all(replace_all(name, "/", "_"), ".", "_");
  std::vector<Source> found;
  for (const int id : kDebugIds) {
    for (const DeviceFile& file : device_files_of(session.workspace, id)) {
      if (!file.statistics && (file.name == name || file.op_name == flat)) {
        found.push_back({file.path, file.name});
      }
    }
  }
  return found;
}

Result<std::vector<Source>> sources_of(const Session& session, const std::string& name) {
  if (is_file(name)) {
    return std::vector<Source>{source_of(name)};
  }
  std::vector<Source> found;
  if (is_folder(name)) {
    for (const DeviceFile& file : device_files(name)) {
      if (!file.statistics) {
        found.push_back({file.path, file.name});
      }
    }
  } else {
    found = by_name(session, name);
  }
  if (found.empty()) {
    return Error{ErrorCode::not_found,
                 "no device dump is there or has that name: '" + printable(name) + "'"};
  }
  return found;
}

Status decode(Session& session, const Source& source, const DecodeRequest& request) {
  DecodeRequest one = request;
  one.path = source.path;
  one.name = source.name;
  OPDRIFT_TRY(const std::vector<DecodedTensor> tensors, decode_dump(session, one));
  Lines lines = {{{"SrcFile: "}, {source.path}}};
  for (const DecodedTensor& tensor : tensors) {
    lines.push_back({{" - "}, {tensor.path, Tone::green}});
  }
  session.screen.print_panel(text_line(""), lines);
  return Unit{};
}

Status run(Session& session, const CommandLine& line) {
  DecodeRequest request;
  request.folder = line.text("-o", session.workspace.path("temp/decode/dump_convert"));
  if (line.has("-f")) {
    request.format = tensor::format_by_name(line.text("-f"));
    if (!request.format) {
      return Error{ErrorCode::invalid_argument,
                   "option -f: expected a format as NCHW, NHWC or ND, found '" +
                       printable(line.text("-f")) + "'"};
    }
  }
  OPDRIFT_TRY(const std::vector<Source> sources, sources_of(session, line.names().front()));
  std::size_t failed = 0;
  for (const Source& source : sources) {
    if (session.stopping()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    const Status done = decode(session, source, request);
    if (!done.has_value()) {
      session.screen.warn(done.error());
      ++failed;
    }
  }
  return failed == sources.size()
             ? Status(Error{ErrorCode::conversion_failed, "nothing could be decoded"})
             : Status(Unit{});
}

}  // namespace

ShellCommand dc_command() {
  return {.name = "dc",
          .summary = "Decodes device dumps to npy files.",
          .syntax = {.options = kOptions,
                     .names = "NAME",
                     .least_names = 1,
                     .most_names = 1,
                     .name_kind = NameKind::files},
          .run = &run,
          .help =
              "NAME is a dump file, a folder of them, the name of a dump of the workspace, or "
              "an operator."};
}

}  // namespace opdrift::shell
