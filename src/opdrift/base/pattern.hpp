#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "opdrift/base/result.hpp"

namespace re2 {
class RE2;
}

namespace opdrift {

/// A regular expression in RE2's syntax: searched in time linear in the text, whatever the
/// expression, and compiled within a fixed amount of memory. Copies share it; safe from any thread.
class Pattern {
 public:
  /// Fails with invalid_argument: "<option> '<text>': what is wrong with it".
  static Result<Pattern> compile(std::string_view option, const std::string& text);

  /// True when it matches somewhere in `text`.
  bool found_in(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> expression)
      : expression_(std::move(expression)) {}

  std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace opdrift
