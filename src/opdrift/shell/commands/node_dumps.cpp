#include "opdrift/shell/commands/node_dumps.hpp"

#include <algorithm>
#include <tuple>

#include "opdrift/shell/workspace/decode.hpp"
#include "opdrift/shell/workspace/dump_files.hpp"

namespace opdrift::shell {

namespace {

/// One tensor of a dump.
struct ShownTensor {
  io::TensorRole role = io::TensorRole::output;
  std::uint32_t index = 0;
  std::size_t turn = 0;  ///< of the file among those of the operator
  std::string path;
  std::string statistics;
};

void add_tensor(const ShownTensor& tensor, const Paper& paper, Lines& lines) {
  lines.push_back(
      {{" -"}, {"[" + std::to_string(tensor.index) + "]", Tone::green}, {" " + tensor.path}});
  if (!tensor.statistics.empty()) {
    lines.push_back({{"  " + std::string(paper.last_branch())}, {tensor.statistics, Tone::yellow}});
  }
}

void add_section(const std::string& title, const std::vector<ShownTensor>& tensors,
                 io::TensorRole role, const Paper& paper, Lines& lines) {
  bool any = false;
  for (const ShownTensor& tensor : tensors) {
    if (tensor.role != role) {
      continue;
    }
    if (!any) {
      lines.push_back(text_line(title));
    }
    any = true;
    add_tensor(tensor, paper, lines);
  }
}

/// Tensors of one dump file. What cannot be read is warned about.
std::vector<ShownTensor> tensors_of(Session& session, int id, const DeviceFile& file) {
  std::vector<ShownTensor> shown;
  if (file.statistics) {
    const auto table = statistics_of_table(file.path);
    if (!table.has_value()) {
      session.screen.warn(table.error());
      return shown;
    }
    for (const TableStatistics& tensor : *table) {
      shown.push_back({tensor.role, tensor.index, 0, file.path, tensor.text});
    }
    return shown;
  }
  const DecodeRequest request{
      file.path, file.name, session.workspace.path("temp/decode/dump_decode/" + std::to_string(id)),
      std::nullopt};
  const auto tensors = decode_dump(session, request);
  if (!tensors.has_value()) {
    session.screen.warn(tensors.error());
    return shown;
  }
  for (const DecodedTensor& tensor : *tensors) {
    shown.push_back({tensor.role, tensor.index, 0, tensor.path, statistics_of(tensor.path)});
  }
  return shown;
}

}  // namespace

void add_device_dumps(Session& session, int id, const FoundNode& found, Lines& lines) {
  const std::string part = session.settings.train ? found.graph().name : std::string();
  const std::vector<DeviceFile> files =
      files_of(device_files_of(session.workspace, id), found.node->type, found.node->name, part);
  std::vector<ShownTensor> tensors;
  for (std::size_t turn = 0; turn < files.size() && !session.stopping(); ++turn) {
    for (ShownTensor& tensor : tensors_of(session, id, files[turn])) {
      tensor.turn = turn;
      tensors.push_back(std::move(tensor));
    }
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const ShownTensor& x, const ShownTensor& y) {
    return std::tie(x.index, x.turn) < std::tie(y.index, y.turn);
  });
  const Paper& paper = session.screen.paper();
  add_section("NpuDumpInput:", tensors, io::TensorRole::input, paper, lines);
  add_section("NpuDumpOutput:", tensors, io::TensorRole::output, paper, lines);
}

void add_golden_dumps(Session& session, const FoundNode& found, Lines& lines) {
  std::vector<std::string> names;
  for (const Port& port : found.node->output_ports) {
    const std::string& name = port.origin_name.empty() ? found.node->name : port.origin_name;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  const std::vector<GoldenFile> files = golden_files(session.workspace.golden());
  std::vector<ShownTensor> tensors;
  for (const std::string& name : names) {
    for (const GoldenFile& file : files_of(files, name)) {
      tensors.push_back(
          {io::TensorRole::output, file.index, 0, file.path, statistics_of(file.path)});
    }
  }
  add_section("TfDumpOutput:", tensors, io::TensorRole::output, session.screen.paper(), lines);
}

}  // namespace opdrift::shell
