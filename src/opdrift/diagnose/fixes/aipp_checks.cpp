#include <algorithm>
#include <cmath>
#include <iterator>

#include "opdrift/base/text.hpp"
#include "opdrift/diagnose/fixes/aipp.hpp"

namespace opdrift::diagnose::fixes {

namespace {

constexpr std::string_view kFormats[] = {"YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8"};
constexpr int kChannels = 4;

using Problems = std::vector<std::string>;

std::string format_of(const AippOp& op) {
  return op.get("input_format").value_or("");
}

void check_format(const AippOp& op, const AippTarget& target, Problems& problems) {
  const std::string format = format_of(op);
  const bool known =
      std::find(std::begin(kFormats), std::end(kFormats), format) != std::end(kFormats);
  if (!known && op.get("aipp_mode").value_or("static") != "dynamic") {
    problems.push_back("input_format has to be YUV420SP_U8, XRGB8888_U8, RGB888_U8 or YUV400_U8");
  }
  const std::uint64_t wanted = format == "YUV400_U8" ? 1 : 3;
  if (known && target.channels != 0 && target.channels != wanted) {
    problems.push_back("input_format " + format + " makes " + std::to_string(wanted) +
                       " channels, the model takes " + std::to_string(target.channels));
  }
}

/// The keys of one axis and what they add up to.
struct AxisKeys {
  const char* name;
  const char* source;
  const char* start;
  const char* size;
  const char* before;
  const char* after;
  std::uint64_t AippTarget::*wanted;
};
constexpr AxisKeys kAxes[] = {
    {"width", "src_image_size_w", "load_start_pos_w", "crop_size_w", "left_padding_size",
     "right_padding_size", &AippTarget::width},
    {"height", "src_image_size_h", "load_start_pos_h", "crop_size_h", "top_padding_size",
     "bottom_padding_size", &AippTarget::height},
};

std::string whole(double value) {
  return std::to_string(static_cast<long long>(std::clamp(value, -1e15, 1e15)));
}

void check_axis(const AippOp& op, const AippTarget& target, const AxisKeys& axis,
                Problems& problems) {
  const bool crop = op.flag("crop");
  const bool padding = op.flag("padding");
  const auto source = op.number(axis.source);
  const double start = op.number(axis.start).value_or(0.0);
  const auto size = op.number(axis.size);
  if (!source && (crop || padding)) {
    problems.push_back(std::string(axis.source) + " may only be left out without crop and padding");
  }
  if (crop && source && size && start + *size > *source) {
    problems.push_back(std::string(axis.start) + " + " + axis.size + " is beyond " + axis.source);
  }
  if (crop && format_of(op) == "YUV420SP_U8" && std::fmod(start, 2.0) != 0.0) {
    problems.push_back(std::string(axis.start) + " has to be even for YUV420SP_U8");
  }
  std::optional<double> made = crop ? size : source;
  if (made && padding) {
    *made += op.number(axis.before).value_or(0.0) + op.number(axis.after).value_or(0.0);
  }
  const auto wanted = static_cast<double>(target.*(axis.wanted));
  if (made && wanted > 0.0 && *made != wanted) {
    problems.push_back("the image comes out with a " + std::string(axis.name) + " of " +
                       whole(*made) + ", the model takes " + whole(wanted));
  }
}

void check_values(const AippOp& op, Problems& problems) {
  for (int c = 0; c < kChannels; ++c) {
    const std::string channel = std::to_string(c);
    const double mean = op.number("mean_chn_" + channel).value_or(0.0) +
                        op.number("min_chn_" + channel).value_or(0.0);
    const auto variance = op.number("var_reci_chn_" + channel);
    if (!(mean >= 0.0) || !(mean <= 255.0)) {
      problems.push_back("the mean of channel " + channel +
                         " is not from 0 to 255, the unit of pixels");
    }
    if (variance && *variance > 1.0) {
      problems.push_back("var_reci_chn_" + channel +
                         " is above 1: it has to be 1 / (std * 255) for means in the unit of "
                         "pixels");
    }
    if (variance && *variance == 0.0) {
      problems.push_back("var_reci_chn_" + channel + " is 0: the channel is lost");
    }
  }
}

}  // namespace

std::vector<std::string> check_aipp(const AippOp& op, const AippTarget& target) {
  Problems problems;
  check_format(op, target, problems);
  for (const AxisKeys& axis : kAxes) {
    check_axis(op, target, axis, problems);
  }
  check_values(op, problems);
  return problems;
}

}  // namespace opdrift::diagnose::fixes
