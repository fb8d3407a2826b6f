// A matrix product of int8 with offsets: blocks of four rows of rhs at a time, then the rest.
#include "tiebreak.h"

TIEBREAK_LIBRARY

static int32_t wrapped(int64_t value) { return static_cast<int32_t>(static_cast<uint64_t>(value)); }

extern "C" int tiebreak_matmul_i8_i8(const tiebreak_matmul_params *p, const int8_t *lhs, const int8_t *rhs,
                                     int32_t *out) {
    // Only offsets of int8 zero points are supported, so that the sums fit 64 bits.
    const auto small = [](int32_t offset) { return offset >= -128 && offset <= 128; };
    if (!small(p->lhs_offset) || !small(p->rhs_offset)) return TIEBREAK_OUTSIDE_DOMAIN;
    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < p->n; j++) {
            const auto product = [&](size_t l) {
                return int64_t{lhs[i * p->k + l] + p->lhs_offset} * (rhs[l * p->n + j] + p->rhs_offset);
            };
            int64_t sum = 0;
            size_t l = 0;
            for (; l + 4 <= p->k; l += 4) sum += product(l) + product(l + 1) + product(l + 2) + product(l + 3);
            for (; l < p->k; l++) sum += product(l);
            out[i * p->n + j] = wrapped(sum);
        }
    }
    return TIEBREAK_OK;
}
