#pragma once

#include <span>
#include <string>

#include "opdrift/compat/reference_log.hpp"

/// Offline models in the msprobe front end.
namespace opdrift::compat {

/// `msprobe compare -m offline_model -gp MODEL -tp MODEL.om [option]...`
int run_msprobe_offline_model(std::span<const std::string> args, ReferenceLog& log);

/// `msprobe compare -m offline_data -tp DUMP -gp DUMP [-fr -cfr -qfr -o]`: hands on to
/// `msaccucmp compare`.
int run_msprobe_offline_data(std::span<const std::string> args);

/// `msprobe offline_dump --model_path MODEL [option]...`
int run_msprobe_offline_dump(std::span<const std::string> args, ReferenceLog& log);

}  // namespace opdrift::compat
