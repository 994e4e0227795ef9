#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/compat/arguments.hpp"
#include "opdrift/compat/reference_log.hpp"

/// Command line of `msaccucmp compare`, checked as far as that is possible without reading files.
namespace opdrift::compat {

/// Names of the ten algorithms by their number.
std::span<const std::string_view> reference_algorithms();

struct CompareRequest {
  std::string target;
  std::string golden;
  std::string graph;
  std::string quantised;
  std::string close_fusion;
  std::string output;
  std::string custom_folder;
  std::string range;
  std::string select;
  std::string op_name;
  std::vector<std::string> algorithms;  ///< in column order
  std::uint64_t max_elements = 0;
  std::uint64_t top = 20;
  std::uint64_t max_lines = 1'000'000;
  std::uint32_t tensor = 0;  ///< with op_name
  bool output_tensor = true;
  bool listing = true;
  bool mapping = false;
  bool overflow = false;
  bool advisor = false;
  bool ffts = false;
  std::optional<long long> post_process;
  long long version = 2;

  bool partial() const { return !range.empty() || !select.empty(); }
};

CommandSpec compare_command();

/// `-alg 1 2 3` as one word `1,2,3`: given as several numbers when the second word is one digit.
std::vector<std::string> join_algorithm_numbers(std::span<const std::string> args);

/// Reads the options and checks them in the reference's order. Fails with invalid_argument (6),
/// out_of_range (12) or ErrorCode::unsupported for a choice of algorithms that leaves none (31).
Result<CompareRequest> read_compare_request(const Arguments& arguments, ReferenceLog& log);

/// `all`, or a comma list of numbers and names; keeps the order, drops repeats, warns of unknown
/// ones. Fails with invalid_argument (empty) or unsupported (nothing left).
Result<std::vector<std::string>> choose_algorithms(const std::string& text, ReferenceLog& log);

/// `name:key=value,key=value;name2:...`. Fails with invalid_argument when malformed.
Status check_algorithm_options(const std::string& text);

}  // namespace opdrift::compat
