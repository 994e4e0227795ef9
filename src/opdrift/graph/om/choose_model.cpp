#include "opdrift/graph/om/choose_model.hpp"

#include <algorithm>

#include "opdrift/base/text.hpp"

namespace opdrift::graph {

namespace {

std::string names_of(const OmFile& file) {
  constexpr std::size_t kMostShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(file.models.size(), kMostShown); ++i) {
    text +=
        (i == 0 ? "" : ", ") + std::to_string(i) + " \"" + printable(file.models[i].name) + "\"";
  }
  return text + (file.models.size() > kMostShown ? ", ..." : "");
}

}  // namespace

Result<OmModel> choose_model(const OmFile& file, const std::string& wanted) {
  if (wanted.empty()) {
    if (file.bundled.empty() || file.models.size() == 1) {
      return file.models.front();
    }
    return Error{ErrorCode::ambiguous,
                 "expected one model, found a bundle of " + std::to_string(file.models.size()) +
                     " (" + names_of(file) +
                     "); 'opdrift om2json FILE --model NAME' takes one out of it",
                 file.path};
  }
  const auto named = std::find_if(file.models.begin(), file.models.end(),
                                  [&wanted](const OmModel& model) { return model.name == wanted; });
  if (named != file.models.end()) {
    return *named;
  }
  const auto number = parse_u64(wanted);
  if (number && *number < file.models.size()) {
    return file.models[static_cast<std::size_t>(*number)];
  }
  return Error{ErrorCode::not_found,
               "expected a model \"" + printable(wanted) + "\", found " + names_of(file),
               file.path};
}

}  // namespace opdrift::graph
