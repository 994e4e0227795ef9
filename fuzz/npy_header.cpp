#include "opdrift/io/numpy/npy_header.hpp"

#include "targets.hpp"

#include "opdrift/base/check.hpp"
#include "opdrift/io/numpy/python_literal.hpp"

namespace opdrift::fuzz {

/// A header that is accepted can be written again and reads the same.
void npy_header(ByteSpan bytes) {
  static_cast<void>(io::parse_python_literal(as_text(bytes)));
  const Result<io::NpyHeader> header = io::parse_npy_header(bytes);
  if (!header || !io::npy_dtype(*header)) {
    return;
  }
  const std::string text = io::format_npy_header("<f4", header->fortran_order, header->shape);
  const Result<io::NpyHeader> again = io::parse_npy_header(as_bytes(text));
  OPDRIFT_CHECK(again && again->shape == header->shape && again->data_offset == text.size());
  OPDRIFT_CHECK(text.size() % 64 == 0);
}

}  // namespace opdrift::fuzz
