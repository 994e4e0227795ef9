#include "opdrift/engine/tap_op.hpp"

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "opdrift/engine/library_values.hpp"
#include "opdrift/engine/taps.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"

namespace opdrift::engine {

namespace {

/// What the kernels of a session share; set while it runs.
struct Board {
  const RunHooks* hooks = nullptr;
  Ort::RunOptions* run = nullptr;
  Status status = Unit{};

  bool open() const { return hooks != nullptr && status; }

  void take(Status done) {
    if (!done) {
      status = std::move(done);
      run->SetTerminate();
    }
  }
};

std::size_t number_of(const OrtKernelInfo* info) {
  return static_cast<std::size_t>(
      Ort::ConstKernelInfo(info).GetAttribute<std::int64_t>(kTapNumber));
}

struct TapKernel {
  TapKernel(Board& shared, const OrtKernelInfo* info) : board(shared), number(number_of(info)) {}

  // The name is the library's, here and below.
  void Compute(OrtKernelContext* raw) const {  // NOLINT(readability-identifier-naming)
    const Ort::KernelContext context(raw);
    const std::int64_t one = 1;
    *context.GetOutput(0, &one, 1).GetTensorMutableData<std::int32_t>() = 0;
    if (!board.open()) {
      return;
    }
    const RunValue value = borrow_value(context.GetInput(0));
    const RunValue beside =
        context.GetInputCount() > 2 ? borrow_value(context.GetInput(2)) : RunValue{};
    board.take(board.hooks->show(number, value, beside));
  }

  Board& board;
  std::size_t number;
};

struct SourceKernel {
  SourceKernel(Board& shared, const OrtKernelInfo* info) : board(shared), number(number_of(info)) {}

  void Compute(OrtKernelContext* raw) const {  // NOLINT(readability-identifier-naming)
    if (!board.open()) {
      return;
    }
    const Ort::KernelContext context(raw);
    const tensor::Shape& shape = board.hooks->shapes.at(number);
    const std::vector<std::int64_t> extents(shape.begin(), shape.end());
    Ort::UnownedValue output = context.GetOutput(0, extents.data(), extents.size());
    const auto info = output.GetTensorTypeAndShapeInfo();
    const auto dtype = dtype_of(info.GetElementType());
    const auto bytes = tensor::storage_bytes(dtype.value_or(tensor::DType::u8),
                                             static_cast<std::uint64_t>(info.GetElementCount()));
    auto* data = static_cast<std::byte*>(output.GetTensorMutableRawData());
    board.take(board.hooks->fill(number, {data, static_cast<std::size_t>(bytes.value_or(0))}));
  }

  Board& board;
  std::size_t number;
};

// NOLINTBEGIN(readability-identifier-naming): names the library's base class calls
struct TapOp : Ort::CustomOpBase<TapOp, TapKernel> {
  TapOp(Board& shared, unsigned api_version) : board(shared) { OrtCustomOp::version = api_version; }

  void* CreateKernel(const OrtApi& /*api*/, const OrtKernelInfo* info) const {
    return new TapKernel(board, info);  // freed by the base class
  }
  const char* GetName() const { return kTapType; }
  std::size_t GetInputTypeCount() const { return 3; }
  ONNXTensorElementDataType GetInputType(std::size_t index) const {
    return index == 1 ? ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32
                      : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(std::size_t index) const {
    return index == 0 ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
  }
  std::size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(std::size_t /*index*/) const {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
  }

  Board& board;
};

struct SourceOp : Ort::CustomOpBase<SourceOp, SourceKernel> {
  SourceOp(Board& shared, unsigned api_version, int element_type)
      : board(shared), type(element_type), name(source_type(element_type)) {
    OrtCustomOp::version = api_version;
  }

  void* CreateKernel(const OrtApi& /*api*/, const OrtKernelInfo* info) const {
    return new SourceKernel(board, info);  // freed by the base class
  }
  const char* GetName() const { return name.c_str(); }
  std::size_t GetInputTypeCount() const { return 0; }
  ONNXTensorElementDataType GetInputType(std::size_t /*index*/) const {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  }
  std::size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(std::size_t /*index*/) const {
    return static_cast<ONNXTensorElementDataType>(type);
  }

  Board& board;
  int type;
  std::string name;
};
// NOLINTEND(readability-identifier-naming)

}  // namespace

struct TapDomain::Parts {
  explicit Parts(unsigned api_version) : tap(board, api_version), domain(kTapDomain) {
    domain.Add(&tap);
    for (const int type : tappable_types()) {
      if (io::onnx::dtype_of(type) != tensor::DType::string) {
        domain.Add(&sources.emplace_back(board, api_version, type));
      }
    }
  }

  Board board;
  TapOp tap;
  std::deque<SourceOp> sources;  // the domain keeps pointers
  Ort::CustomOpDomain domain;
};

TapDomain::TapDomain(unsigned api_version) : parts_(std::make_unique<Parts>(api_version)) {}
TapDomain::~TapDomain() = default;

OrtCustomOpDomain* TapDomain::domain() const {
  return parts_->domain;
}

void TapDomain::begin(const RunHooks& hooks, Ort::RunOptions& run) {
  parts_->board.hooks = &hooks;
  parts_->board.run = &run;
  parts_->board.status = Unit{};
}

Status TapDomain::end() {
  parts_->board.hooks = nullptr;
  parts_->board.run = nullptr;
  return std::exchange(parts_->board.status, Unit{});
}

}  // namespace opdrift::engine
