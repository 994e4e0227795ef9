#pragma once

#include <span>
#include <string>

/// `msprobe` as its users type it:
///
///   compare      -tp|--target_path P -gp|--golden_path P [-o|--output_path P] [-m|--mode M] ...
///   merge_result -i|--input_dir P -o|--output_dir P -config|--config-path P
///
/// with M = auto (dump.json runs, the default) or torchair (GE and FX dumps). `--name=value` is
/// accepted. Options beyond the reference's: --compat (exactly its tables), --highlight[=classic],
/// --accuracy, --all, --cos-min, --max-rel, --md5, --jobs.
///
/// Exit status: 0 on success and when nothing could be compared, 1 on refused input, 2 on a command
/// line that makes no sense.
namespace opdrift::compat {

/// `args` begin with the sub-command. Log lines go to standard error.
int run_msprobe(std::span<const std::string> args);

}  // namespace opdrift::compat
