/*
 * tiebreak.h: kernels of a shared library, judged by Tiebreak.
 *
 * A library that exports some of the functions below is judged by
 *
 *     tiebreak verify --library ./libmine.so --op requantize --scheme gemmlowp-double
 *
 * Define exactly one TIEBREAK_LIBRARY in the library, and any of the functions. This header is C11 and C++11.
 *
 * Every function returns TIEBREAK_OK and all of its results, or one of the other codes and no results. Arrays do not overlap. They are aligned to their
 * elements, and to nothing more. A function may read and write its arrays alone, keeps its inputs as they are, and leaves the floating-point mode as it was.
 * The same inputs give the same results in every call.
 */
#ifndef TIEBREAK_H
#define TIEBREAK_H

#include <stddef.h>
#include <stdint.h>

/* Version of this interface. */
#define TIEBREAK_ABI 1

/* All results were written. */
#define TIEBREAK_OK 0
/* The kernel is not meant for these parameters: the case is counted, and is neither a failure nor a pass. */
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

/* The version that a library was compiled with. TIEBREAK_LIBRARY defines it. */
TIEBREAK_EXPORT int32_t tiebreak_abi(void);

#ifdef __cplusplus
#define TIEBREAK_LIBRARY                                                                                               \
    extern "C" int32_t tiebreak_abi(void) { return TIEBREAK_ABI; }
#else
#define TIEBREAK_LIBRARY                                                                                               \
    int32_t tiebreak_abi(void) { return TIEBREAK_ABI; }
#endif

/*
 * fpm: fixed point multiply. out[i] is x[i] * multiplier * 2^(shift - q), rounded as the scheme says.
 *
 * Element i is of channel i % channels (the channel is the last axis). channels is 1 for a multiply per tensor.
 */
typedef struct {
    size_t len;                /* elements of x and of out */
    size_t channels;           /* elements of multiplier and of shift */
    const int32_t *multiplier; /* fixed point, q fractional bits */
    const int32_t *shift;      /* positive: left */
    uint32_t q;                /* 31, unless the domain says otherwise */
} tiebreak_fpm_params;

TIEBREAK_EXPORT int tiebreak_fpm(const tiebreak_fpm_params *params, const int32_t *x, int32_t *out);

/*
 * requantize: out[i] is clamp(fpm(acc[i] + bias) + zero_point, min, max).
 *
 * Element i is of channel i % channels. The sum of accumulator and bias wraps, unless the scheme says otherwise.
 */
typedef struct {
    size_t len;                /* elements of acc and of out */
    size_t channels;           /* elements of multiplier, of shift and of bias */
    const int32_t *multiplier; /* Q0.31; for the scheme legacy an integer */
    const int32_t *shift;      /* positive: left */
    const int32_t *bias;       /* added to the accumulators */
    int32_t zero_point;        /* of the output */
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
    size_t inner;              /* product of the sizes of the axes behind the channel's */
    const double *scale;       /* as the type states them; kernels round them to f32 */
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

/* add and mul: element by element, of two tensors with scales and zero points of their own. */
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
TIEBREAK_EXPORT int tiebreak_mul_i8(const tiebreak_elementwise_params *params, const int8_t *lhs, const int8_t *rhs, int8_t *out);
TIEBREAK_EXPORT int tiebreak_mul_u8(const tiebreak_elementwise_params *params, const uint8_t *lhs, const uint8_t *rhs, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_mul_i16(const tiebreak_elementwise_params *params, const int16_t *lhs, const int16_t *rhs, int16_t *out);

/*
 * matmul: out[i][j] is the sum over l of (lhs[i][l] + lhs_offset) * (rhs[l][j] + rhs_offset), modulo 2^32.
 *
 * All matrices are row-major: lhs [m][k], rhs [k][n], out [m][n]. An offset is minus the zero point.
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
 * conv2d: sums of (input - input_zero_point) * (weight - weight_zero_point), modulo 2^32. Padding has the value input_zero_point, so it adds nothing.
 *
 * input is [batches][height][width][channels], weights [kernel_h][kernel_w][channels / groups][out_channels],
 * out [batches][out_height][out_width][out_channels]. Channels of the input and of the output fall into groups in their order, each convolved alone;
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
 * pool: the average or the maximum of each window, in the scale and zero point of the output, clamped. The scheme says which of them, and how it is rounded.
 *
 * input is [batches][height][width][channels], out [batches][out_height][out_width][channels]. Padding is real 0 in an average, and left out of a maximum. On each
 * side it is less than the window, so that every window holds an element of the input.
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
 * output channel. Sums, and sums with the bias, wrap, unless the scheme says otherwise. ReLU is min = zero_point, and ReLU6 has the stored 6 as max.
 *
 * The types in the name are those of input, weights and out. In a depthwise convolution with a multiplier, output channel o is of input channel
 * o / (out_channels / channels).
 */
typedef struct {
    tiebreak_conv2d_params conv;
    const int32_t *multiplier; /* out_channels elements, Q0.31 */
    const int32_t *shift;      /* out_channels elements; positive: left */
    const int32_t *bias;       /* out_channels elements, added to the sums */
    int32_t zero_point;        /* of the output */
    int32_t min;               /* smallest result */
    int32_t max;               /* largest result */
} tiebreak_qconv2d_params;

TIEBREAK_EXPORT int tiebreak_qconv2d_i8_i8_i8(const tiebreak_qconv2d_params *params, const int8_t *input, const int8_t *weights, int8_t *out);
TIEBREAK_EXPORT int tiebreak_qconv2d_u8_u8_u8(const tiebreak_qconv2d_params *params, const uint8_t *input, const uint8_t *weights, uint8_t *out);
TIEBREAK_EXPORT int tiebreak_qconv2d_u8_i8_u8(const tiebreak_qconv2d_params *params, const uint8_t *input, const int8_t *weights, uint8_t *out);

#ifdef __cplusplus
}
#endif

#endif
