#include "opdrift/pipeline/network/detail.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "opdrift/match/plan.hpp"
#include "opdrift/pipeline/network/align.hpp"

namespace opdrift::pipeline {

namespace {

using io::FileTensor;
using io::TensorRole;
using tensor::Format;

/// The two tensors of a request before they are brought together.
struct Found {
  tensor::Tensor target;
  tensor::Tensor golden;
  std::string target_path;
  std::string target_names;
  std::string golden_names;
  std::string golden_format;
  tensor::Shape golden_shape;
};

Error missing(const std::string& what) {
  return Error{ErrorCode::not_found, what};
}

Result<tensor::Tensor> load_numbered(const OpenedDump& opened, bool output, std::uint32_t index) {
  const std::vector<const FileTensor*> tensors =
      opened.dump.of(output ? TensorRole::output : TensorRole::input);
  if (index >= tensors.size()) {
    return Error{ErrorCode::out_of_range,
                 std::string("expected ") + (output ? "an output" : "an input") + " below " +
                     std::to_string(tensors.size()) + ", found " + std::to_string(index),
                 opened.dump.path};
  }
  if (tensors[index]->problem) {
    return *tensors[index]->problem;
  }
  return io::load_tensor(*tensors[index]);
}

Result<std::shared_ptr<const OpenedDump>> open_by_key(const DumpSide& side, const std::string& key,
                                                      const std::string& name) {
  const std::optional<std::size_t> entry = side.find(key);
  if (!entry) {
    return missing("no " + name + " dump file " + key + " in " + side.folder().path);
  }
  return side.open(*entry);
}

Status check_comparable(const match::Network& network, std::size_t node) {
  const match::Node& op = network.nodes[node];
  if (op.left_out != match::LeftOut::no) {
    return Error{ErrorCode::unsupported,
                 op.name + " is not compared: " + match::to_string(op.left_out)};
  }
  const match::Group& group = network.groups[op.group];
  const bool inner =
      group.shared() && op.multi_op &&
      std::all_of(op.outputs.begin(), op.outputs.end(),
                  [](const match::Description& output) { return output.origin_name.empty(); });
  if (inner && group.relation != match::Relation::l1_fusion) {
    return Error{ErrorCode::unsupported, op.name + " is an inner node of a fusion"};
  }
  return Unit{};
}

Result<Found> find_by_graph(const NetworkInputs& inputs, const DetailRequest& request) {
  const match::Network& network = inputs.network;
  const std::optional<std::size_t> node = network.find(request.op_name);
  if (!node) {
    return Error{ErrorCode::invalid_argument,
                 "expected an operator of the graph json, found \"" + request.op_name + "\""};
  }
  OPDRIFT_CHECK_OK(check_comparable(network, *node));
  Found found;
  const match::Group& group = network.groups[network.nodes[*node].group];
  found.target_names = match::shown_target(network, group);
  found.golden_names = match::shown_golden(network, group);
  OPDRIFT_TRY(const auto target,
              open_by_key(*inputs.target, inputs.target->key_of(request.op_name, 0), "target"));
  OPDRIFT_TRY(found.target, load_numbered(*target, request.output, request.tensor));
  found.target_path = target->dump.path;
  const match::GoldenRef ref = request.output
                                   ? match::golden_of_output(network, *node, request.tensor)
                                   : match::golden_of_input(network, *node, request.tensor);
  if (ref.problem != match::NoGolden::none) {
    return missing("no golden for " + request.op_name + ": " + ref.explain());
  }
  const bool device = inputs.golden->kind() == io::FolderKind::offline;
  OPDRIFT_TRY(const auto golden,
              open_by_key(*inputs.golden, inputs.golden->key_of(ref.origin_name, ref.origin_index),
                          "golden"));
  OPDRIFT_TRY(found.golden, load_numbered(*golden, true, device ? ref.origin_index : 0));
  found.golden_format = ref.format;
  found.golden_shape = ref.shape;
  return found;
}

Result<Found> find_by_key(const NetworkInputs& inputs, const DetailRequest& request) {
  const std::string key = match::dump_key(request.op_name);
  Found found;
  found.target_names = request.op_name;
  found.golden_names = request.op_name;
  OPDRIFT_TRY(const auto target, open_by_key(*inputs.target, key, "target"));
  OPDRIFT_TRY(const auto golden, open_by_key(*inputs.golden, key, "golden"));
  OPDRIFT_TRY(found.target, load_numbered(*target, request.output, request.tensor));
  OPDRIFT_TRY(found.golden, load_numbered(*golden, request.output, request.tensor));
  found.target_path = target->dump.path;
  return found;
}

DetailTensors named(const Found& found) {
  DetailTensors tensors;
  tensors.target_names = found.target_names;
  tensors.golden_names = found.golden_names;
  tensors.target_path = found.target_path;
  return tensors;
}

bool has_depth(Format format) {
  return format == Format::ndhwc || format == Format::ncdhw || format == Format::dhwcn ||
         format == Format::ndc1hwc0;
}

std::string format_text(const Found& found, Format aligned) {
  std::string_view layout = "NCHW";
  if (has_depth(found.target.desc.format)) {
    layout = "NCDHW";
  } else if (found.target.desc.format == Format::fractal_z) {
    layout = tensor::format_name(aligned).value_or(layout);
  }
  return report::detail_format(layout, found.target.desc.shape.size());
}

/// A tensor that stayed flat gets its own shape back where that still fits.
Result<tensor::View> shaped(const tensor::View& view, const tensor::Tensor& original) {
  const auto count = tensor::element_count(original.desc.shape);
  if (view.axes.size() == 1 && view.contiguous() && count.has_value() && *count == view.count()) {
    return tensor::shaped_view(original, original.desc.shape);
  }
  return view;
}

Result<DetailTensors> align_by_graph(const Found& found, bool reference) {
  AlignRequest request;
  request.kind = AlignKind::detail;
  request.golden_format = found.golden_format;
  request.golden_shape = found.golden_shape;
  request.reference = reference;
  OPDRIFT_TRY(Aligned aligned, align_rows(found.target, found.golden, request));
  DetailTensors tensors = named(found);
  OPDRIFT_TRY(tensors.target, shaped(aligned.pair.target, found.target));
  tensors.golden = std::move(aligned.pair.golden);
  tensors.shape = tensors.target.shape();
  tensors.format = format_text(found, aligned.format);
  return tensors;
}

Result<DetailTensors> take_as_stored(const Found& found) {
  if (found.target.desc.shape != found.golden.desc.shape) {
    return Error{ErrorCode::malformed, "expected equal shapes, found target [" +
                                           tensor::to_string(found.target.desc.shape) +
                                           "], golden [" +
                                           tensor::to_string(found.golden.desc.shape) + "]"};
  }
  if (found.target.desc.format != found.golden.desc.format) {
    return Error{ErrorCode::unsupported_format,
                 "expected equal formats, found target " +
                     std::to_string(static_cast<int>(found.target.desc.format)) + ", golden " +
                     std::to_string(static_cast<int>(found.golden.desc.format))};
  }
  DetailTensors tensors = named(found);
  OPDRIFT_TRY(tensors.target, tensor::stored_view(found.target));
  OPDRIFT_TRY(tensors.golden, tensor::stored_view(found.golden));
  tensors.shape = found.target.desc.shape;
  tensors.format = format_text(found, found.target.desc.format);
  return tensors;
}

}  // namespace

Result<DetailTensors> open_detail(const NetworkInputs& inputs, const NetworkOptions& options,
                                  const DetailRequest& request) {
  if (inputs.by_graph) {
    OPDRIFT_TRY(const Found found, find_by_graph(inputs, request));
    return align_by_graph(found, options.reference);
  }
  OPDRIFT_TRY(const Found found, find_by_key(inputs, request));
  return take_as_stored(found);
}

}  // namespace opdrift::pipeline
