/* The average of each window of int8 as in TFLite: half the number of elements is added to the sum with the sign of the sum, and the result is divided by the number. */
#include "tiebreak.h"

TIEBREAK_LIBRARY

int tiebreak_pool_i8(const tiebreak_pool_params *p, const int8_t *input, int8_t *out) {
    if (p->count_padding) return TIEBREAK_OUTSIDE_DOMAIN;
    size_t results = p->batches * p->out_height * p->out_width * p->channels;
    for (size_t at = 0; at < results; at++) {
        size_t c = at % p->channels, x = at / p->channels % p->out_width;
        size_t y = at / p->channels / p->out_width % p->out_height, b = at / p->channels / p->out_width / p->out_height;
        int32_t sum = 0, count = 0;
        for (size_t i = 0; i < p->kernel_h; i++) {
            for (size_t j = 0; j < p->kernel_w; j++) {
                size_t row = y * p->stride_h + i, column = x * p->stride_w + j;
                if (row < p->top || row >= p->top + p->height) continue;
                if (column < p->left || column >= p->left + p->width) continue;
                size_t pixel = (b * p->height + row - p->top) * p->width + column - p->left;
                sum += input[pixel * p->channels + c];
                count++;
            }
        }
        int32_t average = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
        out[at] = (int8_t)(average < p->min ? p->min : average > p->max ? p->max : average);
    }
    return TIEBREAK_OK;
}
