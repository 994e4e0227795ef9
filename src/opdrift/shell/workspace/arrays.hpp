#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opdrift/base/parallel.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::shell {

/// An npy file opened for looking at its values in logical order.
class ArrayFile {
 public:
  /// Fails as io::open_npy does, and with unsupported_dtype for what cannot be read as numbers.
  static Result<ArrayFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::uint64_t count() const { return count_; }
  tensor::Shape shape() const { return view_.shape(); }

  /// Elements [first, first + out.size()) as float32.
  void read(std::uint64_t first, std::vector<float>& out) const;
  void read(std::uint64_t first, std::vector<double>& out) const;

  /// One element as NumPy prints it.
  std::string text(std::uint64_t index) const;

 private:
  std::vector<std::byte> gathered(std::uint64_t first, std::uint64_t count) const;

  std::string path_;
  tensor::View view_;
  std::uint64_t count_ = 0;
};

/// Where the text form of an array goes: beside it when it lies in the work folder of the shell
/// (`temp`), else into `temp`/decode/dump_convert.
std::string text_file_of(const std::string& npy_path, const std::string& temp);

/// Writes the values with `%g`, one line per row of the last axis. Fails with cancelled or as
/// io::FileWriter does.
Status write_values(const ArrayFile& array, const std::string& path, const CancelFlag* cancel);

}  // namespace opdrift::shell
