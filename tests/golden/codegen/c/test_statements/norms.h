#ifndef NORMS_H
#define NORMS_H

#include <stdint.h>

#if defined(__cplusplus)
#define NORMS_RESTRICT __restrict
extern "C" {
#else
#define NORMS_RESTRICT restrict
#endif

/*
 * norms
 *
 *   M      int64_t, a size: at least 0
 *   N      int64_t, a size: at least 0
 *   A      double[M][N], read
 *   total  double, written
 *   count  int32_t, written
 *
 * Arrays are row-major and contiguous; one that is written overlaps no other.
 * Runs on the threads of OpenMP where compiled with -fopenmp; floats that a parallel
 * reduction adds or multiplies are then rounded in no fixed order.
 * Compile with -std=c11 or -ffp-contract=off: no product may be fused with a sum.
 */
void norms(int64_t M, int64_t N, const double *NORMS_RESTRICT A, double *NORMS_RESTRICT total,
           int32_t *NORMS_RESTRICT count);

#if defined(__cplusplus)
}
#endif
#undef NORMS_RESTRICT

#endif /* NORMS_H */
