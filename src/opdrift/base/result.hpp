#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "opdrift/base/check.hpp"

namespace opdrift {

/// Why something failed. One value per cause a caller may treat differently; front ends translate
/// these into the exit codes of the tools they stand in for.
enum class ErrorCode {
  invalid_argument,    ///< an option or a parameter given by the user makes no sense
  not_found,           ///< file, folder, operator or tensor does not exist
  permission,          ///< exists, but may not be read or written
  wrong_kind,          ///< a folder where a file is needed, or the reverse
  io,                  ///< the operating system refused an open, read or close
  write_failed,        ///< the operating system refused a write (disk full, quota)
  truncated,           ///< the file ends before what its header promises
  malformed,           ///< bytes that do not follow the format
  bad_header,          ///< the fixed head of a dump is missing or too small for its layout
  bad_nano,            ///< a nano dump descriptor is cut or inconsistent
  bad_json,            ///< text that is not JSON, or lacks a required element
  bad_name,            ///< a file name that does not follow its convention
  bad_task_type,       ///< a task type in a file name outside 0 to 4
  bad_slice,           ///< slice information of a sliced operator is unusable
  slice_mismatch,      ///< slice lists do not fit the tensors of the file
  unsupported,         ///< well-formed, but nothing here can handle it
  unsupported_dtype,   ///< a data type that cannot be decoded
  unsupported_format,  ///< a tensor format without a name or without a conversion
  conversion_failed,   ///< a layout conversion that does not fit the shapes
  bad_nz_shape,        ///< the target shape does not fit a FRACTAL_NZ tensor
  bad_shape,           ///< a shape that cannot be right
  mismatch,            ///< two things that should agree do not (lengths, shapes)
  data_mismatch,       ///< data and shape of one tensor do not agree
  out_of_range,        ///< an index beyond the end
  ambiguous,           ///< more than one candidate where one is needed
  bad_combination,     ///< these kinds of dumps cannot be compared with each other
  limit,               ///< a size beyond what is accepted
  cancelled,           ///< interrupted by the user
  out_of_memory,       ///< an allocation failed
  internal,            ///< a broken promise between parts of opdrift
};

/// Stable lower-case identifier of a code, as printed in JSON results.
const char* to_string(ErrorCode code);

/// A failure as a value. `message` says what was expected and what was found; `path` and
/// `offset` (bytes from the start of the file) say where, when that is known.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::string path = {};
  std::optional<std::uint64_t> offset = std::nullopt;

  /// One line: `path: offset N: message`, without a trailing newline.
  std::string to_string() const;
};

/// The value of a Result that carries nothing.
struct Unit {};

/// A value or an Error, named after std::expected so that it can become it.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    OPDRIFT_CHECK(has_value());
    return std::get<0>(state_);
  }
  const T& value() const& {
    OPDRIFT_CHECK(has_value());
    return std::get<0>(state_);
  }
  T&& value() && {
    OPDRIFT_CHECK(has_value());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & {
    OPDRIFT_CHECK(!has_value());
    return std::get<1>(state_);
  }
  const Error& error() const& {
    OPDRIFT_CHECK(!has_value());
    return std::get<1>(state_);
  }
  Error&& error() && {
    OPDRIFT_CHECK(!has_value());
    return std::get<1>(std::move(state_));
  }

  template <typename U>
  T value_or(U&& fallback) const& {
    return has_value() ? std::get<0>(state_) : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<Unit>;

}  // namespace opdrift

#define OPDRIFT_CONCAT_INNER(a, b) a##b
#define OPDRIFT_CONCAT(a, b) OPDRIFT_CONCAT_INNER(a, b)

/// `OPDRIFT_TRY(auto n, cursor.u32("count"));` declares n or returns the error.
#define OPDRIFT_TRY(declaration, ...)                                 \
  auto OPDRIFT_CONCAT(opdrift_try_, __LINE__) = (__VA_ARGS__);        \
  if (!OPDRIFT_CONCAT(opdrift_try_, __LINE__).has_value()) {          \
    return std::move(OPDRIFT_CONCAT(opdrift_try_, __LINE__)).error(); \
  }                                                                   \
  declaration = std::move(OPDRIFT_CONCAT(opdrift_try_, __LINE__)).value()

/// `OPDRIFT_CHECK_OK(step());` returns the error of a step whose value is not needed.
#define OPDRIFT_CHECK_OK(...)                   \
  do {                                          \
    auto opdrift_status = (__VA_ARGS__);        \
    if (!opdrift_status.has_value()) {          \
      return std::move(opdrift_status).error(); \
    }                                           \
  } while (false)
