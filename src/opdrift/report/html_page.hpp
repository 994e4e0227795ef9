#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opdrift::report {

/// The page of web/dist/page.html with `pieces` of JSON as its data, one or more, which it reads
/// one after another; it shows what the "kind" of the first says. `summary` is the sentence that
/// stands there until the data are read, and without JavaScript. Names in either cannot become
/// markup. Data of more than 1 MB are deflated and in base64, which makes a page of 20,000
/// operators three times smaller and faster to open.
std::string html_page(const std::vector<std::string>& pieces, std::string_view summary);

}  // namespace opdrift::report
