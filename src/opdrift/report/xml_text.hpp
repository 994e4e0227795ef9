#pragma once

#include <string>
#include <string_view>

namespace opdrift::report {

/// Text for XML content and attributes: markup characters as entities, line ends kept, other
/// control characters and malformed UTF-8, which XML cannot hold, as `\xNN`.
std::string xml_text(std::string_view text);

}  // namespace opdrift::report
