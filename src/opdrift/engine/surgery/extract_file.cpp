#include "opdrift/engine/surgery/extract_file.hpp"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "opdrift/base/text.hpp"
#include "opdrift/io/in_file.hpp"

namespace opdrift::engine {

namespace {

namespace onnx = io::onnx;

/// Names out of option values: a value that names an operator as a whole is not split.
std::vector<std::string> names_in(const std::vector<std::string>& values, const NodeGraph& graph) {
  std::vector<std::string> names;
  for (const std::string& value : values) {
    if (!graph.named(value).empty()) {
      names.push_back(value);
      continue;
    }
    for (const std::string_view part : split(value, ',')) {
      if (!trim(part).empty()) {
        names.emplace_back(trim(part));
      }
    }
  }
  return names;
}

/// Only what keeps a model from loading when it is guessed: element types other than float32.
ValueTypes element_types(const ValueTypes& inferred) {
  constexpr int kFloat = 1;
  ValueTypes types;
  for (const auto& [name, info] : inferred) {
    if (info.element_type != kFloat) {
      types.emplace(name, info).first->second.shape.reset();
    }
  }
  return types;
}

Status check_output(const ExtractFileOptions& options) {
  std::error_code ignored;
  if (std::filesystem::equivalent(options.model, options.output, ignored)) {
    return Error{ErrorCode::invalid_argument, "the model and the new model are one file",
                 options.output};
  }
  return Unit{};
}

class FileExtractor {
 public:
  explicit FileExtractor(const ExtractFileOptions& options) : options_(options) {}

  Result<ExtractFileReport> run() {
    OPDRIFT_CHECK_OK(check_output(options_));
    OPDRIFT_TRY(wanted_.input_shapes, parse_shapes(options_.input_shapes));
    OPDRIFT_TRY(wanted_.input_types, parse_types(options_.input_types));
    OPDRIFT_TRY(const Workpiece piece, open_workpiece(options_.model));
    report_.operators = piece.graph.size();
    wanted_.starts = names_in(options_.starts, piece.graph);
    wanted_.ends = names_in(options_.ends, piece.graph);
    OPDRIFT_TRY(report_.extracted, io::in_file(extract(piece, wanted_), options_.model));
    OPDRIFT_CHECK_OK(improve_types(piece));
    OPDRIFT_TRY(
        report_.saved,
        io::in_file(save_part(options_.output, report_.extracted.part.placed), options_.output));
    OPDRIFT_CHECK_OK(check());
    return std::move(report_);
  }

 private:
  Status improve_types(const Workpiece& piece) {
    const bool open = !report_.extracted.part.assumed.empty();
    if (!open && !options_.infer) {
      return Unit{};
    }
    Result<ValueTypes> types = Error{};
    if (const auto runtime = Runtime::load(options_.library)) {
      types = infer_types(**runtime, piece.placed);
    } else {
      types = runtime.error();
    }
    if (options_.infer && !types) {
      return std::move(types).error();
    }
    if (types) {
      wanted_.known = options_.infer ? *types : element_types(*types);
      OPDRIFT_TRY(report_.extracted, extract(piece, wanted_));
      note_other_kinds(*types);
      return Unit{};
    }
    for (const std::string& name : report_.extracted.part.assumed) {
      report_.notes.push_back("the model does not say the type of '" + printable(name) +
                              "': float32 of any shape was assumed");
    }
    return Unit{};
  }

  /// The runtime tells that a value is a sequence, but not of what.
  void note_other_kinds(const ValueTypes& types) {
    for (const std::string& name : report_.extracted.part.assumed) {
      const auto known = types.find(name);
      if (known != types.end() && known->second.kind != onnx::ValueKind::tensor) {
        report_.notes.push_back("'" + printable(name) + "' is a " +
                                std::string(to_string(known->second.kind)) +
                                " whose type the model does not state: float32 was written, which "
                                "will not load");
      }
    }
  }

  Status check() {
    if (!options_.check) {
      return Unit{};
    }
    OPDRIFT_TRY(const auto runtime, Runtime::load(options_.library));
    if (const auto session = runtime->open_file(options_.output, {}); !session) {
      report_.check_problem = session.error().to_string();
    }
    return Unit{};
  }

  const ExtractFileOptions& options_;
  ExtractOptions wanted_;
  ExtractFileReport report_;
};

}  // namespace

Result<ExtractFileReport> extract_file(const ExtractFileOptions& options) {
  return FileExtractor(options).run();
}

Result<BreakFileReport> break_file(const ExtractFileOptions& options) {
  OPDRIFT_CHECK_OK(check_output(options));
  OPDRIFT_TRY(const Workpiece piece, open_workpiece(options.model));
  ValueTypes types;
  if (const auto runtime = Runtime::load(options.library)) {
    types = infer_types(**runtime, piece.placed).value_or(ValueTypes{});
  }
  BrokenModel broken = break_apart(piece, types);
  BreakFileReport report;
  report.pieces = std::move(broken.pieces);
  report.assumed = std::move(broken.assumed);
  OPDRIFT_TRY(report.saved,
              io::in_file(save_part(options.output, std::move(broken.placed)), options.output));
  return report;
}

Result<ValueTypes> infer_types(Runtime& runtime, const PlacedModel& placed) {
  std::vector<std::string> names;
  for (const NodeOutput& output : node_outputs(placed.model.graph)) {
    names.push_back(output.tensor);
  }
  PlacedModel exposed = placed;
  expose(exposed.model, names);
  OPDRIFT_TRY(const auto session, open_model(runtime, exposed, {}));
  ValueTypes types;
  for (const onnx::ValueInfo& info : session->outputs()) {
    types.emplace(info.name, info);
  }
  return types;
}

}  // namespace opdrift::engine
