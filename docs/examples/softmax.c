/* The softmax of int8 in fixed point, as in TFLite: e^d by a polynomial and a product of powers, and the reciprocal of their sum by Newton's method. */
#include "tiebreak.h"

TIEBREAK_LIBRARY

/* High half of 2ab, rounded to nearest; the one product that does not fit saturates. */
static int32_t mul(int32_t a, int32_t b) {
    if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
    int64_t product = (int64_t)a * b;
    return (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) / ((int64_t)1 << 31));
}

/* x / 2^exponent, rounded to nearest, ties away from zero. */
static int32_t divide(int32_t x, int exponent) {
    int32_t mask = (int32_t)(((int64_t)1 << exponent) - 1);
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0));
}

/* x * 2^exponent, saturated. */
static int32_t multiply(int32_t x, int exponent) {
    int64_t result = (int64_t)x * ((int64_t)1 << exponent);
    return (int32_t)(result > INT32_MAX ? INT32_MAX : result < INT32_MIN ? INT32_MIN : result);
}

/* e^x for x <= 0 with five integer bits. */
static int32_t exponential(int32_t x) {
    static const int32_t factors[] = { 1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242 };
    const int32_t quarter = 1 << 24, at_eighth = 1895147668, third = 715827883;
    if (x == 0) return INT32_MAX;
    int32_t rest = (x & (quarter - 1)) - quarter, remainder = rest - x;
    int32_t a = rest * 32 + (1 << 28), a2 = mul(a, a), a3 = mul(a2, a), a4 = mul(a2, a2);
    int32_t inner = divide(mul(divide(a4, 2) + a3, third) + a2, 1);
    int32_t result = at_eighth + mul(at_eighth, a + inner);
    for (int bit = 0; bit < 7; bit++)
        if (remainder & (quarter << bit)) result = mul(result, factors[bit]);
    return result;
}

/* 1 / (1 + a) for a in [0, 1). */
static int32_t reciprocal(int32_t a) {
    int32_t half = (int32_t)(((int64_t)a + INT32_MAX + 1) / 2);
    int32_t x = 1515870810 + mul(half, -1010580540);
    for (int step = 0; step < 3; step++) x += multiply(mul(x, (1 << 29) - mul(half, x)), 2);
    return multiply(x, 1);
}

static int32_t exponential_of(const tiebreak_softmax_params *p, int32_t difference) {
    return exponential(mul((int32_t)((uint32_t)difference << p->left_shift), p->multiplier));
}

int tiebreak_softmax_i8_i8(const tiebreak_softmax_params *p, const int8_t *input, int8_t *out) {
    for (size_t row = 0; row < p->rows; row++, input += p->depth, out += p->depth) {
        int32_t largest = -128, sum = 0;
        for (size_t i = 0; i < p->depth; i++) largest = input[i] > largest ? input[i] : largest;
        for (size_t i = 0; i < p->depth; i++)
            if (input[i] - largest >= p->diff_min) sum += divide(exponential_of(p, input[i] - largest), 12);
        int headroom = 0;
        while (headroom < 31 && ((uint32_t)sum << headroom) >> 31 == 0) headroom++;
        int32_t scale = reciprocal((int32_t)(((uint32_t)sum << headroom) - ((uint32_t)1 << 31)));
        for (size_t i = 0; i < p->depth; i++) {
            int32_t result = -128;
            if (input[i] - largest >= p->diff_min)
                result += divide(mul(scale, exponential_of(p, input[i] - largest)), 12 - headroom + 31 - 8);
            out[i] = (int8_t)(result > 127 ? 127 : result < -128 ? -128 : result);
        }
    }
    return TIEBREAK_OK;
}
