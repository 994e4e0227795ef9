#pragma once

#include <span>
#include <string>

/// Comparing commands of the reference front end: `compare`, `file_compare`, and the stand-alone
/// advisor. They translate arguments, file names and exit statuses; the work is done in pipeline.
///
/// `compare` chooses, in this order: two .h5 files, two other files, a folder of graph jsons (many
/// models), one operator in detail (-op), the mapping (-map), a network.
namespace opdrift::compat {

/// `compare -m TARGET -g GOLDEN [option]...`: the exit status is 2 when no operator could be
/// compared, else that of the first operator whose target dump could not be read, else 0.
int run_compare(std::span<const std::string> args);

/// `file_compare -m A.npy -g B.npy -out FOLDER`: eight numbers in file_result_<time>.txt.
int run_file_compare(std::span<const std::string> args);

/// `-i RESULT.csv [-input_nodes "a;b"] [-o FOLDER]`: advice on a finished result table.
int run_advisor(std::span<const std::string> args);

}  // namespace opdrift::compat
