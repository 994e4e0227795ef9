#pragma once

#include <string>
#include <utility>
#include <vector>

#include "opdrift/diagnose/classify/input_class.hpp"
#include "opdrift/diagnose/fixes/aipp.hpp"

/// What an AIPP file has to say so that the device's input becomes the golden's.
///
/// The present file makes d = (p - m) r of a pixel p. With d = a g + b, what is wanted is
/// g = (p - (m + b / r)) (r / a): the mean of a channel becomes m + b / r, var_reci r / a.
namespace opdrift::diagnose::classify {

/// Keys and their new values, and a remark where a key alone does not do ("" for none).
struct AippChange {
  std::vector<std::pair<std::string, std::string>> keys;
  std::string remark;
};

AippChange aipp_change(const InputClass& found, const fixes::AippOp& present);

/// "min_chn_0: 123.675, …", for a report.
std::string change_text(const AippChange& change);

}  // namespace opdrift::diagnose::classify
