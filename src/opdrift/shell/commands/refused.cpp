#include <array>

#include "opdrift/shell/commands/commands.hpp"

namespace opdrift::shell {

namespace {

constexpr std::array<std::string_view, 3> kRunAdvice = {
    "The shell runs no other programs. Start yours in another terminal with",
    "  PRECISION_TOOL_DUMP=True COMMAND      to dump every operator",
    "  PRECISION_TOOL_OVERFLOW=True COMMAND  to record overflows; then 'ac' explains them",
};

constexpr std::array<std::string_view, 12> kTrainAdvice = {
    "The shell trains nothing. To make dumps it can read:",
    "  device  npu_device_dump_config(npu_device, action='dump') before the first step",
    "          (action 'overflow', 'fusion_off', 'fusion_switch'; joined with |)",
    "          DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL=3 NPU_DUMP_GRAPH=true",
    "          DUMP_GRAPH_PATH=precision_data/npu/debug_0/graph",
    "  golden  TF 2: tfdbg_ascend: enable(), set_dump_path() (absolute, ended by /) around",
    "          one step, into precision_data/tf/dump",
    "          TF 1: tfdbg: lt > names, then pt TENSOR -n k -w FILE for each",
    "Before: take out what is random (shuffle, initial weights, dropout, seeds), load the same",
    "checkpoint on both sides, and clear overflows and fusion problems first. Step 0 is enough.",
    "For an ONNX model the golden needs no training program:",
    "  opdrift dump model.onnx -o precision_data/tf/dump",
};

template <std::size_t count>
Status advise(Session& session, const std::array<std::string_view, count>& lines) {
  for (const std::string_view line : lines) {
    session.screen.print(wrapped(text_line(std::string(line)), session.screen.paper().columns));
  }
  return Unit{};
}

Status refuse_run(Session& session, const CommandLine& /*line*/) {
  return advise(session, kRunAdvice);
}

Status refuse_train(Session& session, const CommandLine& /*line*/) {
  return advise(session, kTrainAdvice);
}

}  // namespace

ShellCommand run_command() {
  return {.name = "run",
          .summary = "Runs nothing; tells how to run a program so that it dumps.",
          .syntax = {},
          .run = &refuse_run,
          .raw = true};
}

ShellCommand train_command() {
  return {.name = "train",
          .summary = "Trains nothing; tells how to make the dumps.",
          .syntax = {},
          .run = &refuse_train,
          .raw = true};
}

}  // namespace opdrift::shell
