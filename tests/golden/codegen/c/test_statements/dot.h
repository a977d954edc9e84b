#ifndef DOT_H
#define DOT_H

#include <stdint.h>

#if defined(__cplusplus)
#define DOT_RESTRICT __restrict
extern "C" {
#else
#define DOT_RESTRICT restrict
#endif

/*
 * dot
 *
 *   N        int64_t, a size: at least 0
 *   x        double[N], read
 *   y        double[N], read
 *   returns  double
 *
 * Arrays are row-major and contiguous; one that is written overlaps no other.
 * Compile with -std=c11 or -ffp-contract=off: no product may be fused with a sum.
 */
double dot(int64_t N, const double *DOT_RESTRICT x, const double *DOT_RESTRICT y);

#if defined(__cplusplus)
}
#endif
#undef DOT_RESTRICT

#endif /* DOT_H */
