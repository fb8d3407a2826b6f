/* A fully connected layer of int8 by int4 with its bias, requantization and activation in one function, rounded as in TFLite. */
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

/* Element of a tensor of int4: two to a byte, the first in the low half. */
static int32_t half(const uint8_t *packed, size_t at) {
    int32_t bits = at % 2 ? packed[at / 2] >> 4 : packed[at / 2] & 15;
    return bits > 7 ? bits - 16 : bits;
}

int tiebreak_qmatmul_i8_i4_i8(const tiebreak_qmatmul_params *p, const int8_t *lhs, const uint8_t *rhs, int8_t *out) {
    const tiebreak_matmul_params *s = &p->product;
    for (size_t i = 0; i < s->m; i++)
    for (size_t j = 0; j < s->n; j++) {
        uint32_t sum = (uint32_t)p->bias[j];
        for (size_t l = 0; l < s->k; l++) {
            int32_t weight = half(rhs, l * s->n + j);
            int64_t value = (int64_t)lhs[i * s->k + l] + s->lhs_offset;
            sum += (uint32_t)value * ((uint32_t)weight + (uint32_t)s->rhs_offset);
        }
        int left = p->shift[j] > 0 ? p->shift[j] : 0, right = p->shift[j] > 0 ? 0 : -p->shift[j];
        int32_t scaled = divide_by_power_of_two(doubling_high_mul((int32_t)(sum << left), p->multiplier[j]), right);
        int32_t result = (int32_t)((uint32_t)scaled + (uint32_t)p->zero_point);
        out[i * s->n + j] = (int8_t)(result < p->min ? p->min : result > p->max ? p->max : result);
    }
    return TIEBREAK_OK;
}
