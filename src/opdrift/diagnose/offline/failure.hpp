#pragma once

#include <string>
#include <utility>
#include <variant>

#include "opdrift/base/result.hpp"

/// Failures of an offline comparison with the numbers their users know. The number is the exit
/// status of the command.
namespace opdrift::diagnose::offline {

/// What the numbers stand for. Those of the reference that cannot happen here are left out.
enum class Number : unsigned char {
  bad_parameter = 1,
  bad_data = 2,
  bad_path = 3,
  bad_combination = 4,
  model_type = 6,
  json_parse = 7,
  write_file = 8,
  open_file = 9,
  bin_size = 10,
  bad_key = 11,  ///< type of an input of the offline model
  program = 12,  ///< a program of the device's tool kit failed
  tensor_type = 13,
  no_dump_file = 14,
  not_supported = 15,
  net_output = 16,
  bad_device = 17,
  aipp_content = 18,
  atc_failed = 21,
  permission = 22,
  out_of_bounds = 23,
  empty_csv = 24,
};

/// An error and its number.
struct Failure {
  Number number = Number::bad_parameter;
  Error error;
};

/// The number of an error that no step has given one.
Number number_of(ErrorCode code);

/// A value or a Failure; an Error becomes a Failure by number_of. Works with OPDRIFT_TRY, whose
/// errors keep their number on the way up.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}            // NOLINT
  Outcome(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT
  Outcome(Error error)                                                              // NOLINT
      : state_(std::in_place_index<1>, Failure{number_of(error.code), std::move(error)}) {}
  Outcome(Result<T> result)  // NOLINT
      : Outcome(result.has_value() ? Outcome(std::move(result).value())
                                   : Outcome(std::move(result).error())) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const Failure& error() const& { return std::get<1>(state_); }
  Failure&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Failure> state_;
};

using Done = Outcome<Unit>;

/// The outcome of a step whose failures all have one number.
template <typename T>
Outcome<T> numbered(Number number, Result<T> result) {
  if (!result.has_value()) {
    return Failure{number, std::move(result).error()};
  }
  return std::move(result).value();
}

/// A failure in words.
Failure failed(Number number, std::string message, std::string path = {});

}  // namespace opdrift::diagnose::offline
