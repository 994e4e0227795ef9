#include "opdrift/pipeline/msprobe/torchair_folders.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"

namespace opdrift::pipeline {

namespace {

namespace fs = std::filesystem;

constexpr int kGraphDepth = 5;
constexpr int kMaxDepth = 64;
constexpr std::size_t kTokenDigits = 12;  // longer numbers are times

struct Folder {
  std::string path;
  std::vector<std::string> folders;  // names, sorted
  std::vector<std::string> files;
};

std::string name_of(const std::string& path) {
  return fs::path(path).filename().string();
}

/// Symbolic links to folders are not followed: a loop would never end.
Folder list(const std::string& path) {
  Folder folder;
  folder.path = path;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) {
      folder.folders.push_back(name);
    } else if (entry.is_regular_file(ignored)) {
      folder.files.push_back(name);
    }
  }
  std::sort(folder.folders.begin(), folder.folders.end());
  std::sort(folder.files.begin(), folder.files.end());
  return folder;
}

/// All folders below (and with) a root, in path order.
void walk(const std::string& path, int depth, std::vector<Folder>& all) {
  all.push_back(list(path));
  if (depth >= kMaxDepth) {
    return;
  }
  const std::vector<std::string> names = all.back().folders;
  for (const std::string& name : names) {
    walk(path + "/" + name, depth + 1, all);
  }
}

std::vector<Folder> walk(const std::string& root, int most = 0) {
  std::vector<Folder> all;
  walk(root, most == 0 ? 0 : kMaxDepth - most, all);
  return all;
}

std::uint64_t number_or_zero(const std::string& text) {
  return parse_u64(text).value_or(0);
}

/// The first run of digits in a file name.
std::uint64_t first_number(const std::string& name) {
  const std::size_t start = name.find_first_of("0123456789");
  if (start == std::string::npos) {
    return 0;
  }
  const std::size_t end = std::min(name.find_first_not_of("0123456789", start), name.size());
  return number_or_zero(name.substr(start, end - start));
}

/// Several devices wrote below this root: then the device tells the graph, not the model id.
bool is_multi_device(const std::string& root) {
  const Folder top = list(root);
  if (top.folders.size() > 1) {
    return true;
  }
  for (const std::string& name : top.folders) {
    if (name.size() == 14 && is_digits(name)) {
      return list(root + "/" + name).folders.size() > 1;
    }
  }
  return false;
}

/// Type, name and time of a GE file; false for names of another form.
bool split_ge_name(std::string name, GeFile& file) {
  if (name.ends_with(".npz")) {
    constexpr std::string_view kReduced = "_min_max.npz";
    const std::size_t cut =
        name.ends_with(kReduced) ? name.size() - kReduced.size() : name.rfind('_');
    if (cut == std::string::npos) {
      return false;
    }
    name.resize(cut);
    file.reduced = true;
  }
  const auto parts = split(name, '.');
  if (parts.size() < 5) {
    return false;
  }
  file.type = parts.front();
  file.time = parts.back();
  for (std::size_t i = 1; i + 3 < parts.size(); ++i) {
    file.name += (i > 1 ? "." : "") + std::string(parts[i]);
  }
  return true;
}

bool is_ignored(const std::string& name) {
  return name.ends_with(".txt") || name.ends_with(".npy") || name.ends_with(".bin") ||
         name.ends_with(".csv") || name.ends_with(".json");
}

void warn(const RunLog& log, const std::string& text) {
  if (log) {
    log(RunLogLevel::warning, text);
  }
}

std::uintmax_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

/// Adds a file; of two with one operator name the larger is kept, the first one on a tie.
void add_ge_file(GeFile file, const RunLog& log, GeToken& token) {
  for (GeFile& earlier : token.files) {
    if (earlier.name != file.name) {
      continue;
    }
    const bool larger = size_of(file.path) > size_of(earlier.path);
    const std::string kept = name_of(larger ? file.path : earlier.path);
    warn(log, "duplicated op name: " + file.name + ". [" + name_of(file.path) + ", " +
                  name_of(earlier.path) + "]. Will keep the larger one " + kept + ".");
    if (larger) {
      std::swap(earlier, file);
    }
    token.superseded.push_back(std::move(file.path));
    return;
  }
  token.files.push_back(std::move(file));
}

GeToken& token_of(std::vector<GeToken>& tokens, std::uint64_t id) {
  for (GeToken& token : tokens) {
    if (token.id == id) {
      return token;
    }
  }
  tokens.emplace_back();
  tokens.back().id = id;
  return tokens.back();
}

/// The folder `levels` above, relative to the root; "" beyond the root.
std::string ancestor(const fs::path& path, const fs::path& root, int levels) {
  fs::path place = path;
  for (int i = 0; i < levels; ++i) {
    if (place == root) {
      return {};
    }
    place = place.parent_path();
  }
  return place.filename().string();
}

/// Node, direction and index of an FX file name.
struct FxName {
  std::string node;
  bool output = false;
  std::uint64_t index = 0;
};

std::optional<FxName> split_fx_name(const std::string& name) {
  FxName fx;
  std::size_t cut = name.find(".INPUT.");
  std::size_t word = std::string_view(".INPUT.").size();
  const std::size_t output = name.find(".OUTPUT.");
  if (cut == std::string::npos || (output != std::string::npos && output < cut)) {
    cut = output;
    word = std::string_view(".OUTPUT.").size();
    fx.output = true;
  }
  if (cut == std::string::npos || !name.ends_with(".npy")) {
    return std::nullopt;
  }
  fx.node = name.substr(0, cut);
  const std::size_t start = cut + word;
  const std::size_t end = std::min(name.find('.', start), name.size());
  const auto index = parse_u64(std::string_view(name).substr(start, end - start));
  if (!index) {
    return std::nullopt;
  }
  fx.index = *index;
  return fx;
}

void add_fx_folder(const Folder& folder, FxToken& token) {
  for (const std::string& name : folder.files) {
    if (const auto fx = split_fx_name(name)) {
      FxNode& node = token.nodes[fx->node];
      (fx->output ? node.outputs : node.inputs).try_emplace(fx->index, folder.path + "/" + name);
    }
  }
}

bool is_token_folder_name(const std::string& name) {
  return is_digits(name) && name.size() < kTokenDigits;
}

/// Folders whose sub-folders are all numbered; the root itself when there is none.
std::vector<Folder> token_parents(const std::string& root) {
  std::vector<Folder> parents;
  for (Folder& folder : walk(root)) {
    if (!folder.folders.empty() &&
        std::all_of(folder.folders.begin(), folder.folders.end(), is_token_folder_name)) {
      parents.push_back(std::move(folder));
    }
  }
  return parents;
}

FxGroup new_layout_group(const Folder& parent) {
  FxGroup group;
  for (const std::string& name : parent.folders) {
    FxToken token;
    token.id = number_or_zero(name);
    add_fx_folder(list(parent.path + "/" + name), token);
    if (!token.nodes.empty()) {
      group.push_back(std::move(token));
    }
  }
  return group;
}

/// Releases before 7.1.0 number tokens from 1; every token folder holds one folder per graph.
std::vector<FxGroup> old_layout_groups(const Folder& parent, const RunLog& log) {
  struct Token {
    std::uint64_t id = 0;
    std::vector<std::string> graphs;
  };
  std::vector<Token> tokens;
  std::size_t fewest = std::string::npos;
  std::size_t most = 0;
  for (const std::string& name : parent.folders) {
    Token token;
    const std::uint64_t number = number_or_zero(name);
    token.id = number == 0 ? 0 : number - 1;
    for (const std::string& graph : list(parent.path + "/" + name).folders) {
      if (graph.starts_with("gm_")) {
        token.graphs.push_back(parent.path + "/" + name + "/" + graph);
      }
    }
    if (!token.graphs.empty()) {
      fewest = std::min(fewest, token.graphs.size());
      most = std::max(most, token.graphs.size());
      tokens.push_back(std::move(token));
    }
  }
  if (tokens.empty()) {
    return {};
  }
  if (fewest != most) {
    warn(log, "tokens of the FX dump hold different numbers of graphs; the first " +
                  std::to_string(fewest) + " are compared.");
  }
  std::vector<FxGroup> groups(fewest);
  for (const Token& token : tokens) {
    for (std::size_t i = 0; i < fewest; ++i) {
      FxToken graph;
      graph.id = token.id;
      add_fx_folder(list(token.graphs[i]), graph);
      if (!graph.nodes.empty()) {
        groups[i].push_back(std::move(graph));
      }
    }
  }
  return groups;
}

}  // namespace

std::optional<std::uint64_t> torchair_rank(const std::string& folder_name) {
  const std::size_t rank = folder_name.rfind("rank");
  if (!folder_name.starts_with("worldsize") || rank == std::string::npos) {
    return std::nullopt;
  }
  return parse_u64(std::string_view(folder_name).substr(rank + 4));
}

std::map<std::uint64_t, std::string> torchair_ranks(const std::string& root) {
  std::map<std::uint64_t, std::string> ranks;
  for (const std::string& name : list(root).folders) {
    if (const auto rank = torchair_rank(name)) {
      ranks.emplace(*rank, root + "/" + name);
    }
  }
  return ranks;
}

std::vector<std::string> graph_files(const std::string& root, std::optional<std::uint64_t> rank) {
  std::vector<std::string> paths;
  const std::string mark = rank ? "rank_" + std::to_string(*rank) + "_" : "";
  for (const Folder& folder : walk(root, kGraphDepth)) {
    for (const std::string& name : folder.files) {
      if (name.starts_with("dynamo_original_graph_") && name.ends_with(".txt") &&
          name.find(mark) != std::string::npos) {
        paths.push_back(folder.path + "/" + name);
      }
    }
  }
  std::stable_sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return first_number(name_of(a)) < first_number(name_of(b));
  });
  return paths;
}

std::vector<GeGroup> scan_ge(const std::string& root, const RunLog& log) {
  const bool multi_device = is_multi_device(root);
  std::map<std::uint64_t, GeGroup> groups;
  for (const Folder& folder : walk(root)) {
    if (!folder.folders.empty()) {
      continue;
    }
    GeToken* token = nullptr;
    for (const std::string& name : folder.files) {
      if (is_ignored(name)) {
        continue;
      }
      GeFile file;
      file.path = folder.path + "/" + name;
      if (!split_ge_name(name, file)) {
        warn(log, "invalid file name: " + file.path + ", should contain at least 4 '.'");
        continue;
      }
      if (token == nullptr) {
        const std::string group = ancestor(folder.path, root, multi_device ? 3 : 1);
        token = &token_of(groups[number_or_zero(group)], number_or_zero(name_of(folder.path)));
      }
      add_ge_file(std::move(file), log, *token);
    }
  }
  std::vector<GeGroup> ordered;
  for (auto& [id, group] : groups) {
    ordered.push_back(std::move(group));
  }
  return ordered;
}

std::vector<FxGroup> scan_fx(const std::string& root, bool rank_folder, const RunLog& log) {
  std::vector<FxGroup> groups;
  const std::vector<Folder> parents = token_parents(root);
  for (const Folder& parent : parents) {
    if (rank_folder) {
      groups.push_back(new_layout_group(parent));
    } else {
      for (FxGroup& group : old_layout_groups(parent, log)) {
        groups.push_back(std::move(group));
      }
    }
  }
  std::erase_if(groups, [](const FxGroup& group) { return group.empty(); });
  if (groups.empty()) {
    FxToken token;
    add_fx_folder(list(root), token);
    if (!token.nodes.empty()) {
      groups.push_back({std::move(token)});
    }
  }
  return groups;
}

}  // namespace opdrift::pipeline
