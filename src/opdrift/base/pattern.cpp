#include "opdrift/base/pattern.hpp"

#include <re2/re2.h>

#include "opdrift/base/text.hpp"

namespace opdrift {

namespace {

/// Enough for lists of thousands of names; beyond it compiling fails instead of growing.
constexpr std::int64_t kMaxCompiledBytes = std::int64_t{8} << 20;

}  // namespace

Result<Pattern> Pattern::compile(std::string_view option, const std::string& text) {
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kMaxCompiledBytes);
  auto expression = std::make_shared<const RE2>(text, options);
  if (!expression->ok()) {
    return Error{ErrorCode::invalid_argument,
                 std::string(option) + " '" + printable(text) + "': " + expression->error()};
  }
  return Pattern(std::move(expression));
}

bool Pattern::found_in(std::string_view text) const {
  return RE2::PartialMatch({text.data(), text.size()}, *expression_);
}

}  // namespace opdrift
