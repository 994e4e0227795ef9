#include "opdrift/engine/round_op.hpp"

#include <cstring>

#include "opdrift/engine/precision.hpp"

namespace opdrift::engine {

namespace {

constexpr std::int64_t kFloat16 = 10;  // TensorProto.FLOAT16

struct RoundKernel {
  explicit RoundKernel(const OrtKernelInfo* info)
      : precision(Ort::ConstKernelInfo(info).GetAttribute<std::int64_t>("to") == kFloat16
                      ? Precision::fp16
                      : Precision::bf16) {}

  // The name is the library's.
  void Compute(OrtKernelContext* raw) const {  // NOLINT(readability-identifier-naming)
    const Ort::KernelContext context(raw);
    const Ort::ConstValue input = context.GetInput(0);
    const auto info = input.GetTensorTypeAndShapeInfo();
    const std::vector<std::int64_t> shape = info.GetShape();
    Ort::UnownedValue output = context.GetOutput(0, shape.data(), shape.size());
    const std::size_t size = info.GetElementCount() * sizeof(float);
    if (size == 0) {
      return;
    }
    auto* out = static_cast<std::byte*>(output.GetTensorMutableRawData());
    std::memcpy(out, input.GetTensorRawData(), size);
    round_values(precision, {out, size});
  }

  Precision precision;
};

// NOLINTBEGIN(readability-identifier-naming): names the library's base class calls
struct RoundOp : Ort::CustomOpBase<RoundOp, RoundKernel> {
  explicit RoundOp(unsigned api_version) { OrtCustomOp::version = api_version; }

  void* CreateKernel(const OrtApi& /*api*/, const OrtKernelInfo* info) const {
    return new RoundKernel(info);  // freed by the base class
  }
  const char* GetName() const { return "Round"; }
  std::size_t GetInputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(std::size_t /*index*/) const {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }
  std::size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(std::size_t /*index*/) const {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }
};
// NOLINTEND(readability-identifier-naming)

struct Domain {
  explicit Domain(unsigned api_version) : op(api_version), domain("opdrift") { domain.Add(&op); }
  RoundOp op;
  Ort::CustomOpDomain domain;
};

}  // namespace

OrtCustomOpDomain* rounding_domain(unsigned api_version) {
  // Sessions keep pointing to it, so it is never destroyed.
  static auto* const kMade = new Domain(api_version);
  return kMade->domain;
}

}  // namespace opdrift::engine
