#pragma once

#include <cstdint>
#include <vector>

#include "opdrift/verdict/judge/device.hpp"

// What the searches for properties of the device share.

namespace opdrift::verdict::judging {

/// The first output of an operator where it has ratios; else nullptr.
const Found* main_output(const Context& context, const std::vector<Found>& found, std::uint32_t op);

Finding finding_of(FindingKind kind, double value, std::size_t operators, bool assumed = false);

}  // namespace opdrift::verdict::judging
