#pragma once

#include <cstddef>
#include <string>

#include "opdrift/diagnose/check_op/check_op.hpp"

/// Results of single operators as text.
///
/// check_op.csv, one row per output (and one per operator without any):
///
///   order,operator,type,index,tensor,blame,single_cosine,single_relative_l2,single_verdict,
///   entire_cosine,entire_relative_l2,entire_verdict,merged,reason,kit
///
/// check_op.json, version 1: docs/check-op.md.
namespace opdrift::diagnose {

struct CheckStyle {
  std::size_t columns = 100;
  bool colour = false;
  std::size_t rows = 12;  ///< outputs shown, those to blame first
};

std::string render_check_terminal(const CheckOpResult& result, const CheckStyle& style);
std::string render_check_csv(const CheckOpResult& result);
std::string render_check_json(const CheckOpResult& result);

}  // namespace opdrift::diagnose
