#include "opdrift/pipeline/convert/names.hpp"

#include <algorithm>
#include <vector>

#include "opdrift/base/text.hpp"
#include "opdrift/io/ascend/tensor.hpp"
#include "opdrift/tensor/dtype.hpp"

namespace opdrift::pipeline {

namespace {

constexpr std::size_t kMsnpyParts = 5;

std::string indexed(std::string_view base, const NameParts& parts) {
  return std::string(base) + "." + std::string(io::to_string(parts.role)) + "." +
         std::to_string(parts.index);
}

/// Payload type as written in bin names: bfloat16 keeps its name although float32 is written.
Result<std::string> dtype_name(const NameParts& parts) {
  const tensor::TensorDesc& desc = parts.desc;
  const bool refused =
      parts.reference && desc.ascend_dtype >= 0 && !io::reference_decodes(desc.ascend_dtype);
  if (refused || !tensor::info(desc.dtype).decodable) {
    return Error{
        ErrorCode::unsupported_dtype,
        "data type: expected one with a name, found number " + std::to_string(desc.ascend_dtype)};
  }
  const tensor::DType named =
      desc.dtype == tensor::DType::bf16 ? desc.dtype : written_dtype(desc.dtype);
  return std::string(tensor::name_of(named));
}

std::string bin_dims(const NameParts& parts) {
  const bool empty = std::find(parts.shape.begin(), parts.shape.end(), 0) != parts.shape.end();
  if (parts.converted || empty) {
    return tensor::to_string(parts.shape, "_");
  }
  std::uint64_t count = 1;
  for (const std::uint64_t extent : parts.shape) {
    count *= extent;
  }
  return std::to_string(count);
}

}  // namespace

OutputFile file_kind(ConvertType type) {
  switch (type) {
    case ConvertType::bin: return OutputFile::bin;
    case ConvertType::pt: return OutputFile::pt;
    case ConvertType::npy:
    case ConvertType::msnpy: break;
  }
  return OutputFile::npy;
}

Result<std::string> required_format_name(tensor::Format format) {
  const std::optional<std::string_view> name = tensor::format_name(format);
  if (!name) {
    return Error{ErrorCode::unsupported_format, "format: expected one with a name, found number " +
                                                    std::to_string(static_cast<int>(format))};
  }
  return std::string(*name);
}

std::string msnpy_base(std::string_view dump_name, std::string_view op_name) {
  const std::vector<std::string_view> parts = split(dump_name, '.');
  if (parts.size() != kMsnpyParts || op_name.empty()) {
    return std::string(dump_name);
  }
  std::string base(parts[0]);
  base += "." + std::string(op_name.substr(op_name.rfind('/') + 1));
  for (std::size_t i = 2; i < parts.size(); ++i) {
    base += "." + std::string(parts[i]);
  }
  return base;
}

Result<std::string> tensor_file_name(ConvertType type, const NameParts& parts) {
  const std::string plain = indexed(parts.dump_name, parts);
  const std::string dims = parts.converted ? "." + tensor::to_string(parts.shape, "x") : "";
  switch (type) {
    case ConvertType::npy: return plain + dims + ".npy";
    case ConvertType::pt: return plain + dims + ".pt";
    case ConvertType::msnpy: {
      OPDRIFT_TRY(const std::string format, required_format_name(parts.format));
      return indexed(msnpy_base(parts.dump_name, parts.op_name), parts) + "." + format + ".npy";
    }
    case ConvertType::bin: break;
  }
  OPDRIFT_TRY(const std::string dtype, dtype_name(parts));
  OPDRIFT_TRY(const std::string format, required_format_name(parts.format));
  return plain + "." + bin_dims(parts) + "." + dtype + "." + format + ".bin";
}

}  // namespace opdrift::pipeline
