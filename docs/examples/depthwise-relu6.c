/* A depthwise convolution of int8 with its requantization and activation in one function, rounded as in TFLite. ReLU6 is a clamp to the bounds min and max. */
#include "tiebreak.h"

TIEBREAK_LIBRARY

/* High half of 2ab, rounded to nearest; the one product that does not fit saturates. */
static int32_t doubling_high_mul(int32_t a, int32_t b) {
    if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
    int64_t product = (int64_t)a * b;
    return (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / ((int64_t)1 << 31));
}

/* x / 2^exponent, rounded to nearest, ties away from zero. */
static int32_t divide_by_power_of_two(int32_t x, int exponent) {
    int32_t mask = (int32_t)(((int64_t)1 << exponent) - 1);
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0));
}

int tiebreak_qconv2d_i8_i8_i8(const tiebreak_qconv2d_params *p, const int8_t *input, const int8_t *weights, int8_t *out) {
    const tiebreak_conv2d_params *c = &p->conv;
    if (c->groups != c->channels) return TIEBREAK_OUTSIDE_DOMAIN;
    size_t multiplier = c->out_channels / c->channels;
    for (size_t at = 0; at < c->batches * c->out_height * c->out_width * c->out_channels; at++) {
        size_t o = at % c->out_channels, pixel = at / c->out_channels;
        size_t x = pixel % c->out_width, y = pixel / c->out_width % c->out_height, b = pixel / c->out_width / c->out_height;
        size_t channel = o / multiplier;
        uint32_t sum = 0;
        for (size_t i = 0; i < c->kernel_h; i++)
        for (size_t j = 0; j < c->kernel_w; j++) {
            size_t row = y * c->stride_h + i * c->dilation_h, column = x * c->stride_w + j * c->dilation_w;
            /* Padding has the value of the zero point and adds nothing to the sum. */
            if (row < c->top || row >= c->top + c->height || column < c->left || column >= c->left + c->width) continue;
            size_t from = ((b * c->height + row - c->top) * c->width + column - c->left) * c->channels + channel;
            sum += (uint32_t)((input[from] - c->input_zero_point) * weights[(i * c->kernel_w + j) * c->out_channels + o]);
        }
        int left = p->shift[o] > 0 ? p->shift[o] : 0, right = p->shift[o] > 0 ? 0 : -p->shift[o];
        sum += (uint32_t)p->bias[o];
        int32_t scaled = divide_by_power_of_two(doubling_high_mul((int32_t)(sum << left), p->multiplier[o]), right);
        int64_t result = (int64_t)scaled + p->zero_point;
        if (result < p->min) result = p->min;
        if (result > p->max) result = p->max;
        out[at] = (int8_t)result;
    }
    return TIEBREAK_OK;
}
