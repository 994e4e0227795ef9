#include "opdrift/shell/input/completion.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "opdrift/io/in_file.hpp"
#include "opdrift/shell/registry.hpp"

namespace opdrift::shell {

namespace {

namespace fs = std::filesystem;

using Words = std::set<std::string>;

/// Keeps what begins with the word that is typed.
class Candidates {
 public:
  explicit Candidates(std::string_view typed) : typed_(typed) {}

  void add(std::string_view word) {
    if (word.starts_with(typed_) && word.find(' ') == std::string_view::npos) {
      words_.emplace(word);
    }
  }

  std::string_view typed() const { return typed_; }
  std::vector<std::string> words() const { return {words_.begin(), words_.end()}; }

 private:
  std::string_view typed_;
  Words words_;
};

void add_commands(Candidates& found) {
  for (const ShellCommand& command : shell_commands()) {
    found.add(command.name);
  }
}

void add_files(Candidates& found) {
  const std::string folder(io::folder_of(found.typed()));
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const std::string name = folder + entry->path().filename().string();
    found.add(entry->is_directory(ignored) ? name + "/" : name);
  }
}

template <typename Add>
void for_each_graph(Session& session, const Add& add) {
  for (const int id : kDebugIds) {
    for (const GeGraph& graph :
         session.graphs.of(id, session.workspace, session.settings.graph_stage, session.screen)) {
      add(graph);
    }
  }
}

void add_operators(Session& session, Candidates& found) {
  for_each_graph(session, [&found](const GeGraph& graph) {
    for (const Node& node : graph.nodes) {
      found.add(node.name);
    }
  });
}

/// Names of arrays in one folder and below.
void add_names_below(const std::string& folder, Candidates& found) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".npy") {
      found.add(entry->path().filename().string());
    }
  }
}

void add_tensors(Session& session, Candidates& found) {
  add_files(found);
  add_names_below(session.workspace.path("temp/decode"), found);
  add_names_below(session.workspace.golden(), found);
}

void add_value(Session& session, const OptionSpec& option, Candidates& found) {
  if (option.value == "GRAPH") {
    for_each_graph(session, [&found](const GeGraph& graph) {
      for (const SubGraph& part : graph.graphs) {
        found.add(part.name);
      }
    });
  } else if (option.value == "TYPE") {
    for_each_graph(session, [&found](const GeGraph& graph) {
      for (const Node& node : graph.nodes) {
        found.add(node.type);
      }
    });
  } else if (option.value == "PATH" || option.value == "DIR" || option.value == "FILE") {
    add_files(found);
  }
}

void add_names(Session& session, NameKind kind, Candidates& found) {
  switch (kind) {
    case NameKind::operators: add_operators(session, found); break;
    case NameKind::tensors: add_tensors(session, found); break;
    case NameKind::files: add_files(found); break;
    case NameKind::words: add_commands(found); break;
    case NameKind::none: break;
  }
}

void add_words_of(Session& session, const ShellCommand& command, const std::string& before,
                  Candidates& found) {
  const std::span<const OptionSpec> options = command.syntax.options;
  const auto last = std::find_if(options.begin(), options.end(), [&](const OptionSpec& option) {
    return before == option.flag || before == option.long_flag;
  });
  if (last != options.end() && !last->value.empty()) {
    add_value(session, *last, found);
    return;
  }
  if (found.typed().starts_with('-')) {
    for (const OptionSpec& option : options) {
      found.add(option.flag);
      found.add(option.long_flag);
    }
    found.add("-h");
    return;
  }
  add_names(session, command.syntax.name_kind, found);
}

}  // namespace

Completion complete_line(Session& session, std::string_view text) {
  const std::size_t blank = text.find_last_of(" \t");
  Completion completion;
  completion.from = blank == std::string_view::npos ? 0 : blank + 1;
  Candidates found(text.substr(completion.from));
  const std::vector<std::string> before = words_of(text.substr(0, completion.from));
  if (before.empty()) {
    add_commands(found);
  } else if (const ShellCommand* command = find_shell_command(before.front())) {
    add_words_of(session, *command, before.back(), found);
  }
  completion.words = found.words();
  return completion;
}

}  // namespace opdrift::shell
