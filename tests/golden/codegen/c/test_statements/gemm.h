#ifndef GEMM_H
#define GEMM_H

#include <stdint.h>

#if defined(__cplusplus)
#define GEMM_RESTRICT __restrict
extern "C" {
#else
#define GEMM_RESTRICT restrict
#endif

/*
 * gemm
 *
 *   M  int64_t, a size: at least 0
 *   N  int64_t, a size: at least 0
 *   K  int64_t, a size: at least 0
 *   A  float[M][K], read
 *   B  float[K][N], read
 *   C  float[M][N], written
 *
 * Arrays are row-major and contiguous; one that is written overlaps no other.
 * Compile with -std=c11 or -ffp-contract=off: no product may be fused with a sum.
 */
void gemm(int64_t M, int64_t N, int64_t K, const float *GEMM_RESTRICT A,
          const float *GEMM_RESTRICT B, float *GEMM_RESTRICT C);

#if defined(__cplusplus)
}
#endif
#undef GEMM_RESTRICT

#endif /* GEMM_H */
