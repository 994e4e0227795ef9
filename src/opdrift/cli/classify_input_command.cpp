#include <string>

#include <nlohmann/json.hpp>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/text.hpp"
#include "opdrift/cli/commands.hpp"
#include "opdrift/cli/console.hpp"
#include "opdrift/cli/describe.hpp"
#include "opdrift/cli/options.hpp"
#include "opdrift/diagnose/classify/aipp_keys.hpp"
#include "opdrift/diagnose/classify/tensors.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/pipeline/dump_index.hpp"

namespace opdrift::cli {

namespace {

namespace classify = diagnose::classify;
namespace fixes = diagnose::fixes;
using Json = nlohmann::ordered_json;

struct ClassifyOptions {
  std::string device;
  std::string golden;
  std::string aipp;
  std::string write_aipp;
  bool json = false;
};

/// The one tensor of a file.
Result<tensor::Tensor> load_one(const std::string& path) {
  OPDRIFT_TRY(const pipeline::DumpIndex index,
              pipeline::index_dump(path, verdict::RunSide::target, 1));
  if (index.tensors.size() == 1) {
    return pipeline::load(index.tensors.front());
  }
  if (index.tensors.empty() && !index.ledger.empty()) {
    return Error{ErrorCode::unsupported, index.ledger.front().reason, path};
  }
  return Error{ErrorCode::invalid_argument,
               "expected a file of one tensor, found " + std::to_string(index.tensors.size()),
               path};
}

Result<std::vector<fixes::AippOp>> read_aipp(const std::string& path) {
  if (path.empty()) {
    return std::vector<fixes::AippOp>{};
  }
  OPDRIFT_TRY(const Bytes bytes, map_file(path));
  auto operators = fixes::parse_aipp(as_text(bytes.span));
  if (!operators) {
    operators.error().path = path;
  }
  return operators;
}

struct Answer {
  classify::InputClass found;
  classify::AippChange change;
  std::vector<std::string> problems;  ///< of the AIPP file as it is
};

Result<Answer> answer(const ClassifyOptions& options) {
  OPDRIFT_TRY(const tensor::Tensor golden, load_one(options.golden));
  OPDRIFT_TRY(const tensor::Tensor device, load_one(options.device));
  OPDRIFT_TRY(std::vector<fixes::AippOp> operators, read_aipp(options.aipp));
  Answer made;
  OPDRIFT_TRY(made.found, classify::classify_tensors(golden, device));
  fixes::AippOp present = operators.empty() ? fixes::AippOp{} : operators.front();
  made.change = classify::aipp_change(made.found, present);
  if (!operators.empty()) {
    made.problems = fixes::check_aipp(present, {});
  }
  if (!options.write_aipp.empty()) {
    for (const auto& [key, value] : made.change.keys) {
      present.set(key, value);
    }
    OPDRIFT_CHECK_OK(io::write_file(options.write_aipp, fixes::write_aipp({present})));
  }
  return made;
}

std::string text_of(const Answer& made) {
  std::string text = std::string(classify::to_string(made.found.kind)) + ": " +
                     printable(made.found.finding) + "\n";
  if (!made.found.closest.empty()) {
    text += "closest: " + printable(made.found.closest) + "\n";
  }
  text += "left: cosine " + brief(made.found.like.cosine) + ", relative L2 " +
          brief(made.found.like.relative_l2) + "\n";
  const std::string keys = classify::change_text(made.change);
  text += keys.empty() ? "" : "AIPP: " + keys + "\n";
  for (const std::string& problem : made.problems) {
    text += "AIPP: " + printable(problem) + "\n";
  }
  return text;
}

std::string json_of(const Answer& made) {
  Json json = {{"finding", classify::to_string(made.found.kind)},
               {"sentence", made.found.finding},
               {"closest", made.found.closest},
               {"cosine", to_json(made.found.like.cosine)},
               {"relative_l2", to_json(made.found.like.relative_l2)},
               {"layout_differs", made.found.layout_differs},
               {"swapped", made.found.swapped},
               {"channels", Json::array()},
               {"aipp", Json::object()},
               {"remark", made.change.remark},
               {"problems", made.problems}};
  for (const classify::ChannelFit& channel : made.found.channels) {
    json["channels"].push_back({{"a", to_json(channel.a)}, {"b", to_json(channel.b)}});
  }
  if (made.found.offset) {
    json["offset"] = {{"dy", made.found.offset->dy}, {"dx", made.found.offset->dx}};
  }
  for (const auto& [key, value] : made.change.keys) {
    json["aipp"][key] = value;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_classify_input(std::span<const std::string> arguments) {
  CLI::App app(
      "What was done to a network input that should be another: swapped channels, mean, scale, "
      "crop, layout, type and so on; and the AIPP keys that would repair it.",
      "opdrift classify-input");
  app.footer(
      "Examples:\n"
      "  opdrift classify-input npu_input.npy cpu_input.npy\n"
      "  opdrift classify-input npu.npy cpu.npy --aipp a.cfg --write-aipp new.cfg\n"
      "\nExit codes: 0 the inputs are equal, 1 they differ, 2 trouble.\n");
  ClassifyOptions options;
  app.add_option("DEVICE", options.device, "file of one tensor: what the model got")->required();
  app.add_option("GOLDEN", options.golden, "what it should have got")->required();
  app.add_option("--aipp", options.aipp, "AIPP file the device's input was made with");
  app.add_option("--write-aipp", options.write_aipp, "file for the corrected AIPP keys");
  app.add_flag("--json", options.json, "print JSON");
  if (const auto code = parse_arguments(app, arguments)) {
    return *code;
  }
  const Result<Answer> made = answer(options);
  if (!made) {
    return report_error(made.error());
  }
  if (!write_output(options.json ? json_of(*made) : text_of(*made))) {
    return kExitTrouble;
  }
  return made->found.equal() ? kExitSame : kExitDiffers;
}

}  // namespace opdrift::cli
