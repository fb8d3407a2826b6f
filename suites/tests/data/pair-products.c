/* Sums of products of int16, two adjacent ones at a time, in three forms that mean the same: FORM is 1, 2 or 3. */
#include "tiebreak.h"
#include <string.h>

TIEBREAK_LIBRARY

#define LANES 8
typedef int16_t halves __attribute__((vector_size(4 * LANES)));
typedef int16_t pairs __attribute__((vector_size(2 * LANES)));
typedef int32_t words __attribute__((vector_size(4 * LANES)));
typedef uint32_t sums __attribute__((vector_size(4 * LANES)));

/* out[i] is a[2i] * b[2i] + a[2i+1] * b[2i+1], modulo 2^32. */
__attribute__((noinline)) void products(const int16_t *a, const int16_t *b, uint32_t *out) {
#if FORM == 1 /* the loop */
    for (int i = 0; i < LANES; i++)
        out[i] = (uint32_t)(a[2 * i] * b[2 * i]) + (uint32_t)(a[2 * i + 1] * b[2 * i + 1]);
#elif FORM == 2 /* elements loaded one by one into vectors */
    const words a0 = {a[0], a[2], a[4], a[6], a[8], a[10], a[12], a[14]};
    const words b0 = {b[0], b[2], b[4], b[6], b[8], b[10], b[12], b[14]};
    const words a1 = {a[1], a[3], a[5], a[7], a[9], a[11], a[13], a[15]};
    const words b1 = {b[1], b[3], b[5], b[7], b[9], b[11], b[13], b[15]};
    const sums all = (sums)(a0 * b0) + (sums)(a1 * b1);
    memcpy(out, &all, sizeof all);
#else /* whole vectors, and shuffles */
    halves x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
#define EVEN(v) __builtin_convertvector(__builtin_shufflevector(v, v, 0, 2, 4, 6, 8, 10, 12, 14), words)
#define ODD(v) __builtin_convertvector(__builtin_shufflevector(v, v, 1, 3, 5, 7, 9, 11, 13, 15), words)
    const sums all = (sums)(EVEN(x) * EVEN(y)) + (sums)(ODD(x) * ODD(y));
    memcpy(out, &all, sizeof all);
#endif
}

static uint32_t dot(const tiebreak_matmul_params *p, const int16_t *row, const int16_t *rhs, size_t column) {
    uint32_t sum = 0, out[LANES];
    for (size_t l = 0; l < p->k; l += 2 * LANES) {
        int16_t a[2 * LANES] = {0}, b[2 * LANES] = {0};
        for (size_t i = 0; i < 2 * LANES && l + i < p->k; i++) {
            a[i] = row[l + i];
            b[i] = rhs[(l + i) * p->n + column];
        }
        products(a, b, out);
        for (int i = 0; i < LANES; i++) sum += out[i];
    }
    return sum;
}

int tiebreak_matmul_i16_i16(const tiebreak_matmul_params *p, const int16_t *lhs, const int16_t *rhs, int32_t *out) {
    if (p->lhs_offset != 0 || p->rhs_offset != 0) return TIEBREAK_OUTSIDE_DOMAIN;
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) out[i * p->n + j] = (int32_t)dot(p, lhs + i * p->k, rhs, j);
    return TIEBREAK_OK;
}
