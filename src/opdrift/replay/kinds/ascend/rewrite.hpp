#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opdrift/replay/kind.hpp"

// Operators of Ascend IR that are kinds of their own in name only:
//
//   y = f(inputs in another order, attributes by other names),  f a kind that exists
//
// Such an operator is written anew and handed on.

namespace opdrift::replay {

/// An operator in the words of another kind. Refers to the arrays of the call it was made from.
class Rewritten {
 public:
  /// Name and outputs stay, inputs and attributes begin empty.
  Rewritten(const Call& call, std::string_view type);
  Rewritten(const Rewritten&) = delete;
  Rewritten(Rewritten&&) = default;
  Rewritten& operator=(const Rewritten&) = delete;
  Rewritten& operator=(Rewritten&&) = delete;
  ~Rewritten() = default;

  /// Keeps all attributes of the original.
  Rewritten& keep_attributes();
  Rewritten& drop(Call::Names names);
  Rewritten& integer(const std::string& name, std::int64_t value);
  Rewritten& integers(const std::string& name, std::vector<std::int64_t> values);
  Rewritten& real(const std::string& name, double value);
  Rewritten& text(const std::string& name, std::string value);

  /// The next input is input `origin` of the original, or nothing where that is absent.
  Rewritten& take(std::size_t origin);
  Rewritten& absent();
  /// The next input is an array made for the purpose, perhaps with what it is narrowed by.
  Rewritten& give(Array array);
  Rewritten& give(Array array, Array delta);
  /// The next input is input `origin`, and what it is narrowed by, in another shape of the same
  /// number of elements.
  Rewritten& reshape(std::size_t origin, tensor::Shape shape);

  /// The shape in which the kind gives out what the original gives out in another.
  Rewritten& expect(tensor::Shape shape);
  const std::optional<tensor::Shape>& expected() const { return expected_; }

  /// Valid until this changes, moves or dies.
  Call call() const { return Call{op_, inputs_, deltas_, limits_, exact_codes_}; }
  /// Input of the original behind an input taken over; itself where it was made.
  std::size_t origin(std::size_t index) const;

 private:
  const Array* keep(Array array);
  void add(const Array* array, const Array* delta, std::size_t origin);

  const Call original_;
  Limits limits_;
  bool exact_codes_ = false;
  graph::Operator op_;
  std::deque<Array> made_;  // addresses stay
  std::vector<const Array*> inputs_;
  std::vector<const Array*> deltas_;
  std::vector<std::size_t> origins_;
  std::optional<tensor::Shape> expected_;
};

using Rewriter = Result<Rewritten>(const Call& call);

/// A weighted kind that is another one rewritten.
struct Rewriting {
  EvaluateFunction* evaluate = nullptr;  ///< of the kind
  Rewriter* rewrite = nullptr;
  std::string_view kind;  ///< name of the other in ONNX
};

/// Nothing where the kind is planned as it is.
const Rewriting* rewriting_of(const OperatorKind& kind);

}  // namespace opdrift::replay
