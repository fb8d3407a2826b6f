/* Requantization of int32 sums to int8, as in TFLite: double rounding. */
#include "tiebreak.h"

TIEBREAK_LIBRARY

/* High half of 2ab, rounded to nearest; the one product that does not fit saturates. */
static int32_t doubling_high_mul(int32_t a, int32_t b) {
    if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
    int64_t product = (int64_t)a * b;
    int64_t nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
    return (int32_t)((product + nudge) / ((int64_t)1 << 31));
}

/* x / 2^exponent, rounded to nearest, ties away from zero. */
static int32_t divide_by_power_of_two(int32_t x, int exponent) {
    int32_t mask = (int32_t)(((int64_t)1 << exponent) - 1);
    int32_t threshold = (mask >> 1) + (x < 0);
    return (x >> exponent) + ((x & mask) > threshold);
}

int tiebreak_requantize_i8(const tiebreak_requantize_params *p, const int32_t *acc, int8_t *out) {
    for (size_t i = 0; i < p->len; i++) {
        size_t channel = i % p->channels;
        int left = p->shift[channel] > 0 ? p->shift[channel] : 0;
        int right = p->shift[channel] > 0 ? 0 : -p->shift[channel];
        uint32_t sum = (uint32_t)acc[i] + (uint32_t)p->bias[channel];
        int32_t scaled = doubling_high_mul((int32_t)(sum << left), p->multiplier[channel]);
        int64_t result = (int64_t)divide_by_power_of_two(scaled, right) + p->zero_point;
        if (result < p->min) result = p->min;
        if (result > p->max) result = p->max;
        out[i] = (int8_t)result;
    }
    return TIEBREAK_OK;
}
