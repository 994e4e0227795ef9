#include "opdrift/shell/commands/torch_groups.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/hdf5_reader.hpp"
#include "opdrift/io/in_file.hpp"
#include "opdrift/pipeline/convert/tensor_output.hpp"
#include "opdrift/pipeline/folder_walk.hpp"
#include "opdrift/shell/workspace/decode.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::shell {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kParts = {{
    {"input", "Input"},
    {"output", "Output"},
    {"grads", "Grads"},
    {"tensors", "Tensors"},
    {"grad_inputs", "GradInputs"},
    {"gradinputs", "GradInputs"},
    {"result", "Result"},
}};

std::string title_of(std::string_view part) {
  const std::string low = to_lower(part);
  for (const auto& [name, title] : kParts) {
    if (low == name) {
      return std::string(title);
    }
  }
  return std::string(part);
}

bool belongs(const std::vector<std::string_view>& parts, const TorchGroup& group) {
  return parts.size() >= 4 && parts[0].empty() && parts[2] == group.order &&
         (group.op.empty() || parts[1] == group.op);
}

/// The array of a data set as an npy file.
Result<std::string> written(Session& session, const std::string& side,
                            const io::FileTensor& source) {
  const std::string folder = session.workspace.path("temp/decode/pt/" + side);
  OPDRIFT_CHECK_OK(make_folder(folder));
  if (source.problem) {
    return *source.problem;
  }
  OPDRIFT_TRY(const tensor::Tensor stored, io::load_tensor(source));
  OPDRIFT_TRY(tensor::View view, tensor::stored_view(stored));
  const std::string path = folder + "/" + replace_all(source.name.substr(1), "/", "_") + ".npy";
  OPDRIFT_CHECK_OK(pipeline::write_array(path, pipeline::OutputFile::npy,
                                         pipeline::output_array(std::move(view))));
  return path;
}

/// Data sets of the group in one file, each under the head of its part.
bool add_file(Session& session, const std::string& side, const std::string& path,
              const TorchGroup& group, Lines& lines) {
  const Result<io::FileDump> dump = io::open_hdf5(path);
  if (!dump.has_value()) {
    session.screen.warn(dump.error());
    return false;
  }
  bool any = false;
  std::string head;
  for (const io::FileTensor& source : dump->tensors) {
    const std::vector<std::string_view> parts = split(source.name, '/');
    if (!belongs(parts, group)) {
      continue;
    }
    const std::string title = title_of(parts[3]);
    if (std::exchange(head, title) != title) {
      lines.push_back(text_line(" " + title + ":", Tone::green));
    }
    any = true;
    const Result<std::string> array = written(session, side, source);
    lines.push_back(text_line("  -" + source.name));
    const std::string facts = array.has_value() ? statistics_of(*array) : array.error().to_string();
    lines.push_back({{"  " + std::string(session.screen.paper().last_branch())},
                     {facts, array.has_value() ? Tone::yellow : Tone::red}});
  }
  return any;
}

}  // namespace

std::optional<TorchGroup> parse_torch_group(std::string_view word) {
  if (is_digits(word)) {
    return TorchGroup{"", std::string(word)};
  }
  if (word.starts_with('/')) {
    word.remove_prefix(1);
  }
  const std::vector<std::string_view> parts = split(word, '/');
  if (parts.size() < 2 || parts[0].empty() || !is_digits(parts[1])) {
    return std::nullopt;
  }
  return TorchGroup{std::string(parts[0]), std::string(parts[1])};
}

Result<bool> show_torch_groups(Session& session, const std::string& word) {
  const std::optional<TorchGroup> group = parse_torch_group(word);
  if (!group) {
    return false;
  }
  Lines lines;
  bool any = false;
  for (const auto& [side, title] : {std::pair{"npu", "NPU:"}, std::pair{"gpu", "GPU:"}}) {
    const auto walk = pipeline::walk_folder(session.workspace.path(std::string("pt/") + side));
    if (!walk.has_value()) {
      continue;
    }
    Lines found;
    for (const pipeline::WalkedFile& file : walk->files) {
      if (session.stopping()) {
        return Error{ErrorCode::cancelled, "interrupted"};
      }
      if (file.name.ends_with(".h5")) {
        any = add_file(session, side, file.path, *group, found) || any;
      }
    }
    if (!found.empty()) {
      lines.push_back(text_line(title, Tone::bold));
      lines.insert(lines.end(), found.begin(), found.end());
    }
  }
  if (any) {
    session.screen.print_panel(text_line(word), lines);
  }
  return any;
}

}  // namespace opdrift::shell
