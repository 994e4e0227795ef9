#pragma once

#include "opdrift/replay/kind.hpp"

// The functions behind the rows of registry.cpp, by file. They trust that the values of every input
// fill its shape (replay.hpp checks that) and nothing else.

namespace opdrift::replay {

// unary.cpp
EvaluateFunction identity, absolute, negate, relu, relu6, leaky_relu, thresholded_relu, elu, celu,
    selu, sigmoid, log_sigmoid, hard_sigmoid, hard_sigmoid_sixth, hard_swish, tanh, softplus,
    softsign, shrink, mish, swish, quick_gelu, gelu, gelu_tanh, erf, exponential,
    exponential_minus_one, logarithm, logarithm_of_one_plus, square_root, reciprocal_square_root,
    square, reciprocal, ceiling, floor, round, sign, sine, cosine, tangent, arc_sine, arc_cosine,
    arc_tangent, hyperbolic_sine, hyperbolic_cosine, area_sine, area_cosine, area_tangent,
    logical_not, is_nan, is_inf, clip, dropout;
TermsFunction hard_sigmoid_terms;
double sigmoid_of(double x);
double softplus_of(double x);
double gelu_of(double x);
double gelu_tanh_of(double x);

// binary.cpp, bits.cpp
EvaluateFunction add, subtract, multiply_elements, divide, floor_divide, squared_difference, modulo,
    power, arc_tangent_of_two, prelu, equal, not_equal, greater, greater_or_equal, less,
    less_or_equal, logical_and, logical_or, logical_xor, bitwise_and, bitwise_or, bitwise_xor,
    bitwise_not, bit_shift, sum_of_all, mean_of_all, largest_of_all, smallest_of_all, eltwise,
    where;
TermsFunction sum_terms;

// reshape.cpp, slice.cpp, gather.cpp
EvaluateFunction reshape, flatten, squeeze, unsqueeze, transpose, concat, expand, tile,
    depth_to_space, space_to_depth;
EvaluateFunction slice, slice_by_size, split, pad, trilu, reverse_sequence;
EvaluateFunction gather, gather_elements, scatter_elements, gather_nd, scatter_nd, one_hot,
    compress;

// reduce.cpp
EvaluateFunction reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_product, reduce_l1,
    reduce_l2, reduce_sum_square, reduce_log_sum, reduce_log_sum_exp, reduce_all, reduce_any,
    cumulative_sum;
TermsFunction reduce_product_terms, reduce_sum_terms, reduce_mean_terms, reduce_sum_square_terms,
    reduce_l2_terms, cumulative_sum_terms;

// gemm.cpp, einsum.cpp
EvaluateFunction matmul, gemm, linear, added_matmul, einsum;
EvaluateAtFunction matmul_at, gemm_at, linear_at, added_matmul_at;
TermsFunction matmul_terms, gemm_terms, linear_terms, added_matmul_terms, einsum_terms;

// conv.cpp
EvaluateFunction conv, conv_transpose;
EvaluateAtFunction conv_at, conv_transpose_at;
TermsFunction conv_terms, conv_transpose_terms;

// pool.cpp
EvaluateFunction max_pool, average_pool, lp_pool, global_average_pool, global_max_pool,
    global_lp_pool, adaptive_average_pool;
TermsFunction average_pool_terms, global_average_pool_terms, lp_pool_terms, global_lp_pool_terms;

// unfold.cpp, crop.cpp, unique.cpp, roi_pool.cpp
EvaluateFunction col2im, max_unpool, center_crop_pad, tensor_scatter, unique, max_roi_pool;
TermsFunction col2im_terms;

// deform_conv.cpp, geometry.cpp, loss.cpp, classic.cpp
EvaluateFunction deform_conv, affine_grid, determinant, likelihood_loss, cross_entropy_loss;
TermsFunction deform_conv_terms, affine_grid_terms, determinant_terms, likelihood_loss_terms,
    cross_entropy_loss_terms;
EvaluateFunction scaler, normalizer, binarizer, imputer, linear_regressor, feature_extractor;
TermsFunction linear_regressor_terms;

// resize.cpp, grid_sample.cpp, roi_align.cpp
EvaluateFunction resize, grid_sample, roi_align;
TermsFunction resize_terms, grid_sample_terms, roi_align_terms;

// softmax.cpp, normalise.cpp
EvaluateFunction softmax, log_softmax, hardmax;
TermsFunction softmax_terms, log_softmax_terms;
EvaluateFunction layer_norm, rms_norm, instance_norm, group_norm, batch_norm, local_response,
    lp_normalisation, mean_variance;
TermsFunction layer_norm_terms, rms_norm_terms, instance_norm_terms, group_norm_terms,
    batch_norm_terms, mean_variance_terms;

// recurrent.cpp
EvaluateFunction lstm, gru, rnn;
TermsFunction lstm_terms, gru_terms, rnn_terms;

// quantise.cpp
EvaluateFunction quantise_linear, dequantise_linear, dynamic_quantise, conv_integer, matmul_integer;

// qlinear.cpp
EvaluateFunction qlinear_conv, qlinear_matmul, qlinear_add, qlinear_mul, qlinear_sigmoid,
    qlinear_leaky_relu, qlinear_global_average_pool, qlinear_average_pool, qlinear_softmax,
    qlinear_concat, qlinear_where, qlinear_reduce_mean;

// coded_matmul.cpp
EvaluateFunction matmul_packed, matmul_integer_scaled, dynamic_matmul;
TermsFunction matmul_packed_terms, matmul_integer_scaled_terms, dynamic_matmul_terms;

// index.cpp
Result<std::vector<double>> selected_values(const Call& call, bool best, const Array& positions);
EvaluateFunction arg_max, arg_min, top_k, sort, non_zero, non_max_suppression;

// make.cpp
EvaluateFunction constant, constant_of_shape, range, shape_of, size_of, eye_like, cast;

// signal.cpp
EvaluateFunction dft, stft, hann_window, hamming_window, blackman_window, mel_weights;
TermsFunction dft_terms, stft_terms;

// coded_fused.cpp, channels_last.cpp
EvaluateFunction qgemm, qattention, coded_embed_norm, gather_coded, fused_group_norm,
    channels_last_conv, channels_last_max_pool;
TermsFunction qgemm_terms, qattention_terms, coded_embed_norm_terms, fused_group_norm_terms,
    channels_last_conv_terms;

// attention.cpp, rotary.cpp, grouped_attention.cpp, decoder_attention.cpp, fused.cpp
EvaluateFunction attention, multi_head_attention, rotary_embedding, grouped_attention;
TermsFunction attention_terms, multi_head_attention_terms, rotary_embedding_terms,
    grouped_attention_terms;
EvaluateFunction decoder_attention, bias_split_gelu;
TermsFunction decoder_attention_terms;
EvaluateFunction bias_gelu, fast_gelu, skip_layer_norm, skip_rms_norm, embed_layer_norm, swiglu,
    glu;
TermsFunction skip_layer_norm_terms, skip_rms_norm_terms, embed_layer_norm_terms;

}  // namespace opdrift::replay
