/* Transposed convolutions of one group: each element of the input adds to a window of the output. */
#include "tiebreak.h"

TIEBREAK_LIBRARY

/* Sum for row y, column x and channel o of the output of an image, over the elements whose window contains this place. */
static uint32_t sum_at(const tiebreak_conv2d_params *p, const int8_t *image, const int8_t *weights, size_t y, size_t x, size_t o) {
    uint32_t sum = 0;
    for (size_t i = 0; i < p->kernel_h; i++)
    for (size_t j = 0; j < p->kernel_w; j++) {
        size_t row = y + p->top, column = x + p->left;
        if (row < i * p->dilation_h || column < j * p->dilation_w) continue;
        row -= i * p->dilation_h, column -= j * p->dilation_w;
        if (row % p->stride_h || column % p->stride_w) continue;
        row /= p->stride_h, column /= p->stride_w;
        if (row >= p->height || column >= p->width) continue;
        for (size_t c = 0; c < p->channels; c++) {
            int64_t value = (int64_t)image[(row * p->width + column) * p->channels + c] - p->input_zero_point;
            int64_t weight = (int64_t)weights[((i * p->kernel_w + j) * p->channels + c) * p->out_channels + o] - p->weight_zero_point;
            sum += (uint32_t)value * (uint32_t)weight;
        }
    }
    return sum;
}

/* Exact sums. */
int tiebreak_conv2d_transposed_i8_i8(const tiebreak_conv2d_params *p, const int8_t *input, const int8_t *weights, int32_t *out) {
    if (p->groups != 1) return TIEBREAK_OUTSIDE_DOMAIN;
    for (size_t b = 0; b < p->batches; b++, input += p->height * p->width * p->channels)
    for (size_t y = 0; y < p->out_height; y++)
    for (size_t x = 0; x < p->out_width; x++)
    for (size_t o = 0; o < p->out_channels; o++)
        *out++ = (int32_t)sum_at(p, input, weights, y, x, o);
    return TIEBREAK_OK;
}

/* Transposed convolution with a requantization that rounds once, ties up. Left shifts are outside its domain. */
int tiebreak_qconv2d_transposed_i8_i8_i8(const tiebreak_qconv2d_params *p, const int8_t *input, const int8_t *weights, int8_t *out) {
    const tiebreak_conv2d_params *c = &p->conv;
    if (c->groups != 1) return TIEBREAK_OUTSIDE_DOMAIN;
    for (size_t o = 0; o < c->out_channels; o++)
        if (p->shift[o] > 0) return TIEBREAK_OUTSIDE_DOMAIN;
    for (size_t b = 0; b < c->batches; b++, input += c->height * c->width * c->channels)
    for (size_t y = 0; y < c->out_height; y++)
    for (size_t x = 0; x < c->out_width; x++)
    for (size_t o = 0; o < c->out_channels; o++) {
        int32_t sum = (int32_t)(sum_at(c, input, weights, y, x, o) + (uint32_t)p->bias[o]);
        int right = 31 - p->shift[o];
        int64_t scaled = ((int64_t)sum * p->multiplier[o] + ((int64_t)1 << (right - 1))) >> right;
        int32_t result = (int32_t)((uint32_t)scaled + (uint32_t)p->zero_point);
        *out++ = (int8_t)(result < p->min ? p->min : result > p->max ? p->max : result);
    }
    return TIEBREAK_OK;
}
