#pragma once

#include <span>
#include <string>

/// `msit debug surgeon extract`:
///
///   -in M.onnx -of S.onnx [-snn A,B] [-enn C,D] [-ck] [-sis "t:1,3"] [-sit "t:fp16"]
///
/// Both names end in .onnx; lists of names are made of letters, digits and _ , : / . - and split at
/// commas. Output and input being one file is a warning and nothing is done.
///
/// Exit status: 0 when the sub-graph was written, 1 on any failure (the reference ends with 0), 2
/// on a command line that makes no sense. A failed check of the result is only logged.
namespace opdrift::compat {

int run_surgeon_extract(std::span<const std::string> args);

}  // namespace opdrift::compat
