#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/verdict/judge.hpp"
#include "opdrift/verdict/problem.hpp"

// What is known of a problem before a single element is read.

namespace opdrift::verdict::judging {

inline constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

/// One value: who makes it, who has it, what it looks like.
struct ValueFacts {
  bool golden = false;  ///< the side has it and it could be opened
  bool target = false;
  tensor::DType golden_dtype = tensor::DType::raw;
  tensor::DType target_dtype = tensor::DType::raw;
  tensor::Shape shape;  ///< of the golden; of the target where only that is there
  std::uint64_t golden_count = 0;
  std::uint64_t target_count = 0;
  std::uint32_t producer = kNobody;  ///< operator; nobody for inputs and parameters
  std::uint32_t output = 0;          ///< which of its outputs
  std::string trouble;               ///< why a side that should be there could not be opened

  bool both() const { return golden && target; }
};

struct Facts {
  std::vector<ValueFacts> values;
  /// Storage type of most floating values of the target; stands in for values it did not dump.
  tensor::DType target_dtype = tensor::DType::f32;
  /// Operators that must be judged one after the other, because values that pass between them were
  /// not dumped. In topological order; every operator is in exactly one component.
  std::vector<std::vector<std::uint32_t>> components;
};

/// Opens every value once, on `jobs` threads.
Facts gather_facts(const Problem& problem, const ValueSource& source, std::size_t jobs,
                   const CancelFlag* cancel);

/// True for a value that operators make and that one side did not dump.
bool is_missing(const Problem& problem, const Facts& facts, ValueId value);

}  // namespace opdrift::verdict::judging
