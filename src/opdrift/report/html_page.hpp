#pragma once

#include <string>
#include <string_view>

namespace opdrift::report {

/// The page of web/dist/page.html with `json` as its data; the page shows what its "kind" says.
/// `summary` is the sentence that stands there until the data are read, and without JavaScript.
/// Names in either cannot become markup. Data of more than 1 MB are deflated and in base64, which
/// makes a page of 20,000 operators three times smaller and faster to open.
std::string html_page(std::string_view json, std::string_view summary);

}  // namespace opdrift::report
