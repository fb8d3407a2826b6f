// Functions for `tiebreak prove --c`: the arithmetic of libraries, written from formulas, and versions that are wrong on one or a few inputs.
#include <stdint.h>

static int32_t doubling_high_multiply(int32_t a, int32_t b) {
    if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
    int64_t product = (int64_t)a * b;
    int64_t nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
    return (int32_t)((product + nudge) / ((int64_t)1 << 31));
}

static int32_t divide_by_power_of_two(int32_t x, int exponent) {
    int32_t mask = (int32_t)(((int64_t)1 << exponent) - 1);
    int32_t threshold = (mask >> 1) + (x < 0);
    return (x >> exponent) + ((x & mask) > threshold);
}

// gemmlowp: two roundings.
int32_t twice(int32_t x, int32_t m, int32_t s) {
    int32_t left = s > 0 ? s : 0, right = s > 0 ? 0 : -s;
    return divide_by_power_of_two(doubling_high_multiply((int32_t)((uint32_t)x << left), m), right);
}

// TVM: one rounding, half up.
int32_t once(int32_t x, int32_t m, int32_t s) {
    return (int32_t)(((int64_t)x * m + ((int64_t)1 << (30 - s))) >> (31 - s));
}

// One wrong input of 2^64.
int32_t wrong_once(int32_t x, int32_t m, int32_t s) {
    return once(x, m, s) + (x == 123456789 && m == 1395864371);
}

// Wrong for one multiplier.
int32_t wrong_multiplier(int32_t x, int32_t m, int32_t s) {
    return once(x, m, s) - (m == 1395864371 && x > 0);
}

// Wrong on one input of 2^20.
int32_t wrong_rarely(int32_t x, int32_t m, int32_t s) {
    uint32_t mixed = ((uint32_t)x * 2654435761u) ^ ((uint32_t)m * 2246822519u);
    return once(x, m, s) + (mixed >> 12 == 0x5A5A5);
}

// Wrong at ties whose quotient is odd: half to even.
int32_t wrong_ties(int32_t x, int32_t m, int32_t s) {
    int64_t product = (int64_t)x * m, half = (int64_t)1 << (30 - s), rest = product & (2 * half - 1);
    int32_t up = once(x, m, s);
    return up - (rest == half && (up & 1));
}

// A loop whose number of iterations depends on the input: it cannot be proved.
int32_t loop(int32_t x, int32_t m, int32_t s) {
    int32_t sum = s;
    while (x > 0) sum += m ^ sum, x -= 3 + (sum & 1);
    return sum;
}

// A shift by a negative amount: undefined for s above 30.
int32_t undefined(int32_t x, int32_t m, int32_t s) {
    return (int32_t)(((int64_t)x * m + ((int64_t)1 << (30 - s))) >> (31 - s));
}

static int32_t clamped(int32_t y) {
    return y < -128 ? -128 : y > 127 ? 127 : y;
}

// A requantization to int8: two roundings, zero point -3, clamp. For s <= 0.
int32_t requantize(int32_t x, int32_t m, int32_t s) {
    return clamped((int32_t)((uint32_t)twice(x, m, s) - 3u));
}

// The requantization, wrong for one multiplier.
int32_t requantize_wrong_multiplier(int32_t x, int32_t m, int32_t s) {
    int32_t y = (int32_t)((uint32_t)twice(x, m, s) - 3u);
    return clamped(m == 1395864371 && y == 5 ? 6 : y);
}

// The requantization, wrong on one input of 2^20.
int32_t requantize_wrong_rarely(int32_t x, int32_t m, int32_t s) {
    uint32_t mixed = ((uint32_t)x * 2654435761u) ^ ((uint32_t)m * 2246822519u);
    return clamped((int32_t)((uint32_t)twice(x, m, s) - 3u)) ^ (mixed >> 12 == 0x5A5A5);
}

// The requantization, with ties of odd quotients rounded to even in the second step.
int32_t requantize_wrong_ties(int32_t x, int32_t m, int32_t s) {
    int32_t high = doubling_high_multiply(x, m), half = s < 0 ? (int32_t)1 << (-s - 1) : 0;
    int32_t y = divide_by_power_of_two(high, -s);
    int tie = half && (high & (2 * half - 1)) == half && high > 0 && (y & 1);
    return clamped((int32_t)((uint32_t)y - (uint32_t)tie - 3u));
}

// One rounding, unless a product of two words is 2^61 - 1, a prime: solvers do not decide in a second that there is none, so that a proof runs out of time.
int32_t hard(int32_t x, int32_t m, int32_t s) {
    return once(x, m, s) + ((uint64_t)(uint32_t)x * (uint32_t)m == 2305843009213693951u);
}
