#include "opdrift/diagnose/classify/aipp_keys.hpp"

#include <cmath>

#include "opdrift/base/text.hpp"
#include "opdrift/verdict/explain/refit.hpp"

namespace opdrift::diagnose::classify {

namespace {

void add_swap(const InputClass& found, const fixes::AippOp& present, AippChange& change) {
  if (found.swapped) {
    change.keys.emplace_back("rbuv_swap_switch",
                             present.flag("rbuv_swap_switch") ? "false" : "true");
  }
}

void add_factors(const InputClass& found, const fixes::AippOp& present, AippChange& change) {
  for (std::size_t c = 0; c < found.channels.size(); ++c) {
    // Once the swap is undone, what channel c holds now is in its mirror image.
    const std::size_t place = found.swapped ? found.channels.size() - 1 - c : c;
    const std::string channel = std::to_string(c);
    const std::string key = std::to_string(place);
    const double r = present.number("var_reci_chn_" + channel).value_or(1.0);
    const double m = present.number("mean_chn_" + channel).value_or(0.0) +
                     present.number("min_chn_" + channel).value_or(0.0);
    const auto [a, b] = found.channels[c];
    if (r == 0.0 || a == 0.0 || !std::isfinite(a) || !std::isfinite(b)) {
      change.remark = "the device's input is constant: no value of a key can repair it";
      return;
    }
    // mean_chn holds whole numbers, min_chn the rest; both are subtracted.
    const double whole = present.number("mean_chn_" + key).value_or(0.0);
    const double min = m + b / r - whole;
    const double min_now = present.number("min_chn_" + key).value_or(0.0);
    if (std::abs(min - min_now) > 1e-3 * (1.0 + std::abs(min_now))) {
      change.keys.emplace_back("min_chn_" + key, verdict::refit::number(min, 6));
    }
    const double factor_now = present.number("var_reci_chn_" + key).value_or(1.0);
    if (std::abs(r / a - factor_now) > 1e-3 * std::abs(factor_now)) {
      change.keys.emplace_back("var_reci_chn_" + key, verdict::refit::number(r / a, 8));
    }
  }
}

void add_offset(const InputClass& found, const fixes::AippOp& present, AippChange& change) {
  if (!found.offset) {
    return;
  }
  const auto add = [&](const char* key, std::int64_t shift) {
    const auto start = static_cast<std::int64_t>(present.number(key).value_or(0.0));
    if (shift != 0) {
      change.keys.emplace_back(key, std::to_string(start - shift));
    }
  };
  if (found.kind == InputKind::pad) {
    change.remark = "the image has a border that the golden has not: check padding";
    return;
  }
  change.keys.emplace_back("crop", "true");
  add("load_start_pos_h", found.offset->dy);
  add("load_start_pos_w", found.offset->dx);
}

}  // namespace

AippChange aipp_change(const InputClass& found, const fixes::AippOp& present) {
  AippChange change;
  add_swap(found, present, change);
  add_factors(found, present, change);
  add_offset(found, present, change);
  if (found.layout_differs || found.kind == InputKind::layout) {
    change.remark = "with AIPP the model takes uint8 images in NHWC";
  }
  if (found.kind == InputKind::resize) {
    change.remark =
        "AIPP does not resize: the image has to come in its final size, made as the "
        "golden's was";
  }
  return change;
}

std::string change_text(const AippChange& change) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : change.keys) {
    parts.push_back(key + ": " + value);
  }
  std::string text = join(parts, ", ");
  if (!change.remark.empty()) {
    text += (text.empty() ? "" : "; ") + change.remark;
  }
  return text;
}

}  // namespace opdrift::diagnose::classify
