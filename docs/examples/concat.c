/* A concatenation of uint8 along any axis, rescaled as in TFLite: in float, with ties away from zero. An input with the scale and zero point of the output is copied. */
#include "tiebreak.h"
#include <math.h>
#include <string.h>

TIEBREAK_LIBRARY

int tiebreak_concat_u8(const tiebreak_concat_params *p, const uint8_t *inputs, uint8_t *out) {
    size_t rows = 1, step = 1, from = 0;
    for (size_t axis = 0; axis < p->axis; axis++) rows *= p->shape[axis];
    for (size_t axis = p->axis + 1; axis < p->rank; axis++) step *= p->shape[axis];
    for (size_t t = 0; t < p->inputs; from += p->sizes[t++] * step) {
        size_t part = p->sizes[t] * step;
        float scale = p->scale[t] * (1.0f / p->out.scale), bias = -(float)p->zero_point[t] * scale;
        for (size_t row = 0; row < rows; row++, inputs += part) {
            uint8_t *to = out + row * p->shape[p->axis] * step + from;
            if (p->scale[t] == p->out.scale && p->zero_point[t] == p->out.zero_point) {
                memcpy(to, inputs, part);
                continue;
            }
            for (size_t i = 0; i < part; i++) {
                double value = (double)roundf(inputs[i] * scale + bias) + p->out.zero_point;
                to[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
    }
    return TIEBREAK_OK;
}
