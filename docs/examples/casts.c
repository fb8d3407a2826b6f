/* Casts between float and int8 as in TFLite, sums and products of int8 as in PyTorch, and differences of int8 as in ONNX. */
#include "tiebreak.h"
#include <math.h>

TIEBREAK_LIBRARY

static int8_t clamped(double value, int32_t min, int32_t max) {
    return (int8_t)(value < min ? min : value > max ? max : value);
}

int tiebreak_quantize_f32_i8(const tiebreak_cast_params *p, const float *real, int8_t *out) {
    for (size_t i = 0; i < p->len; i++) {
        size_t channel = i / p->inner % p->channels;
        float scaled = roundf(real[i] / (float)p->scale[channel]);
        out[i] = clamped((double)scaled + p->zero_point[channel], p->min, p->max);
    }
    return TIEBREAK_OK;
}

int tiebreak_dequantize_i8_f32(const tiebreak_cast_params *p, const int8_t *stored, float *out) {
    for (size_t i = 0; i < p->len; i++) {
        size_t channel = i / p->inner % p->channels;
        out[i] = (float)((double)(float)p->scale[channel] * (stored[i] - p->zero_point[channel]));
    }
    return TIEBREAK_OK;
}

int tiebreak_add_i8(const tiebreak_elementwise_params *p, const int8_t *lhs, const int8_t *rhs, int8_t *out) {
    float inverse = 1.0f / p->out.scale;
    for (size_t i = 0; i < p->len; i++) {
        float left = (float)(lhs[i] - p->lhs.zero_point) * p->lhs.scale;
        float right = (float)(rhs[i] - p->rhs.zero_point) * p->rhs.scale;
        float sum = left + right;
        out[i] = clamped((double)nearbyintf(sum * inverse) + p->out.zero_point, p->min, p->max);
    }
    return TIEBREAK_OK;
}

int tiebreak_sub_i8(const tiebreak_elementwise_params *p, const int8_t *lhs, const int8_t *rhs, int8_t *out) {
    for (size_t i = 0; i < p->len; i++) {
        float left = (float)(lhs[i] - p->lhs.zero_point) * p->lhs.scale;
        float right = (float)(rhs[i] - p->rhs.zero_point) * p->rhs.scale;
        float difference = left - right;
        out[i] = clamped((double)nearbyintf(difference / p->out.scale) + p->out.zero_point, p->min, p->max);
    }
    return TIEBREAK_OK;
}

int tiebreak_mul_i8(const tiebreak_elementwise_params *p, const int8_t *lhs, const int8_t *rhs, int8_t *out) {
    float inverse = 1.0f / p->out.scale;
    float multiplier = p->lhs.scale * p->rhs.scale * inverse;
    for (size_t i = 0; i < p->len; i++) {
        float product = (float)((lhs[i] - p->lhs.zero_point) * (rhs[i] - p->rhs.zero_point));
        out[i] = clamped((double)nearbyintf(product * multiplier) + p->out.zero_point, p->min, p->max);
    }
    return TIEBREAK_OK;
}
