#include "opdrift/shell/graph/graph_store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/names.hpp"
#include "opdrift/pipeline/folder_walk.hpp"

namespace opdrift::shell {

namespace {

constexpr std::string_view kPrefix = "ge_proto_";
constexpr std::string_view kText = ".txt";
constexpr std::string_view kJson = ".txt.json";

/// The number in "ge_proto_<number>_<stage><suffix>".
std::optional<std::uint64_t> number_of(std::string_view name, std::string_view stage,
                                       std::string_view suffix) {
  if (!name.starts_with(kPrefix) || !name.ends_with(suffix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(suffix.size());
  const std::size_t mark = name.find('_');
  if (mark == std::string_view::npos || name.substr(mark + 1) != stage) {
    return std::nullopt;
  }
  return parse_u64(name.substr(0, mark));
}

struct stat state_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    info = {};
  }
  return info;
}

/// True when the JSON beside a text stands for it.
bool json_counts(const std::string& text_path) {
  const struct stat text = state_of(text_path);
  const struct stat json = state_of(text_path + ".json");
  return json.st_size > 0 && (text.st_size == 0 || json.st_mtime >= text.st_mtime);
}

std::string state_text(const std::vector<GraphFile>& files) {
  std::string text;
  for (const GraphFile& file : files) {
    const struct stat info = state_of(file.path);
    text += file.path + ":" + std::to_string(info.st_mtim.tv_sec) + "." +
            std::to_string(info.st_mtim.tv_nsec) + ":" + std::to_string(info.st_size) + "\n";
  }
  return text;
}

}  // namespace

std::vector<GraphFile> find_graph_files(const std::string& folder, std::string_view stage) {
  std::vector<GraphFile> files;
  const auto walk = pipeline::walk_folder(folder);
  if (!walk.has_value()) {
    return files;
  }
  for (const pipeline::WalkedFile& file : walk->files) {
    if (const auto number = number_of(file.name, stage, kJson)) {
      const std::string text = file.path.substr(0, file.path.size() - 5);
      if (json_counts(text)) {
        files.push_back({file.path, *number});
      }
    } else if (const auto text_number = number_of(file.name, stage, kText)) {
      if (state_of(file.path).st_size > 0 && !json_counts(file.path)) {
        files.push_back({file.path, *text_number});
      }
    }
  }
  std::sort(files.begin(), files.end(), [](const GraphFile& x, const GraphFile& y) {
    return std::tie(x.number, x.path) < std::tie(y.number, y.path);
  });
  return files;
}

const std::vector<GeGraph>& GraphStore::of(int id, const Workspace& workspace,
                                           std::string_view stage, Screen& screen) {
  const std::vector<GraphFile> files = find_graph_files(workspace.debug(id, "graph"), stage);
  std::string state = state_text(files);
  Loaded& loaded = loaded_[id];
  if (state == loaded.state) {
    return loaded.graphs;
  }
  loaded.state = std::move(state);
  loaded.graphs.clear();
  for (const GraphFile& file : files) {
    Result<GeGraph> graph = read_ge_graph(file.path);
    if (graph.has_value()) {
      loaded.graphs.push_back(std::move(*graph));
    } else {
      screen.warn(graph.error());
    }
  }
  return loaded.graphs;
}

std::vector<FoundNode> find_nodes(const std::vector<GeGraph>& graphs, std::string_view name,
                                  std::string_view graph) {
  std::vector<FoundNode> found;
  for (const GeGraph& file : graphs) {
    for (const Node& node : file.nodes) {
      if (node.name == name && (graph.empty() || file.graphs[node.graph].name == graph)) {
        found.push_back({&file, &node});
      }
    }
  }
  return found;
}

std::vector<FoundNode> possible_nodes(const std::vector<GeGraph>& graphs, std::string_view part) {
  std::vector<FoundNode> found;
  for (const GeGraph& file : graphs) {
    for (const Node& node : file.nodes) {
      if (node.name.find(part) != std::string::npos || replace_all(node.name, "/", "_") == part) {
        found.push_back({&file, &node});
      }
    }
  }
  return found;
}

std::vector<std::vector<const Node*>> consumers_of(const FoundNode& found) {
  std::vector<std::vector<const Node*>> consumers(found.node->output_ports.size());
  for (const Node& other : found.file->nodes) {
    if (other.graph != found.node->graph) {
      continue;
    }
    for (const NodeInput& input : other.inputs) {
      const auto output = static_cast<std::size_t>(input.output);
      if (input.output >= 0 && output < consumers.size() && input.producer == found.node->name) {
        consumers[output].push_back(&other);
      }
    }
  }
  return consumers;
}

const Node* node_in(const GeGraph& file, std::size_t graph, std::string_view name) {
  const auto found = std::find_if(file.nodes.begin(), file.nodes.end(), [&](const Node& node) {
    return node.graph == graph && node.name == name;
  });
  return found == file.nodes.end() ? nullptr : &*found;
}

}  // namespace opdrift::shell
