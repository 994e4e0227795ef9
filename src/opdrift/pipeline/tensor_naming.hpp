#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opdrift/io/dump.hpp"

namespace opdrift::pipeline {

/// What the name of a dump file says about the tensors in it.
struct FileNaming {
  std::string operator_name;  ///< "" when the name follows no known pattern
  std::string operator_type;
  std::optional<io::TensorRole> role;  ///< when the name says so
  std::optional<std::uint32_t> index;  ///< when the name says so
  std::uint64_t time = 0;              ///< time stamp in the producer's unit, 0 when there is none
};

/// Understands the names of device dumps (type.name.task.stream.time...), of framework dumps
/// (name.index.time.npy), of converted tensors (<dump>.output.0.npy) and plain names, whose stem is
/// the operator. `name` is the name after mapping.csv.
FileNaming naming_of(std::string_view name);

/// True for endings that promise a tensor (.npy, .npz, .pt ...); text files promise nothing.
bool promises_tensor(std::string_view name);

}  // namespace opdrift::pipeline
