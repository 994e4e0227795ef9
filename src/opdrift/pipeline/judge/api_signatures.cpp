#include "opdrift/pipeline/judge/api_signatures.hpp"

#include <unordered_map>

#include "opdrift/base/text.hpp"

namespace opdrift::pipeline {

namespace {

// clang-format off
constexpr ApiSignature kSignatures[] = {
    // Movement. Row-major order stays, so the golden's own extents say it all.
    {"contiguous clone detach alias Identity", "clone", "input"},
    {"view reshape flatten unflatten squeeze unsqueeze view_as reshape_as ravel _unsafe_view Flatten",
     "Reshape", "input +shape=extents +allowzero=1"},
    {"expand expand_as broadcast_to", "Expand", "input +shape=extents"},
    {"to type type_as float half bfloat16 double int long bool cpu npu cuda", "Cast",
     "input +dtype=dtype"},
    {"permute", "", "input dims:dims*"},
    {"transpose swapaxes swapdims", "permute", "input +dims=swapped"},
    {"t", "permute", "input"},
    {"cat concat concatenate", "cat", "tensors* dim|axis:dim=0"},
    {"split", "", "input split_size:- dim|axis:dim=0 +split=parts"},
    {"chunk", "split", "input chunks:- dim|axis:dim=0 +split=parts"},
    {"repeat tile", "", "input repeats|dims:repeats*"},
    {"triu tril", "", "input diagonal:diagonal=0"},
    {"embedding Embedding", "embedding", "input@1 weight@0"},
    {"index_select", "", "input dim|axis:dim! index"},
    {"gather", "", "input dim|axis:dim! index"},
    {"scatter", "", "input dim|axis:dim! index src|value"},
    {"pixel_shuffle", "PixelShuffle", "input upscale_factor:upscale_factor"},
    {"dropout Dropout", "dropout", "input"},
    // Selection.
    {"relu relu6 abs neg sign floor ceil round isnan isinf logical_not ReLU ReLU6", "", "input"},
    {"__neg__", "neg", "input"},
    {"absolute __abs__", "abs", "input"},
    {"maximum minimum logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor "
     "eq ne gt ge lt le", "", "input other"},
    {"__eq__", "eq", "input other"},
    {"__ne__", "ne", "input other"},
    {"__gt__ greater", "gt", "input other"},
    {"__ge__ greater_equal", "ge", "input other"},
    {"__lt__ less", "lt", "input other"},
    {"__le__ less_equal", "le", "input other"},
    {"__and__", "bitwise_and", "input other"},
    {"__or__", "bitwise_or", "input other"},
    {"clamp clip", "clamp", "input min:min max:max"},
    {"clamp_min", "clamp", "input min:min!"},
    {"clamp_max", "clamp", "input max:max!"},
    {"hardtanh", "", "input min_val:min=-1 max_val:max=1"},
    {"Tensor.where", "where", "input@1 condition@0 other@2"},
    {"where", "", "condition input other"},
    {"masked_fill", "where", "input@2 mask@0 value@1"},
    {"max_pool1d max_pool2d max_pool3d", "",
     "input kernel_size:kernel_size stride:stride padding:padding dilation:dilations "
     "ceil_mode:ceil_mode"},
    {"amax amin all any", "", "input dim|axis:dim keepdim|keep_dims:keepdim=0"},
    {"max", "amax", "input dim|axis:dim keepdim:keepdim=0"},
    {"min", "amin", "input dim|axis:dim keepdim:keepdim=0"},
    // Sums, products, quotients.
    {"add __add__ __radd__ __iadd__", "add", "input other alpha:alpha"},
    {"sub subtract __sub__ __isub__", "sub", "input other alpha:alpha"},
    {"rsub __rsub__", "sub", "input@1 other@0"},
    {"mul multiply __mul__ __rmul__ __imul__", "mul", "input other"},
    {"div divide true_divide __truediv__ __itruediv__ __div__", "div", "input other"},
    {"__rtruediv__ __rdiv__", "div", "input@1 other@0"},
    {"floor_divide __floordiv__", "floor_divide", "input other"},
    {"remainder __mod__", "remainder", "input other"},
    {"fmod", "", "input other +fmod=1"},
    {"cumsum", "", "input dim|axis:dim!"},
    {"leaky_relu", "", "input negative_slope:negative_slope=0.01"},
    {"LeakyReLU", "", "input"},
    {"prelu PReLU", "prelu", "input weight"},
    {"square reciprocal", "", "input"},
    // Functions of one element or two.
    {"sigmoid tanh exp expm1 log log1p sin cos tan asin acos atan sinh cosh asinh acosh atanh sqrt "
     "rsqrt erf silu mish hardswish hardsigmoid softplus softsign selu log_sigmoid "
     "Sigmoid Tanh SiLU Mish Hardswish Hardsigmoid Softplus SELU LogSigmoid ELU GELU", "", "input"},
    {"logsigmoid", "log_sigmoid", "input"},
    {"npu_silu", "silu", "input"},
    {"gelu", "", "input approximate:approximate"},
    {"elu", "", "input alpha:alpha=1"},
    {"celu", "", "input alpha:alpha=1"},
    {"pow __pow__ __ipow__", "pow", "input exponent|other"},
    {"__rpow__", "pow", "input@1 exponent|other@0"},
    {"atan2", "", "input other"},
    {"swiglu npu_swiglu", "swiglu", "input dim:dim=-1"},
    {"glu", "", "input dim:dim=-1"},
    // Sums of products.
    {"matmul mm bmm __matmul__", "matmul", "input other|mat2|tensor2"},
    {"__rmatmul__", "matmul", "input@1 other@0"},
    {"linear npu_linear Linear Dense", "linear", "input weight bias"},
    {"addmm", "", "input mat1 mat2 beta:beta alpha:alpha"},
    {"baddbmm", "", "input batch1 batch2 beta:beta alpha:alpha"},
    {"einsum", "", "equation:equation! operands*"},
    {"conv1d conv2d conv3d", "",
     "input weight bias stride:stride padding:padding dilation:dilation groups:groups"},
    {"Conv1d Conv2d Conv3d", "", "input weight bias +window=window"},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", "",
     "input weight bias stride:stride padding:padding output_padding:output_padding groups:groups "
     "dilation:dilation"},
    {"scaled_dot_product_attention", "",
     "query key value attn_mask dropout_p:- is_causal:is_causal scale:scale"},
    // Means and norms.
    {"sum mean prod logsumexp", "", "input dim|axis:dim keepdim|keep_dims:keepdim=0"},
    {"avg_pool1d avg_pool2d avg_pool3d", "",
     "input kernel_size:kernel_size stride:stride padding:padding ceil_mode:ceil_mode "
     "count_include_pad:count_include_pad"},
    {"adaptive_avg_pool1d", "", "input +output_size=last1"},
    {"adaptive_avg_pool2d AdaptiveAvgPool2d", "", "input +output_size=last2"},
    {"interpolate upsample", "interpolate",
     "input size:size scale_factor:scale_factor mode:mode align_corners:align_corners"},
    {"grid_sample", "",
     "input grid mode:mode padding_mode:padding_mode align_corners:align_corners"},
    {"softmax log_softmax", "", "input dim|axis:dim!"},
    {"Softmax", "softmax", "input +dim=-1"},
    {"LogSoftmax", "log_softmax", "input +dim=-1"},
    {"layer_norm npu_layer_norm_eval", "layer_norm",
     "input normalized_shape:normalized_shape weight@1 bias@2 eps:eps=1e-5"},
    {"LayerNorm", "layer_norm", "input weight@1 bias@2 +normalized_shape=weight"},
    {"rms_norm", "",
     "input normalized_shape:normalized_shape weight@1 eps:eps=1.1920928955078125e-7"},
    {"npu_rms_norm", "rms_norm", "self|input gamma@1 epsilon:epsilon=1e-6"},
    {"RMSNorm", "rms_norm", "input weight@1 +eps=1e-6"},
    {"group_norm", "", "input num_groups:num_groups weight@1 bias@2 eps:eps=1e-5"},
    {"instance_norm", "", "input running_mean:- running_var:- weight@1 bias@2"},
    {"batch_norm", "",
     "input running_mean@3 running_var@4 weight@1 bias@2 training:training momentum:- eps:eps=1e-5"},
    {"BatchNorm1d BatchNorm2d BatchNorm3d", "", "input weight@1 bias@2 +training=1"},
    {"normalize", "", "input p:p=2 dim:dim=1"},
    // Positions.
    {"argmax argmin", "", "input dim|axis:dim! keepdim:keepdim=0"},
    {"topk", "", "input k:k! dim:dim=-1 largest:largest=1"},
    {"sort", "", "input dim:dim=-1 descending:descending=0"},
};
// clang-format on

const ApiSignature* find_name(std::string_view name) {
  static const std::unordered_map<std::string_view, const ApiSignature*> index = [] {
    std::unordered_map<std::string_view, const ApiSignature*> made;
    for (const ApiSignature& row : kSignatures) {
      for (const std::string_view function : split(row.functions, ' ')) {
        made.emplace(function, &row);
      }
    }
    return made;
  }();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace

std::span<const ApiSignature> all_signatures() {
  return kSignatures;
}

const ApiSignature* find_signature(std::string_view prefix, std::string_view& function) {
  function = prefix;
  if (const ApiSignature* method = find_name(prefix); method != nullptr) {
    function.remove_prefix(prefix.rfind('.') + 1);
    return method;
  }
  function.remove_prefix(prefix.rfind('.') + 1);
  if (const ApiSignature* row = find_name(function); row != nullptr) {
    return row;
  }
  if (function.size() > 1 && function.ends_with("_") && !function.ends_with("__")) {
    function.remove_suffix(1);
    return find_name(function);
  }
  // Classes of model libraries are named after what they are: LlamaRMSNorm, ColumnParallelLinear.
  for (const std::string_view ending : {"RMSNorm", "LayerNorm", "Linear"}) {
    if (function.ends_with(ending)) {
      function = ending;
      return find_name(ending);
    }
  }
  return nullptr;
}

}  // namespace opdrift::pipeline
