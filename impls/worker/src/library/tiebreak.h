/*
 * tiebreak.h: kernels of a shared library, judged by Tiebreak.
 *
 * A library that exports some of the functions below is judged by
 *
 *     tiebreak verify --library ./libmine.so --op requantize --scheme gemmlowp-double
 *
 * Define exactly one TIEBREAK_LIBRARY in the library, and any of the functions. This header is C11 and C++11.
 *
 * Every function writes all of its results and returns TIEBREAK_OK, or returns another code and writes no results. Arrays do not overlap. They are
 * aligned to their elements only. A function accesses only its arrays, and changes neither its inputs nor the floating-point mode. The same inputs give the
 * same results in every call.
 */
#ifndef TIEBREAK_H
#define TIEBREAK_H

#include <stddef.h>
#include <stdint.h>

/* Version of this interface. */
#define TIEBREAK_ABI 1

/* All results were written. */
#define TIEBREAK_OK 0
/* The parameters are outside the kernel's domain. The case is counted, and is neither a failure nor a pass. */
#define TIEBREAK_OUTSIDE_DOMAIN 1
/* Any other code is a failure, and is reported with its number. */

#if defined(_WIN32)
#define TIEBREAK_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define TIEBREAK_EXPORT __attribute__((visibility("default")))
#else
#define TIEBREAK_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Interface version for which a library was compiled. TIEBREAK_LIBRARY defines this function. */
TIEBREAK_EXPORT int32_t tiebreak_abi(void);

#ifdef __cplusplus
#define TIEBREAK_LIBRARY                                                                                               \
    extern "C" int32_t tiebreak_abi(void) { return TIEBREAK_ABI; }
#else
#define TIEBREAK_LIBRARY                                                                                               \
    int32_t tiebreak_abi(void) { return TIEBREAK_ABI; }
#endif

/*
 * fpm: fixed point multiply. out[i] is x[i] * multiplier * 2^(shift - q), rounded by the scheme.
 *
 * Element i belongs to channel i % channels (the channel is the last axis). channels is 1 for a multiply per tensor.
 */
typedef struct {
    size_t len;                /* elements of x and of out */
    size_t channels;           /* elements of multiplier and of shift */
    const int32_t *multiplier; /* fixed point, q fractional bits */
    const int32_t *shift;      /* positive: left; -31 to 31 */
    uint32_t q;                /* 31, unless the domain says otherwise */
} tiebreak_fpm_params;

TIEBREAK_EXPORT int tiebreak_fpm(const tiebreak_fpm_params *params, const int32_t *x, int32_t *out);

/*
 * requantize: out[i] is clamp(fpm(acc[i] + bias) + zero_point, min, max).
 *
 * Element i belongs to channel i % channels. The policy of the scheme, such as :wrap, applies to both sums: accumulator and bias, and result and zero
 * point. Under a scheme without a policy, only sums that fit int32 are judged.
 */
typedef struct {
    size_t len;                /* elements of acc and of out */
    size_t channels;           /* elements of multiplier, of shift and of bias */
    const int32_t *multiplier; /* Q0.31; for the scheme legacy an integer */
    const int32_t *shift;      /* positive: left; -31 to 31 */
    const int32_t *bias;       /* added to the accumulators */
    int32_t zero_point;        /* zero point of the output */
    int32_t min;               /* smallest result */
    int32_t max;               /* largest result */
} tiebreak_requantize_params;

TIEBREAK_EXPORT int tiebreak_requantize_i8(const tiebreak_requantize_params *params, const int32_t *acc, int8_t *out);
TIEBREAK_EXPORT int tiebreak_requantize_u8(const tiebreak_requantize_params *params, const int32_t *acc, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_requantize_i16(const tiebreak_requantize_params *params, const int32_t *acc, int16_t *out);

/*
 * quantize and dequantize: real = scale * (stored - zero_point). Stored values are within min and max.
 *
 * Element i has scale and zero point (i / inner) % channels. channels and inner are 1 for one scale per tensor.
 */
typedef struct {
    size_t len;                /* elements of the tensor */
    size_t channels;           /* elements of scale and of zero_point */
    size_t inner;              /* product of the sizes of the axes after the channel axis */
    const double *scale;       /* scales of the type; kernels round scales to f32 */
    const int32_t *zero_point; /* stored value of 0 */
    int32_t min;               /* smallest stored value */
    int32_t max;               /* largest stored value */
} tiebreak_cast_params;

TIEBREAK_EXPORT int tiebreak_quantize_f32_i8(const tiebreak_cast_params *params, const float *real, int8_t *out);
TIEBREAK_EXPORT int tiebreak_quantize_f32_u8(const tiebreak_cast_params *params, const float *real, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_quantize_f32_i16(const tiebreak_cast_params *params, const float *real, int16_t *out);
TIEBREAK_EXPORT int tiebreak_quantize_f32_u16(const tiebreak_cast_params *params, const float *real, uint16_t *out);
TIEBREAK_EXPORT int tiebreak_dequantize_i8_f32(const tiebreak_cast_params *params, const int8_t *stored, float *out);
TIEBREAK_EXPORT int tiebreak_dequantize_u8_f32(const tiebreak_cast_params *params, const uint8_t *stored, float *out);
TIEBREAK_EXPORT int tiebreak_dequantize_i16_f32(const tiebreak_cast_params *params, const int16_t *stored, float *out);
TIEBREAK_EXPORT int tiebreak_dequantize_u16_f32(const tiebreak_cast_params *params, const uint16_t *stored, float *out);

/* add, sub and mul: elementwise operations on two tensors, each with its own scale and zero point. sub is lhs - rhs. */
typedef struct {
    float scale;
    int32_t zero_point;
} tiebreak_operand;

typedef struct {
    size_t len; /* elements of lhs, of rhs and of out */
    tiebreak_operand lhs;
    tiebreak_operand rhs;
    tiebreak_operand out;
    int32_t min; /* smallest result */
    int32_t max; /* largest result */
} tiebreak_elementwise_params;

TIEBREAK_EXPORT int tiebreak_add_i8(const tiebreak_elementwise_params *params, const int8_t *lhs, const int8_t *rhs, int8_t *out);
TIEBREAK_EXPORT int tiebreak_add_u8(const tiebreak_elementwise_params *params, const uint8_t *lhs, const uint8_t *rhs, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_add_i16(const tiebreak_elementwise_params *params, const int16_t *lhs, const int16_t *rhs, int16_t *out);
TIEBREAK_EXPORT int tiebreak_sub_i8(const tiebreak_elementwise_params *params, const int8_t *lhs, const int8_t *rhs, int8_t *out);
TIEBREAK_EXPORT int tiebreak_sub_u8(const tiebreak_elementwise_params *params, const uint8_t *lhs, const uint8_t *rhs, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_sub_i16(const tiebreak_elementwise_params *params, const int16_t *lhs, const int16_t *rhs, int16_t *out);
TIEBREAK_EXPORT int tiebreak_mul_i8(const tiebreak_elementwise_params *params, const int8_t *lhs, const int8_t *rhs, int8_t *out);
TIEBREAK_EXPORT int tiebreak_mul_u8(const tiebreak_elementwise_params *params, const uint8_t *lhs, const uint8_t *rhs, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_mul_i16(const tiebreak_elementwise_params *params, const int16_t *lhs, const int16_t *rhs, int16_t *out);

/*
 * matmul: out[i][j] is the sum over l of (lhs[i][l] + lhs_offset) * (rhs[l][j] + rhs_offset), modulo 2^32.
 *
 * All matrices are row-major: lhs [m][k], rhs [k][n], out [m][n]. An offset is the negated zero point.
 */
typedef struct {
    size_t m;
    size_t n;
    size_t k;
    int32_t lhs_offset;
    int32_t rhs_offset;
} tiebreak_matmul_params;

TIEBREAK_EXPORT int tiebreak_matmul_i8_i8(const tiebreak_matmul_params *params, const int8_t *lhs, const int8_t *rhs, int32_t *out);
TIEBREAK_EXPORT int tiebreak_matmul_u8_u8(const tiebreak_matmul_params *params, const uint8_t *lhs, const uint8_t *rhs, int32_t *out);
TIEBREAK_EXPORT int tiebreak_matmul_u8_i8(const tiebreak_matmul_params *params, const uint8_t *lhs, const int8_t *rhs, int32_t *out);
TIEBREAK_EXPORT int tiebreak_matmul_i16_i16(const tiebreak_matmul_params *params, const int16_t *lhs, const int16_t *rhs, int32_t *out);

/*
 * qmatmul: matmul and requantize in one function, as in a fully connected layer: out[i][j] is clamp(fpm(sum + bias[j]) + zero_point, min, max), where sum is the
 * result of matmul. Sums, and sums with the bias, wrap, unless the scheme defines otherwise.
 *
 * The types in the name are those of lhs, rhs and out. Values of i4 are -8 to 7. A byte has two values, the first in the low half. Packing
 * is continuous over the whole of rhs: a row begins within a byte if an odd number of elements precedes it. The unused half of the last byte is 0.
 */
typedef struct {
    tiebreak_matmul_params product;
    const int32_t *multiplier; /* n elements, Q0.31 */
    const int32_t *shift;      /* n elements; positive: left */
    const int32_t *bias;       /* n elements, added to the sums */
    int32_t zero_point;        /* zero point of the output */
    int32_t min;               /* smallest result */
    int32_t max;               /* largest result */
} tiebreak_qmatmul_params;

TIEBREAK_EXPORT int tiebreak_qmatmul_i8_i8_i8(const tiebreak_qmatmul_params *params, const int8_t *lhs, const int8_t *rhs, int8_t *out);
TIEBREAK_EXPORT int tiebreak_qmatmul_u8_u8_u8(const tiebreak_qmatmul_params *params, const uint8_t *lhs, const uint8_t *rhs, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_qmatmul_u8_i8_u8(const tiebreak_qmatmul_params *params, const uint8_t *lhs, const int8_t *rhs, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_qmatmul_i16_i8_i16(const tiebreak_qmatmul_params *params, const int16_t *lhs, const int8_t *rhs, int16_t *out);
TIEBREAK_EXPORT int tiebreak_qmatmul_i8_i4_i8(const tiebreak_qmatmul_params *params, const int8_t *lhs, const uint8_t *rhs, int8_t *out);

/*
 * conv2d: sums of (input - input_zero_point) * (weight - weight_zero_point), modulo 2^32. Padding has the value input_zero_point, so it contributes 0.
 *
 * input is [batches][height][width][channels], weights [kernel_h][kernel_w][channels / groups][out_channels],
 * out [batches][out_height][out_width][out_channels]. Channels of the input and of the output are divided into groups in their order. Each group is convolved alone;
 * groups equals channels in a depthwise convolution.
 */
typedef struct {
    size_t batches, height, width, channels;
    size_t kernel_h, kernel_w, out_channels, groups;
    size_t stride_h, stride_w, dilation_h, dilation_w;
    size_t top, bottom, left, right; /* rows and columns of padding */
    size_t out_height, out_width;
    int32_t input_zero_point, weight_zero_point;
} tiebreak_conv2d_params;

TIEBREAK_EXPORT int tiebreak_conv2d_i8_i8(const tiebreak_conv2d_params *params, const int8_t *input, const int8_t *weights, int32_t *out);
TIEBREAK_EXPORT int tiebreak_conv2d_u8_u8(const tiebreak_conv2d_params *params, const uint8_t *input, const uint8_t *weights, int32_t *out);
TIEBREAK_EXPORT int tiebreak_conv2d_u8_i8(const tiebreak_conv2d_params *params, const uint8_t *input, const int8_t *weights, int32_t *out);
TIEBREAK_EXPORT int tiebreak_conv2d_i16_i16(const tiebreak_conv2d_params *params, const int16_t *input, const int16_t *weights, int32_t *out);

/*
 * Transposed conv2d: each element of the input adds to a window of the output. Input element (y, x) and weight (i, j) add
 * (input - input_zero_point) * (weight - weight_zero_point) to out row y * stride_h + i * dilation_h - top, column x * stride_w + j * dilation_w - left, modulo 2^32;
 * products outside the output are dropped.
 *
 * Layouts are those of conv2d, and so is the order of the weights. top, bottom, left and right are rows and columns removed from the output. out_height and out_width
 * include the output padding: out_height is (height - 1) * stride_h + (kernel_h - 1) * dilation_h + 1 - top - bottom, plus the rows of output padding.
 * A sum that no window reaches is 0.
 */
TIEBREAK_EXPORT int tiebreak_conv2d_transposed_i8_i8(const tiebreak_conv2d_params *params, const int8_t *input, const int8_t *weights, int32_t *out);
TIEBREAK_EXPORT int tiebreak_conv2d_transposed_u8_u8(const tiebreak_conv2d_params *params, const uint8_t *input, const uint8_t *weights, int32_t *out);

/*
 * pool: the average or the maximum of each window, in the scale and zero point of the output, clamped. The scheme defines which of the two, and the rounding.
 *
 * input is [batches][height][width][channels], out [batches][out_height][out_width][channels]. Padding is real 0 in an average, and ignored in a maximum. On each
 * side, padding is less than the window, so that every window has an element of the input.
 */
typedef struct {
    size_t batches, height, width, channels;
    size_t kernel_h, kernel_w, stride_h, stride_w;
    size_t top, bottom, left, right; /* rows and columns of padding */
    size_t out_height, out_width;
    int32_t count_padding; /* 1: the divisor of an average is the whole window; 0: the part of the window in the image */
    tiebreak_operand input;
    tiebreak_operand out; /* equal to input for the schemes tflite, tvm and max */
    int32_t min;          /* smallest result */
    int32_t max;          /* largest result */
} tiebreak_pool_params;

TIEBREAK_EXPORT int tiebreak_pool_i8(const tiebreak_pool_params *params, const int8_t *input, int8_t *out);
TIEBREAK_EXPORT int tiebreak_pool_u8(const tiebreak_pool_params *params, const uint8_t *input, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_pool_i16(const tiebreak_pool_params *params, const int16_t *input, int16_t *out);

/*
 * qconv2d: conv2d and requantize in one function: out is clamp(fpm(sum + bias[o]) + zero_point, min, max), where sum is the result of conv2d and o its
 * output channel. Sums, and sums with the bias, wrap, unless the scheme defines otherwise. ReLU is min = zero_point, and ReLU6 has the stored 6 as max.
 *
 * The types in the name are those of input, weights and out. In a depthwise convolution with a multiplier, output channel o belongs to input channel
 * o / (out_channels / channels).
 */
typedef struct {
    tiebreak_conv2d_params conv;
    const int32_t *multiplier; /* out_channels elements, Q0.31 */
    const int32_t *shift;      /* out_channels elements; positive: left */
    const int32_t *bias;       /* out_channels elements, added to the sums */
    int32_t zero_point;        /* zero point of the output */
    int32_t min;               /* smallest result */
    int32_t max;               /* largest result */
} tiebreak_qconv2d_params;

TIEBREAK_EXPORT int tiebreak_qconv2d_i8_i8_i8(const tiebreak_qconv2d_params *params, const int8_t *input, const int8_t *weights, int8_t *out);
TIEBREAK_EXPORT int tiebreak_qconv2d_u8_u8_u8(const tiebreak_qconv2d_params *params, const uint8_t *input, const uint8_t *weights, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_qconv2d_u8_i8_u8(const tiebreak_qconv2d_params *params, const uint8_t *input, const int8_t *weights, uint8_t *out);

/* Transposed qconv2d: the sums are those of a transposed conv2d, and conv has its parameters. */
TIEBREAK_EXPORT int tiebreak_qconv2d_transposed_i8_i8_i8(const tiebreak_qconv2d_params *params, const int8_t *input, const int8_t *weights, int8_t *out);
TIEBREAK_EXPORT int tiebreak_qconv2d_transposed_u8_u8_u8(const tiebreak_qconv2d_params *params, const uint8_t *input, const uint8_t *weights, uint8_t *out);

/*
 * concat: the inputs in order along an axis, each rescaled from its own scale and zero point to those of the output, and clamped to the type. The scheme
 * defines the rounding.
 *
 * inputs has all inputs one after another in memory, each row-major: input t has the sizes of out, and sizes[t] along the axis.
 */
typedef struct {
    size_t rank;               /* axes of each tensor */
    size_t axis;               /* counted from the first, which is 0 */
    size_t inputs;             /* number of inputs */
    const size_t *shape;       /* rank elements: sizes of out */
    const size_t *sizes;       /* one element for each input; their sum is shape[axis] */
    const float *scale;        /* one element for each input */
    const int32_t *zero_point; /* one element for each input */
    tiebreak_operand out;
} tiebreak_concat_params;

TIEBREAK_EXPORT int tiebreak_concat_i8(const tiebreak_concat_params *params, const int8_t *inputs, int8_t *out);
TIEBREAK_EXPORT int tiebreak_concat_u8(const tiebreak_concat_params *params, const uint8_t *inputs, uint8_t *out);

/*
 * softmax: for each row, e^(d * step) divided by its sum over the row, where d is an element minus the largest element of its row, and step is
 * multiplier * 2^(left_shift - 57). Results are in steps of 2^-8 for 8 bits and of 2^-16 for 16 bits, starting at the smallest value of the type.
 *
 * input and out are [rows][depth]. The types in the name are those of input and of out.
 */
typedef struct {
    size_t rows;
    size_t depth;
    int32_t multiplier; /* Q0.31, at least 2^30 */
    int32_t left_shift; /* 0 to 30 */
    int32_t diff_min;   /* in composed schemes, the exponential is 0 for a smaller d */
} tiebreak_softmax_params;

TIEBREAK_EXPORT int tiebreak_softmax_i8_i8(const tiebreak_softmax_params *params, const int8_t *input, int8_t *out);
TIEBREAK_EXPORT int tiebreak_softmax_u8_u8(const tiebreak_softmax_params *params, const uint8_t *input, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_softmax_i8_i16(const tiebreak_softmax_params *params, const int8_t *input, int16_t *out);

#ifdef __cplusplus
}
#endif

#endif
