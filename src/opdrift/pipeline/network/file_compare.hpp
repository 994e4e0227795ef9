#pragma once

#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/pipeline/network/result.hpp"

namespace opdrift::pipeline {

struct FileCompareOptions {
  std::vector<std::string> algorithms;
  std::uint64_t max_elements = 0;
  bool reference = false;
};

/// Compares two files of one array each: NumPy, or numbers as text when the name ends in .txt
/// (separated by blanks and line ends, as many per line, read as float64).
/// Fails with malformed (no array, no numbers, lines of different length), mismatch (shapes) or as
/// reading does.
Result<std::vector<AlgorithmValue>> compare_array_files(const std::string& target,
                                                        const std::string& golden,
                                                        const FileCompareOptions& options);

/// Numbers of a text file as an array: one axis for a single line or column, else two.
Result<tensor::Tensor> read_text_array(const std::string& path);

}  // namespace opdrift::pipeline
