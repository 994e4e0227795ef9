#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opdrift/base/mapped_file.hpp"
#include "opdrift/base/result.hpp"
#include "opdrift/io/file_writer.hpp"
#include "opdrift/io/onnx/model.hpp"

namespace opdrift::io::onnx {

/// A message as a list of byte runs: weights are named, not copied, so an edited model costs memory
/// for its edits only, and external data stays where it is.
class EncodedModel {
 public:
  const std::vector<Bytes>& runs() const { return runs_; }
  std::uint64_t size() const { return size_; }
  /// All runs in one buffer.
  std::vector<std::byte> flatten() const;

 private:
  friend class ModelEncoder;
  std::vector<Bytes> runs_;
  std::uint64_t size_ = 0;
};

/// Largest message that protobuf, and so ONNX Runtime, can read.
inline constexpr std::uint64_t kMaxModelBytes = 2147483647;

/// Encodes a model. Parts that still have their `message` are passed on unchanged. Fails with
/// `limit` above kMaxModelBytes (weights have to go to external data then).
Result<EncodedModel> encode(const Model& model);

/// Encodes and writes a file, whole or not at all. Weights in mapped files are read in parts, so
/// that they never stand in memory. Fails with `limit` or as FileWriter does.
Status write_model(const std::string& path, const Model& model);

/// Writes bytes; those of mapped files are read in parts.
Status write_bytes(FileWriter& writer, const Bytes& bytes);

/// A value with its type left open, as graph outputs may be.
ValueInfo make_value_info(std::string name);

/// A tensor value of any shape.
ValueInfo make_value_info(std::string name, int element_type);

/// A tensor value; axes without number and symbol are open.
ValueInfo make_value_info(std::string name, int element_type, const std::vector<Dim>& shape);

Attribute make_attribute(std::string name, std::int64_t value);
Attribute make_attribute(std::string name, std::vector<std::int64_t> values);
Attribute make_attribute(std::string name, Tensor value);

/// A node of the default domain.
Node make_node(std::string op_type, std::string name, std::vector<std::string> inputs,
               std::vector<std::string> outputs, std::vector<Attribute> attributes = {});

}  // namespace opdrift::io::onnx
