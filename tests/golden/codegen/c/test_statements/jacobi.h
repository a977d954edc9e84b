#ifndef JACOBI_H
#define JACOBI_H

#include <stdint.h>

#if defined(__cplusplus)
#define JACOBI_RESTRICT __restrict
extern "C" {
#else
#define JACOBI_RESTRICT restrict
#endif

/*
 * jacobi
 *
 *   T  int64_t
 *   N  int64_t, a size: at least 0
 *   A  double[N][N], written
 *   B  double[N][N], written
 *
 * Requires N - 2 >= 0.
 *
 * Arrays are row-major and contiguous; one that is written overlaps no other.
 * Compile with -std=c11 or -ffp-contract=off: no product may be fused with a sum.
 */
void jacobi(int64_t T, int64_t N, double *JACOBI_RESTRICT A, double *JACOBI_RESTRICT B);

#if defined(__cplusplus)
}
#endif
#undef JACOBI_RESTRICT

#endif /* JACOBI_H */
