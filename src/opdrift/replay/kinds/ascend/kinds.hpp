#pragma once

#include "opdrift/replay/kind.hpp"

// The functions behind the rows of registry.cpp that only Ascend IR has, by file.

namespace opdrift::replay {

// elementwise.cpp
EvaluateFunction add_scalar, multiply_by_scalar, add_bias_of_channel, scaled_add, power_of_line,
    channel_scale, channel_bias, add_scaled_product, add_scaled_quotient, masked_fill, is_finite;
TermsFunction channel_scale_terms, add_scaled_terms;

// joining.cpp
EvaluateFunction pack, unpack, concat_by_input, split_by_input, flatten_range, reverse_axes,
    shuffle_channels, rank_of;

// slicing.cpp
EvaluateFunction strided_slice, ascend_pad;

// counting.cpp
EvaluateFunction one_hot_of_two, fill_by_dims, range_by_attributes, gather_in_batches;

// fused.cpp
EvaluateFunction multiply_then_add, transpose_and_reshape, scaled_masked_softmax;
TermsFunction multiply_then_add_terms, scaled_masked_softmax_terms;

// index.cpp
EvaluateFunction non_zero_rows, arg_max_with_value, arg_min_with_value;

// weighted.cpp
EvaluateFunction fully_connected, transposed_by_size;
EvaluateAtFunction fully_connected_at, transposed_by_size_at;
TermsFunction fully_connected_terms, transposed_by_size_terms;

// pooling.cpp
EvaluateFunction caffe_pooling, caffe_upsample;
TermsFunction caffe_pooling_terms;

// codes.cpp
EvaluateFunction ascend_quantise, quantise_per_axis, row_quantise, ascend_dequantise,
    ascend_requantise, ascend_antiquantise;

// coded_products.cpp
EvaluateFunction quantised_product, weight_quantised_product;
TermsFunction quantised_product_terms, weight_quantised_product_terms;

// normalise.cpp, batch_norm.cpp
EvaluateFunction layer_norm_by_shape, add_layer_norm, add_rms_norm, group_norm_swish, training_sums,
    training_norm, prepared_norm;
TermsFunction layer_norm_by_shape_terms, add_layer_norm_terms, add_rms_norm_terms,
    group_norm_swish_terms, training_sums_terms, training_norm_terms, prepared_norm_terms;

// attention.cpp
EvaluateFunction flash_attention, inference_attention;
TermsFunction flash_attention_terms, inference_attention_terms;

// gates.cpp
EvaluateFunction rotary_multiply, rotary_pair, gelu_gate;
TermsFunction rotary_multiply_terms, rotary_pair_terms;

// recurrent.cpp
EvaluateFunction dynamic_lstm, dynamic_gru;
TermsFunction dynamic_lstm_terms, dynamic_gru_terms;

}  // namespace opdrift::replay
