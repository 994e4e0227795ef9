#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/result.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/tensor/dtype.hpp"
#include "opdrift/tensor/tensor.hpp"
#include "opdrift/tensor/view.hpp"

namespace opdrift::io {

/// The elements of a view in logical order, little-endian, nothing else. Fails as stream_view and
/// FileWriter do.
Status write_bin(const std::string& path, const tensor::View& view,
                 const FileWriterOptions& options = {});

/// Numbers as text, a blank between them and one line per row of the last axis (per element when
/// there is only one axis). Floats have the fewest digits that read back as the same value of their
/// type; not-a-number is "nan", infinity "inf". Fails with unsupported_dtype for complex numbers
/// and types that cannot be decoded.
Status write_text(const std::string& path, const tensor::View& view,
                  const FileWriterOptions& options = {});

}  // namespace opdrift::io
