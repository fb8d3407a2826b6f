/* A depthwise convolution of int8: one filter for each channel. Other convolutions are outside its domain. */
#include "tiebreak.h"

TIEBREAK_LIBRARY

int tiebreak_conv2d_i8_i8(const tiebreak_conv2d_params *p, const int8_t *input, const int8_t *weights, int32_t *out) {
    if (p->groups != p->channels || p->out_channels != p->channels) return TIEBREAK_OUTSIDE_DOMAIN;
    for (size_t b = 0; b < p->batches; b++)
    for (size_t y = 0; y < p->out_height; y++)
    for (size_t x = 0; x < p->out_width; x++)
    for (size_t c = 0; c < p->channels; c++) {
        uint32_t sum = 0;
        for (size_t i = 0; i < p->kernel_h; i++)
        for (size_t j = 0; j < p->kernel_w; j++) {
            size_t row = y * p->stride_h + i * p->dilation_h, column = x * p->stride_w + j * p->dilation_w;
            /* Padding has the value of the zero point and adds nothing to the sum. */
            if (row < p->top || row >= p->top + p->height || column < p->left || column >= p->left + p->width) continue;
            size_t pixel = (b * p->height + row - p->top) * p->width + column - p->left;
            int32_t value = input[pixel * p->channels + c] - p->input_zero_point;
            int64_t weight = (int64_t)weights[(i * p->kernel_w + j) * p->channels + c] - p->weight_zero_point;
            sum += (uint32_t)(value * weight);
        }
        out[((b * p->out_height + y) * p->out_width + x) * p->channels + c] = (int32_t)sum;
    }
    return TIEBREAK_OK;
}
