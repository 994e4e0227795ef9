#include "opdrift/diagnose/check_op/batch_run.hpp"

#include <cstring>
#include <span>
#include <utility>

#include "opdrift/diagnose/check_op/feed.hpp"
#include "opdrift/engine/taps.hpp"
#include "opdrift/io/onnx/tensor_data.hpp"
#include "opdrift/io/onnx/writer.hpp"
#include "opdrift/pipeline/align_pair.hpp"

namespace opdrift::diagnose {

namespace {

namespace onnx = io::onnx;
using engine::NamedTensor;
using engine::RunValue;

constexpr std::uint64_t kAlignment = 64;

bool equal(const tensor::Tensor& one, const tensor::Tensor& other) {
  const ByteSpan bytes = one.bytes.span;
  return one.desc.dtype == other.desc.dtype && one.desc.shape == other.desc.shape &&
         bytes.size() == other.bytes.size() &&
         (bytes.empty() || std::memcmp(bytes.data(), other.bytes.span.data(), bytes.size()) == 0);
}

}  // namespace

bool BatchRun::add(Piece& piece) {
  for (const PieceInput& input : piece.inputs) {
    if (feeds_.contains(input.name)) {
      continue;
    }
    auto feed = feed_of(input.value, input.tensor);
    if (!feed) {
      piece.reason = "input '" + input.value + "': " + feed.error().to_string();
      return false;
    }
    given_[input.name] = {onnx::data_type_of(feed->desc.dtype), feed->desc.shape};
    feeds_.emplace(input.name, std::move(*feed));
  }
  return true;
}

Result<std::vector<KeptOutput>> BatchRun::run(const std::vector<std::size_t>& batch) {
  std::vector<const Piece*> pieces;
  for (const std::size_t p : batch) {
    pieces.push_back(&setting_.pieces[p]);
  }
  engine::PlacedModel model{
      model_of_pieces(setting_.placed.model, pieces, given_, PieceNames::marked),
      setting_.placed.folder};
  tap_outputs(model.model, pieces);
  OPDRIFT_TRY(const std::vector<NamedTensor> inputs, source_inputs(model.model));
  engine::SessionOptions session_options;
  session_options.threads = setting_.options.threads;
  OPDRIFT_TRY(const auto session, engine::open_tapped(setting_.runtime, model, session_options));
  kept_.resize(tapped_.size() + fetched_.size());
  OPDRIFT_TRY(const std::vector<RunValue> values, session->run(inputs, fetched_names_, hooks()));
  for (std::size_t i = 0; i < fetched_.size(); ++i) {
    OPDRIFT_TRY(kept_[fetched_[i]], keep(values[i], {}));
  }
  return std::move(kept_);
}

Result<BatchRun::Feed> BatchRun::feed_of(const std::string& value, std::size_t position) const {
  OPDRIFT_TRY(const tensor::Tensor loaded, pipeline::load(setting_.target.tensors[position]));
  Feed made;
  OPDRIFT_TRY(made.view, pipeline::logical_view(loaded));
  const auto wanted = onnx::dtype_of(fed_type(setting_.types, value, loaded.desc.dtype));
  if (!wanted) {
    return Error{ErrorCode::unsupported_dtype, "the model reads no tensor of numbers there"};
  }
  OPDRIFT_TRY(made.desc, fed_desc(made.view, *wanted));
  return made;
}

/// Replaces the outputs by Taps; beside each the target's tensor.
void BatchRun::tap_outputs(onnx::Model& model, const std::vector<const Piece*>& pieces) {
  for (const Piece* piece : pieces) {
    for (const PieceInput& input : piece->inputs) {
      by_tensor_.emplace(input.tensor, input.name);
    }
  }
  std::vector<engine::Tap> taps;
  std::size_t position = 0;
  for (const Piece* piece : pieces) {
    for (const PieceOutput& output : piece->outputs) {
      const auto type = setting_.types.find(output.value);
      if (type == setting_.types.end() || engine::tappable(type->second)) {
        taps.push_back({output.name, name_beside(model, output)});
        tapped_.push_back(position++);
      } else {
        fetched_names_.push_back(output.name);
        fetched_.push_back(position++);
      }
    }
  }
  engine::expose(model, fetched_names_);
  if (const std::string last = engine::add_taps(model, taps); !last.empty()) {
    fetched_names_.push_back(last);
  }
}

/// The input that the target's tensor is fed as, a new one when no piece reads it. "" when it
/// cannot be fed: the comparison will say why.
std::string BatchRun::name_beside(onnx::Model& model, const PieceOutput& output) {
  const auto known = by_tensor_.find(output.tensor);
  if (known != by_tensor_.end()) {
    return known->second;
  }
  auto feed = feed_of(output.value, output.tensor);
  if (!feed) {
    return "";
  }
  std::string name = output.name + "/target";
  model.graph.inputs.push_back(onnx::make_value_info(name));
  by_tensor_.emplace(output.tensor, name);
  feeds_.emplace(name, std::move(*feed));
  return name;
}

/// Replaces the inputs by Sources. Returns those of types that no Source makes.
Result<std::vector<NamedTensor>> BatchRun::source_inputs(onnx::Model& model) {
  std::vector<NamedTensor> inputs;
  std::vector<engine::Source> sources;
  std::vector<onnx::ValueInfo> left;
  for (onnx::ValueInfo& info : model.graph.inputs) {
    const auto feed = feeds_.find(info.name);
    if (feed == feeds_.end()) {
      left.push_back(std::move(info));  // a constant
      continue;
    }
    const tensor::TensorDesc& desc = feed->second.desc;
    const int type = onnx::data_type_of(desc.dtype);
    if (engine::tappable(type)) {
      sources.push_back({info.name, type, desc.shape});
      sourced_.push_back(&feed->second);
    } else {
      OPDRIFT_TRY(tensor::Tensor fed, as_fed(feed->second.view, desc.dtype));
      inputs.push_back({info.name, std::move(fed)});
      left.push_back(onnx::make_value_info(info.name, type));
    }
  }
  model.graph.inputs = std::move(left);
  engine::add_sources(model, sources);
  return inputs;
}

engine::RunHooks BatchRun::hooks() {
  engine::RunHooks hooks;
  for (const Feed* feed : sourced_) {
    hooks.shapes.push_back(feed->desc.shape);
  }
  hooks.fill = [this](std::size_t source, std::span<std::byte> bytes) -> Status {
    feed(sourced_[source]->view, sourced_[source]->desc.dtype, bytes);
    return Unit{};
  };
  hooks.show = [this](std::size_t tap, const RunValue& value, const RunValue& beside) -> Status {
    const CancelFlag* cancel = setting_.options.cancel;
    if (cancel != nullptr && cancel->cancelled()) {
      return Error{ErrorCode::cancelled, "interrupted"};
    }
    OPDRIFT_TRY(kept_[tapped_[tap]], keep(value, beside));
    return Unit{};
  };
  return hooks;
}

Result<KeptOutput> BatchRun::keep(const RunValue& value, const RunValue& beside) {
  KeptOutput kept;
  if (!value.tensor) {
    kept.reason = value.reason;
    return kept;
  }
  kept.desc = value.tensor->desc;
  const ByteSpan bytes = value.tensor->bytes.span;
  kept.bytes = bytes.size();
  kept.same = beside.tensor && equal(*value.tensor, *beside.tensor);
  if (kept.same) {
    return kept;
  }
  if (!scratch_) {
    OPDRIFT_TRY(io::ScratchFile made, io::ScratchFile::create());
    scratch_.emplace(std::move(made));
  }
  kept.start = scratch_bytes_;
  const std::vector<std::byte> gap((kAlignment - bytes.size() % kAlignment) % kAlignment);
  OPDRIFT_CHECK_OK(scratch_->write(bytes));
  OPDRIFT_CHECK_OK(scratch_->write(gap));
  scratch_bytes_ += bytes.size() + gap.size();
  return kept;
}

}  // namespace opdrift::diagnose
